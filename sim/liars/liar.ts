// What a liar is: an honest node whose words are changed on their way out, and signed again with its own key, the only one it has.

import type { Payload, PeerId } from '../../actors/turn.ts';
import { equalBytes } from '../../protocol/bytes.ts';
import {
  type BlocksyncMessage,
  CHANNEL_BLOCKSYNC,
  CHANNEL_DATA,
  CHANNEL_VOTE,
} from '../../protocol/messages.ts';
import { isRefusal, unreachable } from '../../protocol/refusal.ts';
import { proposalSignBytes, voteSignBytes } from '../../protocol/sign-bytes.ts';
import {
  type Block,
  type BlockId,
  EMPTY_BYTES,
  NIL_BLOCK_ID,
  type Part,
  PRECOMMIT,
  PROPOSAL,
  type Proposal,
  type Vote,
} from '../../protocol/types.ts';
import { decodeBlocksyncMessage, encodeConsensusMessage } from '../../protocol/wire/index.ts';
import type { Machine } from '../machine.ts';

/** Says what a liar's envelope to this receiver becomes; null: the truth. */
export type Lie = (to: PeerId, payloads: readonly Payload[]) => readonly Payload[] | null;

/** When a liar lies, as a play says; the rest of its time it is honest. */
export interface WhenItLies {
  /** How often in a million, of the times it could. */
  readonly ppm?: number;
  /** So many lies in all; not given: no end. */
  readonly times?: number;
  /** Vote liars only: which votes it lies about; not given: both. */
  readonly votes?: 'prevotes' | 'precommits';
  readonly fromHeight?: number;
  readonly toHeight?: number;
  readonly fromRound?: number;
  readonly toRound?: number;
}

/** What a liar has to work with. */
export interface LiarKit {
  readonly machine: Machine;
  readonly words: WhenItLies;
  readonly chainId: string;
  /** Others of the play that are the same liar: what they sign together they have agreed on. */
  readonly accomplices: readonly Machine[];
  /** Whom it lies to. */
  readonly victims: ReadonlySet<PeerId>;
  /** Draws whether it takes this opportunity, by the play's `ppm`; false once it has told so many as `times` says. */
  readonly lies: () => boolean;
  /** Who votes at a height, in the order of their indexes; empty: not known yet. */
  readonly validators: (
    height: bigint,
  ) => readonly { readonly address: Uint8Array; readonly power: bigint }[];
  /** Whether it is its turn to propose there. */
  readonly hasTurn: (height: bigint, round: number) => boolean;
  /** `block.max_bytes` of the genesis. */
  readonly blockBytesMax: bigint;
  /** A block of the chain, of the last few that honest nodes stored. */
  readonly decided: (height: bigint) => Block | null;
  /** The blocks proposed in a round so far, by anybody. */
  readonly proposed: (height: bigint, round: number) => readonly BlockId[];
  /** Calls back whenever its own node goes a step further. */
  readonly onStep: (listener: () => void) => void;
  /** Says that it has made a transaction of its own. */
  readonly submitted: (tx: Uint8Array) => void;
  /** A lie is told: it stands in the verdict (`faults`) under this name, and is one of `times`. Of who counts none, whatever it changes is one. */
  readonly count: (what: string) => void;
}

export type Liar = (kit: LiarKit) => Lie;

/** Whether its words speak of this height and round. */
export function isItsPlace(words: WhenItLies, height: bigint, round: number): boolean {
  const { fromHeight = 0, toHeight, fromRound = 0, toRound } = words;
  if (height < BigInt(fromHeight) || (toHeight !== undefined && height > BigInt(toHeight))) return false;
  return round >= fromRound && (toRound === undefined || round <= toRound);
}

/**
 * Another value than this vote's, as harmful as can be: the other block proposed in this round, else nil; for
 * nil, a block.
 */
export function otherValue(kit: LiarKit, vote: Vote): BlockId | null {
  const mine = vote.blockId.hash;
  const other = kit.proposed(vote.height, vote.round).find(({ hash }) => !equalBytes(hash, mine));
  if (other) return other;
  return mine.length > 0 ? NIL_BLOCK_ID : null;
}

/** With no signature yet, nor an extension. */
export function unsignedPrecommit(said: Omit<Vote, 'type' | SignedFields>): Vote {
  return {
    type: PRECOMMIT,
    ...said,
    signature: EMPTY_BYTES,
    extension: EMPTY_BYTES,
    extensionSignature: EMPTY_BYTES,
  };
}
type SignedFields = 'signature' | 'extension' | 'extensionSignature';

/** The same vote under the liar's signature, whomever it names. */
export function signedAs(kit: LiarKit, vote: Vote): Vote {
  const key = kit.machine.key ?? unreachable('a liar has a key');
  return { ...vote, signature: key.sign(voteSignBytes(kit.chainId, vote)) };
}

export function signedVote(kit: LiarKit, vote: Vote): Payload {
  return {
    channel: CHANNEL_VOTE,
    bytes: encodeConsensusMessage({ type: 'vote', vote: signedAs(kit, vote) }),
  };
}

/** In the liar's own name, whosever turn it is. */
export function signedProposal(kit: LiarKit, said: Omit<Proposal, 'type' | 'signature'>): Payload {
  const key = kit.machine.key ?? unreachable('a liar has a key');
  const unsigned: Proposal = { ...said, type: PROPOSAL, signature: EMPTY_BYTES };
  const proposal = { ...unsigned, signature: key.sign(proposalSignBytes(kit.chainId, unsigned)) };
  return { channel: CHANNEL_DATA, bytes: encodeConsensusMessage({ type: 'proposal', proposal }) };
}

export const partPayload = (height: bigint, round: number, part: Part): Payload => ({
  channel: CHANNEL_DATA,
  bytes: encodeConsensusMessage({ type: 'block-part', height, round, part }),
});

/** A block that is given in block sync; null: the payload says something else. */
export function blockGiven({ channel, bytes }: Payload): BlockGiven | null {
  const message = channel === CHANNEL_BLOCKSYNC ? decodeBlocksyncMessage(bytes) : null;
  return message && !isRefusal(message) && message.type === 'block-response' ? message : null;
}
type BlockGiven = Extract<BlocksyncMessage, { type: 'block-response' }>;

/** What goes to a victim instead of each payload; null: the truth. */
export const instead =
  (kit: LiarKit, lie: (payload: Payload) => readonly Payload[] | null): Lie =>
  (to, payloads) => {
    if (!kit.victims.has(to)) return null;
    let isLie = false;
    const said = payloads.flatMap((payload) => {
      const lied = lie(payload);
      if (lied) isLie = true;
      return lied ?? [payload];
    });
    return isLie ? said : null;
  };

/** A decision per key, remembered for some heights: a lie is told the same way each time it is repeated. */
export class Remembered<T> {
  private readonly byKey = new Map<string, T>();
  private readonly limit = 4096;

  get(key: string, make: () => T): T {
    let value = this.byKey.get(key);
    if (value === undefined) {
      value = make();
      this.byKey.set(key, value);
      if (this.byKey.size > this.limit) this.byKey.delete(this.byKey.keys().next().value as string);
    }
    return value;
  }
}
