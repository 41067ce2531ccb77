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

/**
 * Of one validator, of what waits for a block, and of a height's conflicting votes: a liar may vote twice in as many rounds as it likes, and
 * each is evidence. Who makes more of itself is punished for some, and leaves others their place.
 */
const OF_ONE_MAX = 64;
/** Evidence of an attack may accuse nobody by name (amnesia). */
const NOBODY = '';

const accusedBy = (evidence: Evidence): string[] => {
  if (evidence.kind === 'duplicate-vote') return [hexOf(evidence.voteA.validatorAddress)];
  const accused = evidence.byzantineValidators.map(({ address }) => hexOf(address));
  return accused.length > 0 ? accused : [NOBODY];
};

interface Conflict {
  readonly first: Vote;
  readonly second: Vote;
}

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

const whoseOf = ({ height, validatorIndex }: Vote): string => `${height}/${validatorIndex}`;
const stepOf = ({ round, type }: Vote): string => `${round}/${type}`;

export class EvidencePool {
  private readonly pending = new Map<string, Pending>();
  /** For ever: the chain may allow older evidence one day, and what was punished must not be punished again. One entry for each crime. */
  private readonly committed = new Set<string>();
  /** How much of what is pending accuses whom. */
  private readonly pendingOf = new Map<string, number>();
  /** Conflicting votes whose block time is not known until their height is committed: of each validator of a height, one for a round and type. */
  private readonly conflicts = new Map<
    string,
    { readonly height: bigint; readonly votes: Map<string, Conflict> }
  >();

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
    for (const each of accusedBy(evidence)) this.pendingOf.set(each, (this.pendingOf.get(each) ?? 0) + 1);
    return kept;
  }

  private letGo(key: string): Pending | null {
    const pending = this.pending.get(key);
    if (!pending) return null;
    this.pending.delete(key);
    for (const each of accusedBy(pending.evidence)) {
      const left = (this.pendingOf.get(each) ?? 0) - 1;
      if (left > 0) this.pendingOf.set(each, left);
      else this.pendingOf.delete(each);
    }
    return pending;
  }

  /** Somebody whom it accuses is accused of little so far. */
  private hasRoomFor(evidence: Evidence): boolean {
    return accusedBy(evidence).some((each) => (this.pendingOf.get(each) ?? 0) < OF_ONE_MAX);
  }

  sawConflict(first: Vote, second: Vote): void {
    if (this.isProven(first)) return;
    const whose = whoseOf(first);
    const known = this.conflicts.get(whose) ?? { height: first.height, votes: new Map() };
    this.conflicts.set(whose, known);
    known.votes.set(stepOf(first), { first, second });
  }

  /** That its voter cast another in that round is known, or enough of its kind: one more would prove nothing. */
  isProven(vote: Vote): boolean {
    const known = this.conflicts.get(whoseOf(vote))?.votes;
    return known !== undefined && (known.size >= OF_ONE_MAX || known.has(stepOf(vote)));
  }

  /** A height is committed: its conflicts become evidence. Returns what is new, and what had to go for it. */
  onCommitted(facts: EvidenceFacts): { readonly made: Pending[]; readonly replaced: Pending[] } {
    const made: Pending[] = [];
    const replaced: Pending[] = [];
    for (const [whose, { height, votes }] of this.conflicts) {
      if (height > facts.heightLatest) continue;
      this.conflicts.delete(whose);
      for (const conflict of votes.values()) {
        const evidence = this.evidenceOf(conflict, facts);
        if (!evidence) continue;
        const older = this.hasRoomFor(evidence) ? null : this.letGoOlder(evidence);
        if (older) replaced.push(older);
        const kept = this.hasRoomFor(evidence) ? this.keep(evidence) : null;
        if (kept) made.push(kept);
      }
    }
    return { made, replaced };
  }

  private evidenceOf({ first, second }: Conflict, facts: EvidenceFacts): DuplicateVoteEvidence | null {
    const header = facts.header(first.height);
    const set = facts.validators(first.height);
    if (!header || !set) return null;
    const evidence = makeDuplicateVote(first, second, header.timeNs, set);
    return isRefusal(evidence) ? null : evidence;
  }

  /** The oldest against the same validator, if it is of a lower height: a liar's own old crimes, soon too old for a block, must not hide a new one. */
  private letGoOlder(evidence: DuplicateVoteEvidence): Pending | null {
    const [accused] = accusedBy(evidence);
    for (const { evidence: other, identity, height } of this.inOrder())
      if (height < evidenceHeight(evidence) && accusedBy(other).includes(accused as string))
        return this.letGo(hexOf(identity));
    return null;
  }

  /** It is known already, or there is no room for more of whom it accuses. */
  isUnwanted(evidence: Evidence): boolean {
    const key = hexOf(evidenceIdentity(evidence));
    return this.pending.has(key) || this.committed.has(key) || !this.hasRoomFor(evidence);
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
      if (this.letGo(key)) removed.push(entry);
    }
    for (const [key, entry] of this.pending) {
      if (!isExpired(params, heightLatest - entry.height, timeLatestNs - entry.evidence.timeNs)) continue;
      this.letGo(key);
      removed.push(entry);
    }
    return { committed, removed };
  }
}
