// The evidence that a node holds against others: what it saw and cannot prove yet, what waits for a block, what is committed (spec 5.10).

import { compareBytes, hexOf } from '../../protocol/bytes.ts';
import { evidenceIdentity } from '../../protocol/hashes.ts';
import { isRefusal, type Refusal, refuse } from '../../protocol/refusal.ts';
import {
  type EvidenceFacts,
  evidenceHeight,
  isExpired,
  makeDuplicateVote,
  verifyAsMade,
  verifyEvidence,
} from '../../protocol/rules/evidence.ts';
import type { Verify } from '../../protocol/signatures.ts';
import type { ConsensusParams, DuplicateVoteEvidence, Evidence, Vote } from '../../protocol/types.ts';
import { encodeEvidenceList } from '../../protocol/wire/index.ts';

/** Heights whose blocks verification reads: a header comes with its block, its commit with the block after it. */
export function blocksNeeded(evidence: Evidence): bigint[] {
  const height = evidenceHeight(evidence);
  if (evidence.kind === 'duplicate-vote') return [height];
  const conflicting = evidence.conflictingBlock.signedHeader.header.height;
  return [height, height + 1n, conflicting, conflicting + 1n];
}

/** Evidence that waits for a block: each validator costs few, and who makes more of itself is punished by one. */
const PENDING_MAX = 1024;
/** A liar may vote for a new block in every message; the first pair of a validator, round and type is proof enough. */
const CONFLICTS_MAX = 1024;

export interface Pending {
  readonly evidence: Evidence;
  readonly identity: Uint8Array;
  readonly height: bigint;
}

/**
 * Oldest first; then by what the votes are about and when they were cast. Not in the order in which they came, which a restart forgets, and
 * by hashes last: they depend on signatures.
 */
function inOrder(a: Pending, b: Pending): number {
  const [one, other] = [placeOf(a), placeOf(b)];
  for (let i = 0; i < one.length && i < other.length; i++) {
    const [x, y] = [one[i] as bigint, other[i] as bigint];
    if (x !== y) return x < y ? -1 : 1;
  }
  return compareBytes(a.identity, b.identity);
}

function placeOf({ evidence, height }: Pending): bigint[] {
  if (evidence.kind !== 'duplicate-vote') return [height, -1n];
  const { voteA, voteB } = evidence;
  const { round, type, validatorIndex } = voteA;
  const [sooner, later] = voteA.timeNs < voteB.timeNs ? [voteA, voteB] : [voteB, voteA];
  return [height, BigInt(round), BigInt(type), BigInt(validatorIndex), sooner.timeNs, later.timeNs];
}

export class EvidencePool {
  private readonly pending = new Map<string, Pending>();
  /** For ever: the chain may allow older evidence one day, and what was punished must not be punished again. One entry for each crime. */
  private readonly committed = new Set<string>();
  /** Conflicting votes whose block time is not known until their height is committed. */
  private conflicts = new Map<string, { readonly first: Vote; readonly second: Vote }>();

  restore(pending: readonly Evidence[], committedIdentities: readonly Uint8Array[]): void {
    for (const identity of committedIdentities) this.committed.add(hexOf(identity));
    for (const evidence of pending) this.keep(evidence);
  }

  private keep(evidence: Evidence): Pending | null {
    const identity = evidenceIdentity(evidence);
    const key = hexOf(identity);
    if (this.pending.has(key) || this.committed.has(key)) return null;
    const kept = { evidence, identity, height: evidenceHeight(evidence) };
    this.pending.set(key, kept);
    return kept;
  }

  sawConflict(first: Vote, second: Vote): void {
    const key = `${first.height}/${first.round}/${first.type}/${first.validatorIndex}`;
    if (this.conflicts.size < CONFLICTS_MAX && !this.conflicts.has(key))
      this.conflicts.set(key, { first, second });
  }

  /** A height is committed: its conflicts become evidence. Returns what is new. */
  onCommitted(facts: EvidenceFacts): Pending[] {
    const made: Pending[] = [];
    for (const [key, conflict] of this.conflicts) {
      const { height } = conflict.first;
      const header = facts.header(height);
      const set = facts.validators(height);
      if (height > facts.heightLatest) continue;
      this.conflicts.delete(key);
      if (!header || !set) continue;
      const evidence = makeDuplicateVote(conflict.first, conflict.second, header.timeNs, set);
      if (isRefusal(evidence)) continue;
      const kept = this.keep(evidence);
      if (kept) made.push(kept);
    }
    return made;
  }

  /** It is known already, or there is no room for more. */
  isUnwanted(evidence: Evidence): boolean {
    const key = hexOf(evidenceIdentity(evidence));
    return this.pending.has(key) || this.committed.has(key) || this.pending.size >= PENDING_MAX;
  }

  /** Evidence from a peer. Null: it is not wanted. */
  add(evidence: Evidence, facts: EvidenceFacts, verify: Verify): Pending | Refusal | null {
    if (this.isUnwanted(evidence)) return null;
    const refusal = verifyEvidence(evidence, facts, verify) ?? this.changedOnItsWay(evidence, facts);
    return refusal ?? this.keep(evidence);
  }

  /** What its signatures do not cover is not as its voter made it. */
  private changedOnItsWay(evidence: Evidence, facts: EvidenceFacts): Refusal | null {
    const set = evidence.kind === 'duplicate-vote' ? facts.validators(evidence.voteA.height) : null;
    return set && verifyAsMade(evidence as DuplicateVoteEvidence, set);
  }

  /** The evidence of a proposed block: known, or verifiable; not committed; none twice. */
  check(list: readonly Evidence[], facts: EvidenceFacts, verify: Verify): Refusal | null {
    const seen = new Set<string>();
    for (const evidence of list) {
      const key = hexOf(evidenceIdentity(evidence));
      if (seen.has(key)) return refuse('evidence-twice', `the block holds the same evidence twice: ${key}`);
      if (this.committed.has(key))
        return refuse('evidence-committed', `evidence ${key} was already committed`);
      seen.add(key);
      // Light attacks are verified again each time: they depend on what we hold by now (spec 5.10).
      if (this.pending.has(key) && evidence.kind === 'duplicate-vote') continue;
      const refusal = verifyEvidence(evidence, facts, verify);
      if (refusal) return refusal;
    }
    return null;
  }

  /** For a proposal: oldest first, as far as the encoded list stays within `bytesMax`. One that is too large does not keep back others. */
  take(bytesMax: bigint): { readonly evidence: readonly Evidence[]; readonly bytes: bigint } {
    const evidence: Evidence[] = [];
    let size = 0n;
    for (const pending of this.inOrder()) {
      const grown = size + BigInt(encodeEvidenceList([pending.evidence]).length); // a list is as long as its items
      if (grown > bytesMax) continue;
      evidence.push(pending.evidence);
      size = grown;
    }
    return { evidence, bytes: size };
  }

  inOrder(): Pending[] {
    if (this.pending.size === 0) return [];
    return [...this.pending.values()].sort(inOrder);
  }

  get hasPending(): boolean {
    return this.pending.size > 0;
  }

  /** A block's evidence is committed; what is too old leaves. Returns what was committed and what leaves the pending list. */
  onBlock(
    list: readonly Evidence[],
    heightLatest: bigint,
    timeLatestNs: bigint,
    params: ConsensusParams,
  ): { readonly committed: Pending[]; readonly removed: Pending[] } {
    const committed: Pending[] = [];
    const removed: Pending[] = [];
    for (const evidence of list) {
      const identity = evidenceIdentity(evidence);
      const key = hexOf(identity);
      this.committed.add(key);
      const entry = { evidence, identity, height: evidenceHeight(evidence) };
      committed.push(entry);
      if (this.pending.delete(key)) removed.push(entry);
    }
    for (const [key, entry] of this.pending) {
      if (!isExpired(params, heightLatest - entry.height, timeLatestNs - entry.evidence.timeNs)) continue;
      this.pending.delete(key);
      removed.push(entry);
    }
    return { committed, removed };
  }
}
