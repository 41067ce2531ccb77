// The keeper of the validator's key: signs one request after another, and makes what it signed durable before
// anybody hears of it.

import { blockIdOfSignBytes } from '../machines/privval/canonical.ts';
import {
  judgeSigning,
  type LastSign,
  lastSignWords,
  type SignRequest,
  type SignVerdict,
  STEP_PROPOSE,
  stepOfVote,
} from '../machines/privval/last-sign.ts';
import { equalBytes } from '../protocol/bytes.ts';
import { addressOf } from '../protocol/keys.ts';
import { isRefusal, must, type Refusal, refuse, unreachable } from '../protocol/refusal.ts';
import { proposalSignBytes, voteExtensionSignBytes, voteSignBytes } from '../protocol/sign-bytes.ts';
import { type Address, EMPTY_BYTES, PRECOMMIT, type PublicKey, type Vote } from '../protocol/types.ts';
import { isNilBlockId } from '../protocol/validate.ts';
import { decodeWords, encodeWords } from '../protocol/words.ts';
import { type SignerMail, signerMail, type ValidatorMail } from './mail.ts';
import { type Effect, type Logic, NO_EFFECTS, tagAfter } from './turn.ts';

export interface SignerConfig {
  readonly chainId: string;
  readonly address: Address;
  readonly publicKey: PublicKey;
  /**
   * Non-nil precommits from this height on carry a signed extension, even an empty one; 0: only votes that
   * bring one.
   */
  readonly extensionsEnableHeight: bigint;
}

type Asked = Extract<SignerMail, { type: 'sign-vote' | 'sign-proposal' }>;

/** The request whose signatures we wait for. */
interface Pending {
  readonly asked: Asked;
  readonly request: SignRequest;
  readonly verdict: SignVerdict;
  /** The vote of a life before, where another one was asked for. */
  readonly isOfThen: boolean;
  readonly waitsFor: Map<number, 'vote' | 'extension'>;
  signature: Uint8Array;
  extensionSignature: Uint8Array;
}

export interface SignerState {
  last: LastSign | null;
  pending: Pending | null;
  queue: Asked[];
  tagNext: number;
  recordsSinceTrim: number;
}

/** How a refusal begins that says no more than that the key had no time. */
export const BUSY_KEY = 'the key is still busy';
/**
 * Of earlier heights only the last record counts; the few before it are there for people. Of the height under way all stay: who has lost its own log
 * knows from them what it is locked on.
 */
const RECORDS_KEPT = 16;
const RECORDS_BETWEEN_TRIMS = 1024;

export function signerLogic(config: SignerConfig): Logic<SignerState, SignerMail> {
  must(
    equalBytes(addressOf(config.publicKey), config.address),
    "the signer's address is not that of its key",
  );
  return {
    name: 'signer',
    words: signerMail,
    reads: { logs: ['privval'], stores: [] },
    start: (boot) => {
      const records = boot.logs[0] ?? unreachable('the boot holds what this actor reads');
      const state: SignerState = {
        last: lastOf(records),
        pending: null,
        queue: [],
        tagNext: 1,
        recordsSinceTrim: records.length,
      };
      return { state, effects: NO_EFFECTS };
    },
    receive: (state, message) => {
      switch (message.type) {
        case 'sign-vote':
        case 'sign-proposal':
          if (!state.pending) {
            state.queue.push(message);
            return serveQueue(config, state);
          }
          return waitsInPlace(state, message);
        case 'signature':
          return onSignature(config, state, message.tag, message.signature);
        default:
          return unreachable(`signer asked for no ${message.type}`);
      }
    },
    look: ({ last, pending }) => ({
      last: last && { height: last.height, round: last.round, step: last.step },
      isSigning: pending !== null,
    }),
  };
}

function lastOf(records: readonly Uint8Array[]): LastSign | null {
  const record = records.at(-1);
  if (!record) return null;
  return (
    decodeWords(lastSignWords, record) ?? unreachable('the log privval ends with bytes that are no record')
  );
}

/**
 * Behind the one that is being signed waits what is asked of one round, the latest. A key may take longer than a round or a height (in a device,
 * behind a network); were it to sign all that was ever asked, it would be further behind with each height, and its memory would grow.
 */
function waitsInPlace(state: SignerState, asked: Asked): Effect[] {
  const { height, round } = placeOf(asked);
  const effects: Effect[] = [];
  state.queue = state.queue.filter((waiting) => {
    const place = placeOf(waiting);
    if (place.height > height || (place.height === height && place.round >= round)) return true;
    const because = `${BUSY_KEY}, and ${height}/${round} has begun`;
    tellValidator(effects, { type: 'sign-refused', ...place, because });
    return false;
  });
  state.queue.push(asked);
  return effects;
}

function placeOf(asked: Asked): Pick<SignRequest, 'height' | 'round' | 'step'> {
  if (asked.type === 'sign-proposal')
    return { height: asked.proposal.height, round: asked.proposal.round, step: STEP_PROPOSE };
  return { height: asked.vote.height, round: asked.vote.round, step: stepOfVote(asked.vote) };
}

/** Takes requests until one has to wait for the key. */
function serveQueue(config: SignerConfig, state: SignerState): Effect[] {
  const effects: Effect[] = [];
  while (!state.pending) {
    const asked = state.queue.shift();
    if (!asked) break;
    serve(config, state, asked, effects);
  }
  return effects;
}

function serve(config: SignerConfig, state: SignerState, wanted: Asked, effects: Effect[]): void {
  const then = voteOfThen(config, state.last, wanted);
  const asked: Asked = then ? { type: 'sign-vote', vote: then } : wanted;
  const request = requestOf(config, asked);
  const verdict = extensionRefusal(asked) ?? judgeSigning(state.last, request);
  if (isRefusal(verdict)) {
    const { height, round, step } = request;
    tellValidator(effects, { type: 'sign-refused', height, round, step, because: verdict.because });
    return;
  }
  const waitsFor = new Map<number, 'vote' | 'extension'>();
  const ask = (what: 'vote' | 'extension', bytes: Uint8Array): void => {
    const tag = state.tagNext;
    state.tagNext = tagAfter(tag);
    waitsFor.set(tag, what);
    effects.push({ type: 'sign', bytes, tag });
  };
  const signature = verdict.verdict === 'reuse' ? verdict.signature : EMPTY_BYTES;
  const pending: Pending = {
    asked,
    request,
    verdict,
    isOfThen: then !== null,
    waitsFor,
    signature,
    extensionSignature: EMPTY_BYTES,
  };
  if (verdict.verdict === 'sign') ask('vote', verdict.signBytes);
  // Extensions may differ between two attempts, so they are signed again each time (FilePV.signVote).
  if (asked.type === 'sign-vote' && wantsExtension(config, asked.vote)) {
    ask('extension', voteExtensionSignBytes(config.chainId, asked.vote));
  }
  if (waitsFor.size > 0) state.pending = pending;
  else conclude(state, pending, effects);
}

/**
 * The vote that was signed where another one is asked for now: a life before had it signed and ended before its log knew. Nobody can get
 * another vote of this place any more, so that one is said (CometBFT says nothing, and waits for a round that may need this vote to end).
 * Null: nothing conflicts, or what was signed is no such vote of this chain.
 */
function voteOfThen(config: SignerConfig, last: LastSign | null, asked: Asked): Vote | null {
  if (!last || asked.type !== 'sign-vote' || asked.vote.height !== last.height) return null;
  const verdict = judgeSigning(last, requestOf(config, asked));
  if (!isRefusal(verdict) || verdict.refused !== 'conflicting-data') return null;
  const blockId = blockIdOfSignBytes(last.signBytes);
  if (!blockId) return null;
  const vote = { ...asked.vote, blockId };
  const then = isNilBlockId(blockId) ? { ...vote, extension: EMPTY_BYTES } : vote;
  const again = judgeSigning(last, requestOf(config, { type: 'sign-vote', vote: then }));
  return !isRefusal(again) && again.verdict === 'reuse' ? then : null;
}

function onSignature(config: SignerConfig, state: SignerState, tag: number, signature: Uint8Array): Effect[] {
  const { pending } = state;
  const what = pending?.waitsFor.get(tag);
  if (!pending || !what) return unreachable('a signature that nobody asked for');
  pending.waitsFor.delete(tag);
  if (what === 'vote') pending.signature = signature;
  else pending.extensionSignature = signature;
  if (pending.waitsFor.size > 0) return [];
  const effects: Effect[] = [];
  state.pending = null;
  conclude(state, pending, effects);
  effects.push(...serveQueue(config, state));
  return effects;
}

/** Durable first, then known: a crash between the two makes us repeat ourselves, never contradict. */
function conclude(state: SignerState, pending: Pending, effects: Effect[]): void {
  const { asked, request, verdict, isOfThen, signature, extensionSignature } = pending;
  if (verdict.verdict === 'sign') {
    const { height, round, step } = request;
    const isNewHeight = state.last !== null && height > state.last.height;
    state.last = { height, round, step, signBytes: verdict.signBytes, signature };
    effects.push({ type: 'append', log: 'privval', record: encodeWords(lastSignWords, state.last) });
    effects.push({ type: 'sync', log: 'privval' });
    state.recordsSinceTrim++;
    if (isNewHeight && state.recordsSinceTrim > RECORDS_BETWEEN_TRIMS) {
      state.recordsSinceTrim = RECORDS_KEPT;
      effects.push({ type: 'trim', log: 'privval', keep: RECORDS_KEPT });
    }
  }
  const timeNs = verdict.verdict === 'reuse' ? verdict.timeNs : request.timeNs;
  if (asked.type === 'sign-vote') {
    const vote: Vote = { ...asked.vote, timeNs, signature, extensionSignature };
    tellValidator(effects, { type: isOfThen ? 'signed-before' : 'signed-vote', vote });
  } else {
    tellValidator(effects, { type: 'signed-proposal', proposal: { ...asked.proposal, timeNs, signature } });
  }
}

function requestOf(config: SignerConfig, asked: Asked): SignRequest {
  const { chainId } = config;
  if (asked.type === 'sign-proposal') {
    const { proposal } = asked;
    const { height, round, timeNs } = proposal;
    const signBytesAt = (at: bigint): Uint8Array => proposalSignBytes(chainId, { ...proposal, timeNs: at });
    return { height, round, step: STEP_PROPOSE, timeNs, signBytesAt };
  }
  const { vote } = asked;
  must(equalBytes(vote.validatorAddress, config.address), 'asked to sign a vote of another validator');
  const { height, round, timeNs } = vote;
  const signBytesAt = (at: bigint): Uint8Array => voteSignBytes(chainId, { ...vote, timeNs: at });
  return { height, round, step: stepOfVote(vote), timeNs, signBytesAt };
}

const isExtendable = (vote: Vote): boolean => vote.type === PRECOMMIT && !isNilBlockId(vote.blockId);

const wantsExtension = ({ extensionsEnableHeight }: SignerConfig, vote: Vote): boolean =>
  isExtendable(vote) &&
  (vote.extension.length > 0 || (extensionsEnableHeight > 0n && vote.height >= extensionsEnableHeight));

function extensionRefusal(asked: Asked): Refusal | null {
  if (asked.type !== 'sign-vote' || asked.vote.extension.length === 0 || isExtendable(asked.vote))
    return null;
  return refuse('extension', 'unexpected vote extension - extensions are only allowed in non-nil precommits');
}

function tellValidator(effects: Effect[], message: ValidatorMail): void {
  effects.push({ type: 'tell', to: 'validator', message });
}
