// Pure results that nodes of one process may share: who signed a vote, requests made of a block, the state that follows from it. Made once.
// Keys are immutable values by identity and bytes by content, so a run without this memory does the same (`rememberLately`).

import { sha256 } from '#platform';
import type {
  CommitInfo,
  RequestFinalizeBlock,
  RequestProcessProposal,
  ResponseFinalizeBlock,
} from '../../protocol/abci.ts';
import { equalBytes } from '../../protocol/bytes.ts';
import { LatelyAt, placeOfVote, remembered, remembers } from '../../protocol/lately.ts';
import { isRefusal, type Refusal } from '../../protocol/refusal.ts';
import { misbehaviorOf, nextState } from '../../protocol/rules/state.ts';
import { voteSignBytes } from '../../protocol/sign-bytes.ts';
import type { Verify } from '../../protocol/signatures.ts';
import type { Block, BlockId, ChainState, PublicKey, ValidatorSet, Vote } from '../../protocol/types.ts';
import { blockIdKey } from '../../protocol/validate.ts';
import { encodeChainState } from '../../protocol/wire/index.ts';

export interface Followed {
  readonly state: ChainState;
  /** protobuf State. */
  readonly bytes: Uint8Array;
  /** SHA-256 of those: every set, parameter and hash that the validator decides from. */
  readonly digest: Uint8Array;
}

interface Remembered {
  readonly before: ChainState;
  readonly response: Uint8Array;
  readonly followed: Followed;
}

/**
 * By block id, which covers every byte of a block; the oldest go first. Nodes of one process are seldom further apart, and a node that has
 * its process to itself keeps for nobody what may be large.
 */
class Recent<T> {
  private readonly byId = new Map<string, { readonly value: T; readonly bytes: number }>();
  private bytes = 0;

  constructor() {
    remembered(this);
  }

  clear(): void {
    this.byId.clear();
    this.bytes = 0;
  }

  get(id: BlockId): T | undefined {
    return remembers() ? this.byId.get(blockIdKey(id))?.value : undefined;
  }

  set(id: BlockId, value: T, bytes: number): void {
    if (!remembers()) return;
    const key = blockIdKey(id);
    this.remove(key);
    this.byId.set(key, { value, bytes });
    this.bytes += bytes;
    for (const oldest of this.byId.keys()) {
      if (this.byId.size <= RECENT_MAX && this.bytes <= RECENT_BYTES_MAX) return;
      this.remove(oldest);
    }
  }

  private remove(key: string): void {
    this.bytes -= this.byId.get(key)?.bytes ?? 0;
    this.byId.delete(key);
  }
}
const RECENT_MAX = 128;
const RECENT_BYTES_MAX = 64 * 1024 * 1024;

const states = new Recent<Remembered>();

/** The state after a block, and its bytes. `responseBytes` are those of `response`. */
export function follow(
  before: ChainState,
  id: BlockId,
  block: Block,
  response: ResponseFinalizeBlock,
  responseBytes: Uint8Array,
): Followed | Refusal {
  const known = states.get(id);
  if (known && known.before === before && equalBytes(known.response, responseBytes)) return known.followed;
  const state = nextState(before, id, block.header, response);
  if (isRefusal(state)) return state;
  const bytes = encodeChainState(state);
  const followed = { state, bytes, digest: sha256(bytes) };
  states.set(id, { before, response: responseBytes, followed }, responseBytes.length + bytes.length);
  return followed;
}

/** States at the start of a life: few, so they are found by content. */
const STARTS_REMEMBERED = 64;
const starts: Pick<Followed, 'state' | 'bytes'>[] = [];
remembered({
  clear: () => {
    starts.length = 0;
  },
});

export function sharedStart(state: ChainState): ChainState {
  if (!remembers()) return state;
  const bytes = encodeChainState(state);
  const known = starts.find((each) => equalBytes(each.bytes, bytes));
  if (known) return known.state;
  if (starts.length >= STARTS_REMEMBERED) starts.shift();
  starts.push({ state, bytes });
  return state;
}

interface Signed {
  readonly verify: Verify;
  readonly chainId: string;
  readonly key: PublicKey;
}

/** Votes that were found to be signed: who shares a payload shares its vote. */
const signed = new LatelyAt<Vote, Signed>(1024);

/** Whether this key signed this vote on this chain. */
export function isSigned(verify: Verify, chainId: string, key: PublicKey, vote: Vote): boolean {
  const place = placeOfVote(vote);
  const known = signed.get(place, vote);
  if (known && known.verify === verify && known.chainId === chainId && known.key === key) return true;
  if (!verify(key, voteSignBytes(chainId, vote), vote.signature)) return false;
  signed.set(place, vote, { verify, chainId, key });
  return true;
}

interface Requests {
  readonly set: ValidatorSet | null;
  readonly process: RequestProcessProposal;
  readonly finalize: RequestFinalizeBlock;
}

const requests = new Recent<Requests>();

/** What ProcessProposal and FinalizeBlock are asked with. `set` signed the last commit; null at the initial height. */
export function requestsFor(
  id: BlockId,
  block: Block,
  set: ValidatorSet | null,
  info: () => CommitInfo,
): Requests {
  const known = requests.get(id);
  if (known && known.set === set) return known;
  const commitInfo = info();
  const { txs, header } = block;
  const { height, timeNs, nextValidatorsHash, proposerAddress } = header;
  const misbehavior = misbehaviorOf(block.evidence);
  const { hash } = id;
  // Word by word: objects that a spread begins are slow to read, and each node writes these.
  const made: Requests = {
    set,
    process: {
      txs,
      proposedLastCommit: commitInfo,
      misbehavior,
      hash,
      height,
      timeNs,
      nextValidatorsHash,
      proposerAddress,
    },
    finalize: {
      txs,
      decidedLastCommit: commitInfo,
      misbehavior,
      hash,
      height,
      timeNs,
      nextValidatorsHash,
      proposerAddress,
    },
  };
  requests.set(
    id,
    made,
    txs.reduce((sum, tx) => sum + tx.length, 0),
  );
  return made;
}
