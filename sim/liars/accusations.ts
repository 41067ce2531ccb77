// Evidence as liars present it, against another one or against themselves: invented, or true of a double vote and wrong in one thing; and
// what is right, once and again.

import { compareBlockIdKeys } from '../../protocol/block-id.ts';
import { equalBytes } from '../../protocol/bytes.ts';
import { headerHash } from '../../protocol/hashes.ts';
import {
  type BlockId,
  type DuplicateVoteEvidence,
  EMPTY_BYTES,
  type Evidence,
  FLAG_COMMIT,
  PREVOTE,
  type Vote,
} from '../../protocol/types.ts';
import { addressFor } from '../addresses.ts';
import { type LiarKit, signedAs, unsignedPrecommit } from './liar.ts';

const HASH_BYTES = 32;

function idOf(fill: number): BlockId {
  const hash = new Uint8Array(HASH_BYTES).fill(fill);
  return { hash, parts: { total: 1, hash } };
}

/** What is known of the height that the evidence is about. */
interface Case {
  readonly timeNs: bigint;
  readonly powerTotal: bigint;
  /** A vote of this validator that the liar signs, whoever it is. */
  readonly vote: (index: number, fill: number, more?: Partial<Vote>) => Vote;
  readonly mine: number;
  /** Somebody else, and a precommit that it truly signed. */
  readonly other: number;
  readonly precommit: Vote;
  /** Those that it truly signed at the heights before. */
  readonly precommitsBefore: readonly Vote[];
  readonly against: (voteA: Vote, voteB: Vote) => DuplicateVoteEvidence;
}

type Accusation = (about: Case) => readonly Evidence[];

const ownDouble = ({ vote, mine, against }: Case, more: Partial<Vote> = {}): DuplicateVoteEvidence =>
  against(vote(mine, 1, more), vote(mine, 2, more));

/** More than a block of 16,000 bytes has room for, of evidence. */
const MANY = 16;

function swapped({ voteA, voteB, ...rest }: DuplicateVoteEvidence): DuplicateVoteEvidence {
  return { ...rest, voteA: voteB, voteB: voteA };
}

function ownProof(about: Case): readonly Evidence[] {
  return [ownDouble(about)];
}

const ACCUSATIONS: readonly Accusation[] = [
  ({ against, vote, other }) => [against(vote(other, 1), vote(other, 2))],
  ({ against, vote, other, precommit }) => [against(precommit, vote(other, 0xff))],
  ({ against, vote, other, precommit }) => [against(vote(other, 0), precommit)],
  (about) => [{ ...ownDouble(about), timeNs: about.timeNs + 1_000_000_000n }],
  (about) => [{ ...ownDouble(about), validatorPower: ownDouble(about).validatorPower + 1n }],
  (about) => [{ ...ownDouble(about), powerTotal: about.powerTotal + 1n }],
  ({ against, vote, mine }) => [against(vote(mine, 1), vote(mine, 2, { round: 1 }))],
  ({ against, vote, mine }) => [against(vote(mine, 1), vote(mine, 2, { type: PREVOTE }))],
  (about) => [swapped(ownDouble(about))],
  (about) => [ownDouble(about), ownDouble(about)],
  (about) => Array.from({ length: MANY }, (_, round) => ownDouble(about, { round })),
];

/** Each true, and of a height of its own: what every honest validator has signed. */
const twoHeights: Accusation = ({ against, precommit, precommitsBefore }) => {
  const before = precommitsBefore.find((vote) => compareBlockIdKeys(precommit.blockId, vote.blockId) < 0);
  if (before) return [against(precommit, before)];
  // In another order it is as false: what is said at all does not hang on hashes, which keys change.
  return precommitsBefore.slice(0, 1).map((vote) => against(vote, precommit));
};

type Side = 'voteA' | 'voteB';

function changed(about: Case, side: Side, by: Partial<Vote>): readonly Evidence[] {
  const proof = ownDouble(about);
  return [{ ...proof, [side]: { ...proof[side], ...by } }];
}

const ONE_BYTE = Uint8Array.of(1);
const NO_SIGNATURE = new Uint8Array(64);

/** In blocks. */
export const IN_BLOCKS: readonly Accusation[] = [twoHeights];
/**
 * Beside votes also a true double vote, changed where no signature is: a new one for whoever goes by its hash. Blocks may hold it, so peers alone
 * are told.
 */
export const BESIDE_VOTES: readonly Accusation[] = [
  (about) => changed(about, 'voteA', { validatorIndex: about.other }),
  (about) => changed(about, 'voteA', { extension: ONE_BYTE, extensionSignature: NO_SIGNATURE }),
  twoHeights,
  (about) => changed(about, 'voteB', { validatorIndex: about.other }),
  (about) => changed(about, 'voteB', { extensionSignature: NO_SIGNATURE }),
  (about) => changed(about, 'voteB', { validatorAddress: about.precommit.validatorAddress }),
];

/** What the liar accuses of next, of a height whose next block is decided; nothing where it knows too little of it. */
export class Accuser {
  private readonly kit: LiarKit;
  private next = 0;
  /** The first true evidence, to be brought again and again. */
  private proof: readonly Evidence[] | null = null;

  private readonly turns: readonly Accusation[];

  /** @param more what it also accuses of, after all others. */
  constructor(kit: LiarKit, more: readonly Accusation[]) {
    this.kit = kit;
    const again: Accusation = () => this.proof ?? [];
    this.turns = [...ACCUSATIONS, ownProof, again, ...more, again];
  }

  about(height: bigint): readonly Evidence[] {
    const about = caseOf(this.kit, height);
    if (!about) return [];
    const accusation = this.turns[this.next++ % this.turns.length] as Accusation;
    const evidence = accusation(about);
    if (accusation === ownProof) this.proof ??= evidence;
    return evidence;
  }
}

/** So many double votes of its own in one height, each in another round. */
export function ownDoubles(kit: LiarKit, height: bigint, count: number): readonly Evidence[] {
  const about = caseOf(kit, height);
  return about ? Array.from({ length: count }, (_, round) => ownDouble(about, { round })) : [];
}

/** How far back a second vote is looked for. */
const HEIGHTS_BEFORE = [1n, 2n, 3n, 4n];

/** What this validator truly signed for the block of a height. */
function precommitOf(kit: LiarKit, height: bigint, index: number): Vote | null {
  const block = kit.decided(height);
  const commit = kit.decided(height + 1n)?.lastCommit;
  const signed = commit?.signatures[index];
  if (!block || !commit || signed?.flag !== FLAG_COMMIT) return null;
  const vote = unsignedPrecommit({
    height,
    round: commit.round,
    blockId: { hash: headerHash(block.header), parts: commit.blockId.parts },
    timeNs: signed.timeNs,
    validatorAddress: signed.validatorAddress,
    validatorIndex: index,
  });
  return { ...vote, signature: signed.signature };
}

function caseOf(kit: LiarKit, height: bigint): Case | null {
  const block = kit.decided(height);
  const set = kit.validators(height);
  const address = addressFor(kit.machine);
  const mine = set.findIndex((each) => equalBytes(each.address, address));
  const other = set.findIndex((_, i) => i !== mine && precommitOf(kit, height, i) !== null);
  const precommit = precommitOf(kit, height, other);
  if (!block || !precommit || mine < 0) return null;
  const { timeNs } = block.header;
  const powerTotal = set.reduce((sum, { power }) => sum + power, 0n);
  const unsigned = (validatorIndex: number, blockId: BlockId): Vote => {
    const validatorAddress = set[validatorIndex]?.address ?? EMPTY_BYTES;
    return unsignedPrecommit({ height, round: 0, blockId, timeNs, validatorAddress, validatorIndex });
  };
  return {
    timeNs,
    powerTotal,
    mine,
    other,
    vote: (index, fill, more) => signedAs(kit, { ...unsigned(index, idOf(fill)), ...more }),
    precommit,
    precommitsBefore: HEIGHTS_BEFORE.flatMap((back) => {
      const vote = precommitOf(kit, height - back, other);
      return vote?.round === precommit.round ? [vote] : [];
    }),
    against: (voteA, voteB) => ({
      kind: 'duplicate-vote',
      voteA,
      voteB,
      powerTotal,
      validatorPower: set[voteA.validatorIndex]?.power ?? 0n,
      timeNs,
    }),
  };
}
