// When a vote is dated: not behind the clock of who casts it, and ahead of it only as far as its block is. And a proposal: neither.

import { expect, it, vi } from 'vitest';
import { PREVOTE } from '../../../../protocol/types.ts';
import { addressFor, hexFor } from '../../../../sim/addresses.ts';
import { makeCast } from '../../../../sim/cast.ts';
import { Choices } from '../../../../sim/choices.ts';
import { SLOW_DISK } from '../../../../sim/disk-door.ts';
import type { Machine } from '../../../../sim/machine.ts';
import { VoteTimes } from '../../../../sim/oracles/chain/vote-times.ts';
import { GhostChain } from '../../../../sim/oracles/ghost/ghost.ts';
import { World } from '../../../../sim/world.ts';

const MS = 1_000_000n;
const SECOND = 1_000n * MS;
const BLOCK = new Uint8Array(32).fill(1);
const OTHER = new Uint8Array(32).fill(2);

interface Case {
  /** Of the vote, beyond the clock of v0. */
  readonly beyondNs: bigint;
  readonly hash?: Uint8Array;
  /** Of the block, beyond the clock of v0; not given: nobody asked about it. */
  readonly blockNs?: bigint;
  readonly trouble?: (v0: Machine) => void;
  readonly isProposerHonest?: boolean;
  /** Of the vote; 1 where nothing is said. */
  readonly height?: bigint;
  /** So many of four. */
  readonly liars?: number;
  /** Of the block before, beyond the clock of v0. */
  readonly beforeNs?: bigint;
}

it.each<[string, Case, string | null]>([
  ['by its clock', { beyondNs: 0n }, null],
  ['by its clock, a flush ago', { beyondNs: -MS }, null],
  ['a second behind it', { beyondNs: -SECOND }, `${SECOND} ns behind its clock`],
  [
    'a second behind it, held back',
    { beyondNs: -SECOND, trouble: (v0) => (v0.heldUntilNs = 10_000e6) },
    null,
  ],
  [
    'a second behind it, on a slow disk',
    { beyondNs: -SECOND, trouble: (v0) => (v0.disk.settings = SLOW_DISK) },
    null,
  ],
  ['by a clock that was set since', { beyondNs: -SECOND, trouble: (v0) => v0.clock.stepWall(SECOND) }, null],
  ['just after its block', { beyondNs: SECOND, blockNs: SECOND - MS }, null],
  [
    'longer after its block',
    { beyondNs: SECOND + 1n, blockNs: SECOND - MS },
    `${SECOND + 1n} ns ahead of its clock`,
  ],
  ['just after its block, by its clock', { beyondNs: 0n, blockNs: -MS }, null],
  [
    'less than a millisecond after its block',
    { beyondNs: 0n, blockNs: 1n - MS },
    '1 ns earlier than its block allows',
  ],
  [
    'by its clock, which its block is ahead of',
    { beyondNs: 0n, blockNs: SECOND },
    `${SECOND + MS} ns earlier than its block allows`,
  ],
  ['by its clock, which another block is ahead of', { beyondNs: 0n, blockNs: SECOND, hash: OTHER }, null],
  [
    "by its clock, which the block of a liar's round is ahead of",
    { beyondNs: 0n, blockNs: SECOND, isProposerHonest: false },
    null,
  ],
  ['after a block that nobody was asked about', { beyondNs: SECOND }, null],
  [
    'an hour after every clock',
    { beyondNs: 3_600n * SECOND },
    `${3_600n * SECOND} ns ahead of every honest clock`,
  ],
  [
    'an hour after every clock, at the second height',
    { beyondNs: 3_600n * SECOND, height: 2n },
    `${3_600n * SECOND} ns ahead of every honest clock`,
  ],
  [
    'an hour after every clock, where half of them lie',
    { beyondNs: 3_600n * SECOND, height: 2n, liars: 2 },
    null,
  ],
  [
    'just after the block before, which liars dated',
    { beyondNs: 3_605n * SECOND, beforeNs: 3_600n * SECOND },
    null,
  ],
  ['after another block', { beyondNs: SECOND, blockNs: 0n, hash: OTHER }, null],
  ["after the block of a liar's round", { beyondNs: SECOND, blockNs: 0n, isProposerHonest: false }, null],
])(
  'a vote dated %s',
  (_, {
    beyondNs,
    hash = BLOCK,
    blockNs,
    trouble,
    isProposerHonest = true,
    liars = 0,
    height = 1n,
    beforeNs,
  }, what) => {
    const cast = makeCast({ powers: [10n, 10n, 10n, 10n] });
    const { machines, agenda } = new World({ cast, choices: new Choices({ seed: '1' }), crypto: 'sim' });
    const [v0] = machines as [Machine];
    const ghost = new GhostChain(cast.genesis);
    const proposer = ghost.set(1n)?.atRound(0);
    const said: string[] = [];
    const times = new VoteTimes(ghost, (each) => said.push(each), {
      machines,
      now: () => agenda.now,
      isHonest: (at: Machine) =>
        machines.indexOf(at) < machines.length - liars && (isProposerHonest || hexFor(at) !== proposer),
    } as never);
    agenda.runUntil(10_000e6);
    trouble?.(v0);
    const wallNs = v0.clock.wallNs();
    if (beforeNs !== undefined) vi.spyOn(ghost, 'timeNs').mockReturnValue(wallNs + beforeNs);
    if (blockNs !== undefined)
      times.asksApp({
        type: 'request',
        from: 'validator',
        tag: 1,
        request: {
          type: 'process-proposal',
          value: { hash: BLOCK, height: 1n, timeNs: wallNs + blockNs },
        },
      } as never);
    const blockId = { hash, parts: { total: 1, hash } };
    const vote = { type: PREVOTE, height, round: 0, blockId, timeNs: wallNs + beyondNs };
    times.asksSigner(v0, { type: 'sign-vote', vote: { ...vote, validatorAddress: addressFor(v0) } } as never);
    expect(said).toEqual(what === null ? [] : [`v0 dates its prevote of ${height}/0 ${what}`]);
  },
);

it.each<[string, bigint, ((v0: Machine) => void) | null, string | null]>([
  ['by its clock', 0n, null, null],
  ['by its clock, a flush ago', -MS, null, null],
  ['a second behind it', -SECOND, null, `${SECOND} ns behind its clock`],
  ['a second behind it, held back', -SECOND, (v0) => (v0.heldUntilNs = 10_000e6), null],
  ['a second behind it, on a slow disk', -SECOND, (v0) => (v0.disk.settings = SLOW_DISK), null],
  ['by a clock that was set since', SECOND, (v0) => v0.clock.stepWall(-SECOND), null],
  ['a moment ahead of it', 1n, null, '1 ns ahead of its clock'],
])('a proposal dated %s', (_, beyondNs, trouble, what) => {
  const cast = makeCast({ powers: [10n, 10n, 10n, 10n] });
  const { machines, agenda } = new World({ cast, choices: new Choices({ seed: '1' }), crypto: 'sim' });
  const [v0] = machines as [Machine];
  const said: string[] = [];
  const about = { machines, now: () => agenda.now, isHonest: () => true };
  const times = new VoteTimes(new GhostChain(cast.genesis), (each) => said.push(each), about as never);
  agenda.runUntil(10_000e6);
  trouble?.(v0);
  const timeNs = v0.clock.wallNs() + beyondNs;
  const proposal = { height: 3n, round: 1, polRound: -1, timeNs };
  times.asksSigner(v0, { type: 'sign-proposal', proposal } as never);
  expect(said).toEqual(what === null ? [] : [`v0 dates its proposal of 3/1 ${what}`]);
});
