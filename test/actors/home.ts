// A validator at home: its actor with a real signer, a disk, and an application and a pool of a few lines; the test is the network and the clock.

import { ed25519Sign, sha256, utf8Encode } from '#platform';
import type { SignerMail, ValidatorMail } from '../../actors/mail.ts';
import { type SignerState, signerLogic } from '../../actors/signer.ts';
import type { Effect, KeyValue, LocalMessage, NodeEvent, Payload, Which } from '../../actors/turn.ts';
import type { ValidatorState } from '../../actors/validator/state.ts';
import { validatorLogic } from '../../actors/validator/validator.ts';
import { payloadOf } from '../../actors/validator/words.ts';
import { PLAIN_RESULT } from '../../machines/apps/base.ts';
import type { ConsensusConfig } from '../../machines/consensus/config.ts';
import { DEFAULT_CONSENSUS } from '../../machines/consensus/config.ts';
import type { AbciRequest, AbciResponse, ResponseFinalizeBlock } from '../../protocol/abci.ts';
import { hexOf } from '../../protocol/bytes.ts';
import { headerHash } from '../../protocol/hashes.ts';
import type { ConsensusMessage } from '../../protocol/messages.ts';
import { PartSet } from '../../protocol/part-set.ts';
import { isRefusal, unreachable } from '../../protocol/refusal.ts';
import { makeBlock } from '../../protocol/rules/state.ts';
import { proposalSignBytes, voteSignBytes } from '../../protocol/sign-bytes.ts';
import { verifySignature } from '../../protocol/signatures.ts';
import {
  type Block,
  type BlockId,
  type Commit,
  EMPTY_BYTES,
  type Evidence,
  type Genesis,
  NIL_BLOCK_ID,
  PROPOSAL,
  type Vote,
} from '../../protocol/types.ts';
import { decodeConsensusMessage, encodeBlock } from '../../protocol/wire/index.ts';
import { CHAIN_ID, EMPTY_COMMIT, person } from '../protocol/rules/people.ts';
import { Driven } from './drive.ts';

/** What survives a crash. */
export interface Disk {
  consensus: Uint8Array[];
  privval: Uint8Array[];
  chain: Map<string, KeyValue>;
  app: FakeApp;
}

/** Remembers its height and a hash chained over all blocks; says what the test tells it to say. */
export class FakeApp {
  height = 0n;
  hash: Uint8Array = EMPTY_BYTES;
  /** Heights finalized in this life, for the test to look at. */
  asked: string[] = [];
  silent = new Set<AbciRequest['type']>();
  answers: Partial<Record<AbciRequest['type'], (request: AbciRequest) => AbciResponse>> = {};
  finalize: (height: bigint) => Partial<ResponseFinalizeBlock> = () => ({});
  private next: { height: bigint; hash: Uint8Array } | null = null;

  copy(): FakeApp {
    const copy = new FakeApp();
    copy.height = this.height;
    copy.hash = this.hash;
    copy.finalize = this.finalize;
    return copy;
  }

  answer(request: AbciRequest): AbciResponse | null {
    this.asked.push('height' in request.value ? `${request.type} ${request.value.height}` : request.type);
    if (this.silent.has(request.type)) return null;
    const own = this.answers[request.type];
    if (own) return own(request);
    switch (request.type) {
      case 'info':
        return {
          type: 'info',
          value: {
            data: '',
            version: '',
            appVersion: 0n,
            lastBlockHeight: this.height,
            lastBlockAppHash: this.hash,
          },
        };
      case 'init-chain':
        return { type: 'init-chain', value: { validators: [], appHash: EMPTY_BYTES } };
      case 'prepare-proposal':
        return { type: 'prepare-proposal', value: { txs: request.value.txs } };
      case 'process-proposal':
        return { type: 'process-proposal', value: { status: 1 } };
      case 'finalize-block': {
        const { height, hash } = request.value;
        const both = new Uint8Array(this.hash.length + hash.length);
        both.set(this.hash);
        both.set(hash, this.hash.length);
        const more = this.finalize(height);
        this.next = { height, hash: more.appHash ?? sha256(both) };
        const txResults = request.value.txs.map(() => PLAIN_RESULT);
        const value = { events: [], txResults, validatorUpdates: [], appHash: this.next.hash };
        return { type: 'finalize-block', value: { ...value, ...more } };
      }
      case 'commit':
        Object.assign(this, this.next ?? unreachable('finalized'));
        return { type: 'commit', value: { retainHeight: 0n } };
      default:
        return unreachable(`asked ${request.type}`);
    }
  }
}

export const newDisk = (): Disk => ({ consensus: [], privval: [], chain: new Map(), app: new FakeApp() });
/** The same content, to be changed on its own. */
export const copyDisk = (disk: Disk): Disk => ({
  consensus: [...disk.consensus],
  privval: [...disk.privval],
  chain: new Map(disk.chain),
  app: disk.app.copy(),
});

export interface HomeOptions {
  readonly genesis: Genesis;
  /** Which person we are. */
  readonly me: number;
  readonly disk?: Disk;
  readonly consensus?: Partial<ConsensusConfig>;
  readonly blocksync?: boolean;
  /** What its clock says when it starts. */
  readonly wallNs?: bigint;
  /** Called before each effect is carried out; true: the power goes. */
  readonly crash?: (effect: Effect, home: Home) => boolean;
}

const nameOfKey = (key: Uint8Array): string => hexOf(key);

/** The first word of a peer that stands at the beginning of this height. */
export const roundStepAt = (height: bigint) =>
  ({
    type: 'new-round-step',
    height,
    round: 0,
    step: 1,
    secondsSinceStart: 0n,
    lastCommitRound: height > 1n ? 0 : -1,
  }) as const;

export class Home {
  readonly disk: Disk;
  readonly validator: Driven<ValidatorState, ValidatorMail>;
  private readonly signer: Driven<SignerState, SignerMail>;
  readonly timers = new Map<string, bigint>();
  readonly sent: { readonly to: readonly string[]; readonly message: ConsensusMessage }[] = [];
  readonly events: NodeEvent[] = [];
  readonly scored: string[] = [];
  readonly told: { readonly to: string; readonly message: LocalMessage }[] = [];
  /** Tags of what the application is silent about. */
  readonly unanswered: number[] = [];
  txs: Uint8Array[] = [];
  /** The store takes its time: what is read waits here until the test lets it come. */
  held: (() => void)[] | null = null;
  isDown = false;
  private readonly mail: (() => void)[] = [];
  private readonly options: HomeOptions;

  constructor(options: HomeOptions) {
    this.options = options;
    this.disk = options.disk ?? newDisk();
    const key = person(options.me);
    this.signer = new Driven(
      signerLogic({
        chainId: CHAIN_ID,
        address: key.address,
        publicKey: key.publicKey,
        extensionsEnableHeight: 0n,
      }),
      { logs: [this.disk.privval], stores: [] },
    );
    const logic = validatorLogic({
      genesis: options.genesis,
      genesisText: '{}',
      key: { publicKey: key.publicKey, address: key.address },
      consensus: { ...DEFAULT_CONSENSUS, ...options.consensus },
      verify: verifySignature,
      blocksync: options.blocksync ?? false,
    });
    const stores = logic.reads.stores.map(({ from, to, last }) => this.range(from, to, last ?? 1e9, 'last'));
    this.validator = new Driven(
      logic,
      { logs: [[...this.disk.consensus], [...this.disk.privval]], stores },
      options.wallNs,
    );
    this.carryOut(this.validator.started);
    this.settle();
  }

  get state(): ValidatorState {
    return this.validator.state;
  }

  get halted(): string | null {
    const event = this.events.find((each) => each.type === 'halted');
    return event?.type === 'halted' ? event.what : null;
  }

  // --- what the test does ------------------------------------------------------------------------------------------------

  tell(message: ValidatorMail): void {
    this.mail.push(() => this.carryOut(this.validator.tell(message)));
    this.settle();
  }

  peerUp(peer: string, height = this.state.consensus.height): void {
    this.tell({ type: 'peer-up', peer });
    this.hear(peer, roundStepAt(height));
  }

  hear(peer: string, ...messages: readonly ConsensusMessage[]): void {
    const payloads: Payload[] = messages.map((message) => ({ ...payloadOf(message) }));
    this.tell({ type: 'heard', peer, payloads });
  }

  /** Fires the timer of this kind, at its time. */
  fire(kind: string): void {
    const [timer, dueNs] =
      [...this.timers].find(([id]) => id.split(' ')[0] === kind) ?? unreachable(`no ${kind} runs`);
    this.timers.delete(timer);
    if (dueNs > this.validator.monoNs) this.pass(dueNs - this.validator.monoNs);
    this.tell({ type: 'timer', timer });
  }

  /** What was read comes, in order. */
  release(): void {
    const { held } = this;
    this.held = null;
    this.mail.push(...(held ?? []));
    this.settle();
  }

  pass(ns: bigint): void {
    this.validator.monoNs += ns;
    this.validator.wallNs += ns;
  }

  /** Own votes and proposals that left, in order. */
  get said(): string[] {
    const said: string[] = [];
    for (const { message } of this.sent) {
      if (
        message.type === 'vote' &&
        hexOf(message.vote.validatorAddress) === hexOf(person(this.options.me).address)
      ) {
        const name =
          message.vote.blockId.hash.length === 0 ? 'nil' : hexOf(message.vote.blockId.hash).slice(0, 6);
        const step = message.vote.type === 1 ? 'prevote' : 'precommit';
        const word = `${step} ${message.vote.height}/${message.vote.round} ${name}`;
        if (!said.includes(word)) said.push(word);
      }
    }
    return said;
  }

  // --- the world ---------------------------------------------------------------------------------------------------------

  private settle(): void {
    for (let turns = 0; this.mail.length > 0 && !this.isDown; turns++) {
      if (turns > 10_000) unreachable('the house does not come to rest');
      this.mail.shift()?.();
    }
  }

  private range(from: Uint8Array, to: Uint8Array, limit: number, which: Which): KeyValue[] {
    const [a, b] = [nameOfKey(from), nameOfKey(to)];
    const pairs = [...this.disk.chain]
      .filter(([key]) => key >= a && (b === '' || key < b))
      .sort(([x], [y]) => (x < y ? -1 : 1))
      .map(([, pair]) => pair);
    return which === 'first' ? pairs.slice(0, limit) : pairs.slice(-limit);
  }

  private carryOut(effects: readonly Effect[]): void {
    for (const effect of effects) {
      if (this.isDown || this.options.crash?.(effect, this)) {
        this.isDown = true;
        return;
      }
      this.perform(effect);
    }
  }

  private perform(effect: Effect): void {
    const { disk } = this;
    switch (effect.type) {
      case 'append':
        disk[effect.log].push(effect.record);
        return;
      case 'trim':
        disk[effect.log].splice(0, disk[effect.log].length - effect.keep);
        return;
      case 'store':
        for (const { key, value, remove } of effect.writes) {
          if (remove) disk.chain.delete(nameOfKey(key));
          else disk.chain.set(nameOfKey(key), { key, value });
        }
        return;
      case 'load': {
        const found = this.range(effect.from, effect.to, effect.limit, effect.which);
        (this.held ?? this.mail).push(() =>
          this.carryOut(this.validator.tell({ type: 'loaded', tag: effect.tag, found })),
        );
        return;
      }
      case 'sign': {
        const signature = ed25519Sign(person(this.options.me).seed, effect.bytes);
        this.mail.push(() =>
          this.carryOut(this.signer.tell({ type: 'signature', tag: effect.tag, signature })),
        );
        return;
      }
      case 'send':
        for (const { channel, bytes } of effect.payloads) {
          if (channel === 0x38) continue;
          const message = decodeConsensusMessage(bytes);
          this.sent.push({
            to: effect.to,
            message: isRefusal(message) ? unreachable(message.because) : message,
          });
        }
        return;
      case 'tell':
        return this.deliver(effect.to, effect.message);
      case 'schedule':
        this.timers.set(effect.timer, this.validator.monoNs + effect.afterNs);
        return;
      case 'cancel':
        this.timers.delete(effect.timer);
        return;
      case 'publish':
        this.events.push(effect.event);
        return;
      case 'score':
        this.scored.push(effect.because);
        return;
      default:
    }
  }

  private deliver(to: string, message: LocalMessage): void {
    if (to === 'signer') this.mail.push(() => this.carryOut(this.signer.tell(message as SignerMail)));
    else if (to === 'validator')
      this.mail.push(() => this.carryOut(this.validator.tell(message as ValidatorMail)));
    else if (to === 'app') {
      const { tag, request } = message as unknown as { tag: number; request: AbciRequest };
      this.mail.push(() => {
        const response = this.disk.app.answer(request);
        if (response) this.tell({ type: 'answer', tag, response });
        else this.unanswered.push(tag);
      });
    } else if (to === 'mempool' && message.type === 'reap') {
      this.mail.push(() => this.tell({ type: 'reaped', txs: this.txs }));
    } else this.told.push({ to, message });
  }
}

// --- the others --------------------------------------------------------------------------------------------------------

/** A vote of a person, signed. */
export function signedVote(
  home: Home,
  who: number,
  type: number,
  round: number,
  blockId: BlockId | null,
  more: Partial<Vote> = {},
): Vote {
  const { consensus } = home.state;
  const { address, seed } = person(who);
  const set = consensus.validators.validators;
  const unsigned: Vote = {
    type,
    height: consensus.height,
    round,
    blockId: blockId ?? NIL_BLOCK_ID,
    timeNs: home.validator.wallNs + 1_000_000n,
    validatorAddress: address,
    validatorIndex: set.findIndex((each) => hexOf(each.address) === hexOf(address)),
    signature: EMPTY_BYTES,
    extension: EMPTY_BYTES,
    extensionSignature: EMPTY_BYTES,
    ...more,
  };
  return { ...unsigned, signature: ed25519Sign(seed, voteSignBytes(CHAIN_ID, unsigned)) };
}

export interface Made {
  readonly block: Block;
  readonly id: BlockId;
  readonly parts: PartSet;
}

/** A block that may come next, with these transactions. */
export function nextBlock(
  home: Home,
  txs: readonly string[],
  lastCommit: Commit = EMPTY_COMMIT,
  evidence: readonly Evidence[] = [],
): Made {
  const { chain, consensus } = home.state;
  const block = makeBlock(
    chain,
    consensus.height,
    txs.map((tx) => utf8Encode(tx)),
    lastCommit,
    evidence,
    consensus.validators.validators[0]!.address,
  );
  const parts = PartSet.whole(encodeBlock(block));
  return { block, parts, id: { hash: headerHash(block.header), parts: parts.header } };
}

/** The messages of a proposal by whoever is the proposer of the round. */
export function proposalOf(
  home: Home,
  made: Made,
  round: number,
  polRound = -1,
  persons = 4,
): ConsensusMessage[] {
  const { consensus } = home.state;
  const { address } = consensus.proposer(round);
  const who = Array.from({ length: persons }, (_, i) => i).find(
    (i) => hexOf(person(i).address) === hexOf(address),
  );
  const { seed } = person(who ?? unreachable('a stranger proposes'));
  const unsigned = {
    type: PROPOSAL,
    height: consensus.height,
    round,
    polRound,
    blockId: made.id,
    timeNs: home.validator.wallNs,
    signature: EMPTY_BYTES,
  };
  const signature = ed25519Sign(seed, proposalSignBytes(CHAIN_ID, unsigned));
  const messages: ConsensusMessage[] = [{ type: 'proposal', proposal: { ...unsigned, signature } }];
  for (let i = 0; i < made.parts.header.total; i++) {
    const part = made.parts.part(i) ?? unreachable('whole');
    messages.push({ type: 'block-part', height: consensus.height, round, part });
  }
  return messages;
}

/** Whom the round does not make the proposer, of persons 0..3. */
export function notProposers(home: Home, ...rounds: readonly number[]): number[] {
  const proposers = rounds.map((round) => hexOf(home.state.consensus.proposer(round).address));
  return [0, 1, 2, 3].filter((i) => !proposers.includes(hexOf(person(i).address)));
}
