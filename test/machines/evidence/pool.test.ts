import fc from 'fast-check';
import { expect, it } from 'vitest';
import { ed25519Sign } from '#platform';
import { blocksNeeded, EvidencePool, type Pending } from '../../../machines/evidence/pool.ts';
import { equalBytes, hexOf } from '../../../protocol/bytes.ts';
import { evidenceIdentity } from '../../../protocol/hashes.ts';
import { type EvidenceFacts, makeDuplicateVote } from '../../../protocol/rules/evidence.ts';
import { DEFAULT_PARAMS } from '../../../protocol/rules/params.ts';
import { voteExtensionSignBytes, voteSignBytes } from '../../../protocol/sign-bytes.ts';
import { verifySignature } from '../../../protocol/signatures.ts';
import { type DuplicateVoteEvidence, EMPTY_BYTES, PREVOTE, type Vote } from '../../../protocol/types.ts';
import { encodeEvidenceList } from '../../../protocol/wire/index.ts';
import * as any from '../../protocol/arbitrary.ts';
import { CHAIN_ID, chainOf, okay, person, someBlockId } from '../../protocol/rules/people.ts';

const links = chainOf([10n, 10n, 10n, 10n], 10);
const set = links[0]!.before.validators;

function voteOf(who: number, height: bigint, name: string, round = 0): Vote {
  const { address, seed } = person(who);
  const unsigned: Vote = {
    type: PREVOTE,
    height,
    round,
    blockId: someBlockId(name),
    timeNs: 5n,
    validatorAddress: address,
    validatorIndex: set.validators.findIndex((each) => each.address.join() === address.join()),
    signature: EMPTY_BYTES,
    extension: EMPTY_BYTES,
    extensionSignature: EMPTY_BYTES,
  };
  return { ...unsigned, signature: ed25519Sign(seed, voteSignBytes(CHAIN_ID, unsigned)) };
}

/** What a node knows after block `latest`. */
function factsAt(latest: bigint, known = latest): EvidenceFacts {
  const link = (height: bigint) => (height >= 1n && height <= known ? links[Number(height) - 1] : undefined);
  return {
    state: links[Number(latest) - 1]!.after,
    heightLatest: latest,
    header: (height) => link(height)?.block.header ?? null,
    commit: (height) => link(height + 1n)?.block.lastCommit ?? null,
    validators: (height) => (height > known + 2n ? null : set),
  };
}

const evidenceOf = (who: number, height: bigint, round = 0): DuplicateVoteEvidence =>
  okay(
    makeDuplicateVote(
      voteOf(who, height, 'one', round),
      voteOf(who, height, 'two', round),
      links[Number(height) - 1]!.block.header.timeNs,
      set,
    ),
  ) as DuplicateVoteEvidence;

it('a conflict waits for its height to be committed, and is evidence then: one for a validator, round and type', () => {
  const pool = new EvidencePool();
  pool.sawConflict(voteOf(1, 3n, 'one'), voteOf(1, 3n, 'two'));
  for (let i = 0; i < 5_000; i++) pool.sawConflict(voteOf0(i), voteOf0(i + 1));
  expect(pool.onCommitted(factsAt(2n)).made).toEqual([]);
  const { made } = pool.onCommitted(factsAt(3n));
  expect(made.length).toBe(1);
  expect(made[0]).toMatchObject({
    height: 3n,
    evidence: { timeNs: links[2]!.block.header.timeNs, validatorPower: 10n },
  });
  expect(pool.onCommitted(factsAt(3n)).made).toEqual([]);
  // And it is what others accept.
  expect(new EvidencePool().add(made[0]!.evidence, factsAt(4n), verifySignature)).toMatchObject({
    height: 3n,
  });
});

const first = voteOf(1, 3n, 'one');
/** A liar that votes for another block each time. */
const voteOf0 = (i: number): Vote => ({ ...first, blockId: someBlockId(`${i % 7}`) });

it('conflicts of heights that nobody remembers are let go', () => {
  const pool = new EvidencePool();
  pool.sawConflict(voteOf(1, 3n, 'one'), voteOf(1, 3n, 'two'));
  expect(pool.onCommitted({ ...factsAt(9n), header: () => null }).made).toEqual([]);
  expect(pool.onCommitted(factsAt(9n)).made).toEqual([]);
});

const twice = (who: number, height: bigint, round: number): [Vote, Vote] => [
  voteOf(who, height, 'one', round),
  voteOf(who, height, 'two', round),
];

it('who votes twice in a thousand rounds keeps nobody else out, of a height or of the pool', () => {
  const pool = new EvidencePool();
  for (let round = 0; round < 1_100; round++) pool.sawConflict(...twice(1, 3n, round));
  pool.sawConflict(...twice(2, 3n, 0));
  const accusedOf = (made: readonly Pending[]) =>
    made.map(({ evidence }) => evidence.kind === 'duplicate-vote' && hexOf(evidence.voteA.validatorAddress));
  const made = accusedOf(pool.onCommitted(factsAt(3n)).made);
  const [flooder, other] = [1, 2].map((who) => hexOf(person(who).address));
  expect(made.filter((each) => each === other).length).toBe(1);
  expect(made.filter((each) => each === flooder).length).toBe(64);
  // What it does at the next height takes the place of what it did before; of a peer nothing more of it is kept, and of a third validator it is.
  for (let round = 0; round < 10; round++) pool.sawConflict(...twice(1, 4n, round));
  const next = pool.onCommitted(factsAt(4n));
  expect(next.made.map(({ height }) => height)).toEqual(Array(10).fill(4n));
  expect(next.replaced.map(({ height }) => height)).toEqual(Array(10).fill(3n));
  expect(pool.inOrder()).toHaveLength(65);
  expect(pool.add(evidenceOf(1, 4n, 11), factsAt(5n), verifySignature)).toBeNull();
  expect(pool.add(evidenceOf(3, 4n), factsAt(5n), verifySignature)).toMatchObject({ height: 4n });
  // What a block takes makes room.
  const { evidence } = pool.take(2_000n);
  expect(
    pool.onBlock(evidence, 5n, links[4]!.block.header.timeNs, DEFAULT_PARAMS).removed.length,
  ).toBeGreaterThan(0);
  expect(pool.add(evidenceOf(1, 4n, 11), factsAt(5n), verifySignature)).toMatchObject({ height: 4n });
});

it('evidence of a peer is verified once, and kept once', () => {
  const pool = new EvidencePool();
  const evidence = evidenceOf(1, 3n);
  const facts = factsAt(5n);
  expect(pool.add({ ...evidence, timeNs: 1n }, facts, verifySignature)).toMatchObject({
    refused: 'evidence-time',
  });
  expect(pool.add(evidence, facts, () => false)).toMatchObject({ refused: 'evidence-signature' });
  expect(pool.hasPending).toBe(false);
  expect(pool.add(evidence, facts, verifySignature)).toMatchObject({
    height: 3n,
    identity: evidenceIdentity(evidence),
  });
  expect(pool.add(evidence, facts, () => false)).toBeNull();
  expect(pool.check([evidence], facts, () => false)).toBeNull(); // pending: verified already
  expect(pool.check([evidence, evidence], facts, verifySignature)).toMatchObject({
    refused: 'evidence-twice',
  });
  expect(pool.check([evidenceOf(2, 3n)], facts, verifySignature)).toBeNull();
  expect(pool.check([evidenceOf(2, 3n)], facts, () => false)).toMatchObject({
    refused: 'evidence-signature',
  });
});

it('evidence of a peer is as its voter made it, also where its signature does not reach', () => {
  const pool = new EvidencePool();
  const evidence = evidenceOf(1, 3n);
  const offered = (by: Partial<Vote>) =>
    pool.add({ ...evidence, voteB: { ...evidence.voteB, ...by } }, factsAt(5n), verifySignature);
  const extension = Uint8Array.of(1);
  const { seed } = person(1);
  expect(offered({ validatorIndex: (evidence.voteB.validatorIndex + 1) % 4 })).toMatchObject({
    refused: 'evidence-stranger',
  });
  const signBytes = voteExtensionSignBytes(CHAIN_ID, { ...evidence.voteB, extension });
  expect(offered({ extension, extensionSignature: ed25519Sign(seed, signBytes) })).toMatchObject({
    refused: 'evidence-extension',
  });
  expect(pool.hasPending).toBe(false);
  // In a block CometBFT takes all of them.
  const reindexed = { ...evidence, voteA: { ...evidence.voteA, validatorIndex: 99 } };
  expect(pool.check([reindexed], factsAt(5n), verifySignature)).toBeNull();
});

it('a proposal takes the oldest that fit', () => {
  const pool = new EvidencePool();
  const all = [evidenceOf(1, 4n), evidenceOf(2, 3n), evidenceOf(3, 5n)];
  for (const each of all) pool.add(each, factsAt(6n), verifySignature);
  const [b, a, c] = all;
  expect(pool.inOrder().map(({ evidence }) => evidence)).toEqual([a, b, c]);
  const size = BigInt(encodeEvidenceList([a!, b!]).length);
  expect(pool.take(size)).toEqual({ evidence: [a, b], bytes: size });
  expect(pool.take(size - 1n).evidence).toEqual([a]);
  expect(pool.take(0n)).toEqual({ evidence: [], bytes: 0n });
  expect(pool.take(1_000_000n).bytes).toBe(BigInt(encodeEvidenceList([a!, b!, c!]).length));
});

it('one that has no room keeps back no other', () => {
  const pool = new EvidencePool();
  const [large, small] = [evidenceOf(1, 3n, 100_000), evidenceOf(2, 4n)];
  for (const each of [large, small]) pool.add(each, factsAt(6n), verifySignature);
  expect(pool.take(BigInt(encodeEvidenceList([large]).length) - 1n).evidence).toEqual([small]);
});

it('what a block commits leaves, and is refused from then on, also after a restart', () => {
  const pool = new EvidencePool();
  const [mine, others] = [evidenceOf(1, 3n), evidenceOf(2, 3n)];
  pool.add(mine, factsAt(5n), verifySignature);
  const { params, timeNs } = {
    params: links[5]!.after.consensusParams,
    timeNs: links[5]!.block.header.timeNs,
  };
  const { committed, removed } = pool.onBlock([mine, others], 6n, timeNs, params);
  expect(committed.map(({ evidence }) => evidence)).toEqual([mine, others]);
  expect(removed.map(({ evidence }) => evidence)).toEqual([mine]);
  const again = new EvidencePool();
  again.restore(
    [evidenceOf(3, 3n), mine],
    committed.map(({ identity }) => identity),
  );
  expect(again.inOrder().map(({ evidence }) => evidence)).toEqual([evidenceOf(3, 3n)]);
  for (const each of [pool, again]) {
    expect(each.add(mine, factsAt(6n), verifySignature)).toBeNull();
    expect(each.check([others], factsAt(6n), verifySignature)).toMatchObject({
      refused: 'evidence-committed',
    });
  }
});

it('what is too old by height and by time leaves', () => {
  const pool = new EvidencePool();
  pool.add(evidenceOf(1, 3n), factsAt(5n), verifySignature);
  const { consensusParams } = links[5]!.after;
  const params = {
    ...consensusParams,
    evidence: { ...consensusParams.evidence, maxAgeBlocks: 2n, maxAgeNs: 1_000n },
  };
  const { timeNs } = links[2]!.block.header;
  expect(pool.onBlock([], 5n, timeNs + 2_000n, params).removed).toEqual([]); // by time only
  expect(pool.onBlock([], 6n, timeNs + 1_000n, params).removed).toEqual([]); // by height only
  expect(pool.onBlock([], 6n, timeNs + 1_001n, params).removed.length).toBe(1);
  expect(pool.hasPending).toBe(false);
});

it('however much a store holds against one, others get in, and no more of it', () => {
  const pool = new EvidencePool();
  const facts = factsAt(5n);
  for (let round = 0; round < 1_030; round++) {
    const fake = { ...evidenceOf(1, 3n), voteA: { ...first, round } } as DuplicateVoteEvidence;
    pool.restore([fake], []);
  }
  expect(pool.add(evidenceOf(1, 4n), facts, verifySignature)).toBeNull();
  expect(pool.check([evidenceOf(1, 4n)], facts, verifySignature)).toBeNull();
  expect(pool.add(evidenceOf(2, 3n), facts, verifySignature)).toMatchObject({ height: 3n });
  pool.sawConflict(voteOf(3, 3n, 'one'), voteOf(3, 3n, 'two'));
  expect(pool.onCommitted(facts).made.length).toBe(1);
});

it('who is accused of enough hides nobody who attacks together with it', () => {
  const pool = new EvidencePool();
  for (let round = 0; round < 64; round++) pool.sawConflict(...twice(1, 3n, round));
  pool.onCommitted(factsAt(3n));
  const [full, other] = [1, 2].map(
    (who) => set.validators.find((each) => equalBytes(each.address, person(who).address))!,
  );
  fc.assert(
    fc.property(any.lightClientAttack, (attack) => {
      expect(pool.isUnwanted({ ...attack, byzantineValidators: [full!] })).toBe(true);
      expect(pool.isUnwanted({ ...attack, byzantineValidators: [full!, other!] })).toBe(false);
    }),
    { numRuns: 20 },
  );
});

it('verification reads the block of a double vote; for an attack on light clients four', () => {
  expect(blocksNeeded(evidenceOf(1, 3n))).toEqual([3n]);
  const attack = {
    kind: 'light-client-attack',
    commonHeight: 4n,
    conflictingBlock: { signedHeader: { header: { height: 9n } } },
  };
  expect(blocksNeeded(attack as never)).toEqual([4n, 5n, 9n, 10n]);
});

it('the order is that of heights, rounds and validators, whatever came first and whatever a restart read first', () => {
  const all = [
    evidenceOf(1, 3n),
    evidenceOf(1, 3n, 1),
    evidenceOf(2, 3n),
    evidenceOf(2, 4n),
    evidenceOf(3, 3n),
  ];
  const orderOf = (list: readonly DuplicateVoteEvidence[]): string[] => {
    const pool = new EvidencePool();
    pool.restore(list, []);
    return pool.inOrder().map(({ evidence, height }) => {
      const { round, validatorIndex } = (evidence as DuplicateVoteEvidence).voteA;
      return `${height}/${round}/${validatorIndex}`;
    });
  };
  const wanted = orderOf(all);
  expect(wanted).toEqual([...wanted].sort());
  expect(orderOf([...all].reverse())).toEqual(wanted);
  expect(orderOf([2, 4, 0, 3, 1].map((i) => all[i]!))).toEqual(wanted);
});
