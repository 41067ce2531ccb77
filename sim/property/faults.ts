// The faults of a drawn play, each by itself: what fast-check makes smaller is what a directive says, and which
// of them there are. Nodes are numbers that wrap around the cast, so that a smaller cast keeps its faults.

import fc from 'fast-check';
import { MILLISECOND } from '../latency.ts';
import type { Action, Directive, LinkChange, MessageKind, NodeName } from '../scenario/play.ts';
import { heal } from '../scenario/words.ts';
import { CRASH_POINTS } from '../swarm/chaos.ts';
import { someNode } from './people.ts';

export const FAULTS = [
  'links',
  'partition',
  'cut',
  'clog',
  'reset',
  'rule',
  'deaf',
  'crash',
  'crash-at',
  'pause',
  'clock',
  'disk',
  'signer',
  'application',
] as const;

/** `deaf`: many hear no proposal in the first rounds of a height; the others are named after their directives. */
export type FaultKind = (typeof FAULTS)[number];

/** What it comes to in a cast of these; nothing where it makes no sense. */
export type Fault = (names: readonly NodeName[]) => readonly Directive[];

/** Trouble begins within so long: a calm height takes a quarter of a second. */
const BEGINS_MS = 2_000;
/** A clock goes ahead by so much at most: whoever set one back would find blocks of its own future. */
const STEP_MS_MAX = 4_000;
const RESTART_MS_MAX = 3_000;
const HEIGHTS_RULED = 5;
const ROUNDS_RULED = 3;
/** One in so many stays down, or stands still, until the core is healed, or for ever. */
const LASTING_ONE_IN = 8;

const RULED: readonly MessageKind[] = ['prevotes', 'precommits', 'proposals', 'parts', 'everything'];
const PPM_MAX = 80_000;

// --- pieces ------------------------------------------------------------------------------------------------

const begins = fc.nat({ max: BEGINS_MS });
const some = fc.array(someNode, { minLength: 1, maxLength: 5 });
const how = fc.constantFrom('clean' as const, 'lose' as const, 'drawn' as const);
const upTo = (max: number): fc.Arbitrary<number> => fc.integer({ min: 1, max });
/** In half of the cases. */
const maybe = <T>(arbitrary: fc.Arbitrary<T>): fc.Arbitrary<T | undefined> =>
  fc.option(arbitrary, { freq: 2, nil: undefined });
const mostly = (max: number): fc.Arbitrary<number | undefined> =>
  fc.option(fc.nat({ max }), { freq: LASTING_ONE_IN, nil: undefined });

const nameOf = (names: readonly NodeName[], i: number): NodeName => names[i % names.length] as NodeName;
/** Each once, and never all of them. */
const namesOf = (names: readonly NodeName[], numbers: readonly number[]): NodeName[] =>
  [...new Set(numbers.map((i) => nameOf(names, i)))].slice(0, Math.max(1, names.length - 1));
const given = <T>(field: string, value: T | undefined): object =>
  value === undefined ? {} : { [field]: value };

const once = (atMs: number, ...actions: Action[]): readonly Directive[] => [{ atMs, actions }];
/** Breaks something and mends it so much later, unless chaos is over by then. */
const forAWhile = (atMs: number, forMs: number, broken: Action, mended: readonly Action[]): Directive[] => [
  { atMs, actions: [broken] },
  { atMs: atMs + forMs, actions: mended },
];
const NOTHING: readonly Directive[] = [];
const ofMany =
  (fault: Fault): Fault =>
  (names) =>
    names.length > 1 ? fault(names) : NOTHING;

// --- between nodes -----------------------------------------------------------------------------------------

const latency = fc.oneof(
  { withCrossShrink: true },
  upTo(300).map((ms) => ({ kind: 'uniform' as const, minNs: MILLISECOND, maxNs: (ms + 1) * MILLISECOND })),
  upTo(80).map((ms) => ({ kind: 'exponential' as const, minNs: MILLISECOND, meanNs: ms * MILLISECOND })),
);
const linkChange: fc.Arbitrary<LinkChange> = fc
  .record({
    latency: maybe(latency),
    lossPpm: maybe(upTo(PPM_MAX)),
    duplicatePpm: maybe(upTo(PPM_MAX)),
    reorderPpm: maybe(upTo(PPM_MAX)),
    corruptPpm: maybe(upTo(2_000)),
    bytesPerSecond: maybe(fc.integer({ min: 50_000, max: 1_000_000 })),
  })
  .map((change) => Object.fromEntries(Object.entries(change).filter(([, value]) => value !== undefined)));

const links = fc
  .record({ atMs: begins, change: linkChange })
  .map(({ atMs, change }) =>
    Object.keys(change).length === 0 ? () => NOTHING : ofMany(() => once(atMs, { do: 'links', change })),
  );

const partition = fc
  .record({ atMs: begins, forMs: upTo(6_000), group: some })
  .map(({ atMs, forMs, group }) =>
    ofMany((names) => forAWhile(atMs, forMs, { do: 'partition', groups: [namesOf(names, group)] }, [heal()])),
  );

const pair = fc.record({ atMs: begins, from: someNode, away: someNode });
/** Two nodes, never the same. */
const both = (names: readonly NodeName[], from: number, away: number): [NodeName, NodeName] => [
  nameOf(names, from),
  nameOf(names, (from % names.length) + 1 + (away % (names.length - 1))),
];

const cut = fc.tuple(pair, upTo(6_000)).map(([{ atMs, from, away }, forMs]) =>
  ofMany((names) => {
    const [a, b] = both(names, from, away);
    return forAWhile(atMs, forMs, { do: 'cut', from: [a], to: [b] }, [heal()]);
  }),
);
const clog = fc.tuple(pair, upTo(4_000)).map(([{ atMs, from, away }, forMs]) =>
  ofMany((names) => {
    const [a, b] = both(names, from, away);
    return once(atMs, { do: 'clog', from: [a], to: [b], forMs });
  }),
);
const reset = pair.map(({ atMs, from, away }) =>
  ofMany((names) => once(atMs, { do: 'reset', nodes: both(names, from, away) })),
);

/** Some kind of message does not come, or comes late: in one round, or in one height, or at all. */
const rule = fc
  .record({
    atMs: begins,
    forMs: upTo(4_000),
    what: fc.constantFrom(...RULED),
    delayMs: maybe(fc.integer({ min: 50, max: 2_000 })),
    to: some,
    source: maybe(some),
    height: maybe(upTo(HEIGHTS_RULED)),
    round: maybe(fc.nat({ max: ROUNDS_RULED - 1 })),
  })
  .map(({ atMs, forMs, what, delayMs, to, source, height, round }) =>
    ofMany((names) => {
      const place = what === 'everything' ? {} : { ...given('height', height), ...given('round', round) };
      const isVote = what === 'prevotes' || what === 'precommits';
      const whose = source && { [isVote ? 'by' : 'from']: namesOf(names, source) };
      const effect = delayMs === undefined ? ('drop' as const) : { delayMs };
      const action: Action = { do: 'rule', what, effect, to: namesOf(names, to), ...whose, ...place };
      return forAWhile(atMs, forMs, action, [heal()]);
    }),
  );

/** In the first rounds of a height many hear no proposal, or not all parts of it: later rounds begin. */
const deaf = fc
  .record({
    what: fc.constantFrom('proposals' as const, 'parts' as const),
    height: upTo(HEIGHTS_RULED),
    rounds: upTo(ROUNDS_RULED),
    to: fc.array(someNode, { minLength: 2, maxLength: 6 }),
  })
  .map(({ what, height, rounds, to }) =>
    ofMany((names) => {
      const ruled = (round: number): Action => ({
        do: 'rule',
        what,
        effect: 'drop',
        to: namesOf(names, to),
        height,
        round,
      });
      return once(0, ...Array.from({ length: rounds }, (_, round) => ruled(round)));
    }),
  );

// --- of a node ---------------------------------------------------------------------------------------------

const crash = fc.record({ atMs: begins, node: someNode, how, restartMs: mostly(RESTART_MS_MAX) }).map(
  ({ atMs, node, how, restartMs }): Fault =>
    (names) =>
      once(atMs, { do: 'crash', node: nameOf(names, node), how, ...given('restartMs', restartMs) }),
);

const crashAt = fc
  .record({
    atMs: begins,
    node: someNode,
    how,
    restartMs: mostly(RESTART_MS_MAX),
    place: fc.constantFrom(...CRASH_POINTS),
    nth: upTo(40),
  })
  .map(
    ({ atMs, node, how, restartMs, place, nth }): Fault =>
      (names) => {
        const back = given('restartMs', restartMs);
        return once(atMs, { do: 'crash-at', node: nameOf(names, node), how, ...place, nth, ...back });
      },
  );

const pause = fc.record({ atMs: begins, node: someNode, forMs: mostly(4_000) }).map(
  ({ atMs, node, forMs }): Fault =>
    (names) =>
      once(atMs, { do: 'pause', node: nameOf(names, node), ...given('forMs', forMs) }),
);

const clock = fc
  .record({ atMs: begins, node: someNode, stepMs: upTo(STEP_MS_MAX), frozenMs: mostly(4_000) })
  .map(
    ({ atMs, node: i, stepMs, frozenMs }): Fault =>
      (names) => {
        const node = nameOf(names, i);
        if (frozenMs === undefined) return once(atMs, { do: 'clock', node, stepMs });
        const thaws: Action = { do: 'clock', node, frozen: false };
        return forAWhile(atMs, frozenMs, { do: 'clock', node, frozen: true }, [thaws]);
      },
  );

/** A full disk ends the node; it starts again when there is room. */
const disk = fc.record({ atMs: begins, node: someNode, fullMs: maybe(upTo(3_000)) }).map(
  ({ atMs, node: i, fullMs }): Fault =>
    (names) => {
      const node = nameOf(names, i);
      if (fullMs === undefined) return once(atMs, { do: 'disk', node, disk: 'slow' });
      const mended: Action[] = [
        { do: 'disk', node, disk: 'good' },
        { do: 'restart', node },
      ];
      return forAWhile(atMs, fullMs, { do: 'disk', node, disk: 'full' }, mended);
    },
);

/** Its key, or its application, takes its time: for a while or for ever. */
const signer = fc.record({ atMs: begins, node: someNode, takesMs: upTo(1_000), forMs: mostly(4_000) }).map(
  ({ atMs, node: i, takesMs, forMs }): Fault =>
    (names) => {
      const node = nameOf(names, i);
      const slow: Action = { do: 'signer', node, takesMs };
      return forMs === undefined
        ? once(atMs, slow)
        : forAWhile(atMs, forMs, slow, [{ do: 'signer', node, takesMs: 0 }]);
    },
);
const application = fc
  .record({
    atMs: begins,
    node: someNode,
    blocksMs: fc.nat({ max: 500 }),
    checksMs: fc.nat({ max: 50 }),
    forMs: mostly(4_000),
  })
  .map(
    ({ atMs, node: i, blocksMs, checksMs, forMs }): Fault =>
      (names) => {
        const node = nameOf(names, i);
        const slow: Action = { do: 'application', node, blocksMs, checksMs };
        const mended: Action = { do: 'application', node, blocksMs: 0, checksMs: 0 };
        return forMs === undefined ? once(atMs, slow) : forAWhile(atMs, forMs, slow, [mended]);
      },
  );

const BY_KIND: Readonly<Record<FaultKind, fc.Arbitrary<Fault>>> = {
  links,
  partition,
  cut,
  clog,
  reset,
  rule,
  deaf,
  crash,
  'crash-at': crashAt,
  pause,
  clock,
  disk,
  signer,
  application,
};

/** So many at most. Which kinds there are at all is drawn by itself: a rare one shows best without the others. */
export function faultsOf(kinds: readonly FaultKind[], most: number): fc.Arbitrary<readonly Fault[]> {
  if (kinds.length === 0) return fc.constant([]);
  const one = fc.oneof(...kinds.map((kind) => BY_KIND[kind].map((fault) => ({ kind, fault }))));
  return fc
    .tuple(fc.array(one, { maxLength: most }), fc.subarray([...kinds], { minLength: 1 }))
    .map(([drawn, chosen]) => drawn.filter(({ kind }) => chosen.includes(kind)).map(({ fault }) => fault));
}
