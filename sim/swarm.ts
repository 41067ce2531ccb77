// The swarm: a seed draws which faults exist in a run at all, and only then how often each happens. Chaos
// first, then everything heals,
// and all must go on. Faults left out matter as much as those put in: a rare one is seen best where the
// common ones are not.

import type { Stream } from './choices.ts';
import type { CrashHow } from './disk-door.ts';
import { MILLISECOND } from './latency.ts';
import type {
  Action,
  CrashPoint,
  Directive,
  LiarWords,
  LinkChange,
  NodeName,
  Scenario,
} from './scenario/play.ts';
import { calm, everyone, heal, height, scenario, txs } from './scenario/words.ts';

/** Chaos lasts so long; then the world heals. */
const CHAOS_MS = 45_000;
/** Large enough that a liar, who loses 1 each time it is caught, does not lose all. */
const POWER_USUAL = 1_000;
const HEIGHTS_MIN = 12;
const HEIGHTS_HEALED = 3;
/** Of clocks against each other: two seconds apart at most. */
const SKEW_MS_MAX = 1_000;
const DRIFT_PPM_MAX = 500;

const HOWS: readonly CrashHow[] = ['drawn', 'lose', 'clean'];
const POINTS: readonly Pick<CrashPoint, 'op' | 'when'>[] = [
  { op: 'send', when: 'before' },
  { op: 'send', when: 'after' },
  { op: 'sign', when: 'before' },
  { op: 'sign', when: 'after' },
  { op: 'append', when: 'before' },
  { op: 'append', when: 'inside' },
  { op: 'append', when: 'after' },
  { op: 'sync', when: 'before' },
  { op: 'flush', when: 'inside' },
  { op: 'flush', when: 'after' },
  { op: 'write', when: 'before' },
  { op: 'write', when: 'after' },
];

/** Which kinds of trouble this run knows. */
interface Exists {
  readonly links: boolean;
  readonly partitions: boolean;
  readonly cuts: boolean;
  readonly clogs: boolean;
  readonly crashes: boolean;
  readonly points: boolean;
  readonly pauses: boolean;
  readonly clocks: boolean;
  readonly disks: boolean;
  readonly liar: boolean;
  readonly powers: boolean;
}

export function swarmPlay(stream: Stream): Scenario {
  const size = stream.between(4, 7);
  const names = Array.from({ length: size }, (_, i): NodeName => `v${i}`);
  const chosen = (): boolean => stream.chance(1, 2);
  const exists: Exists = {
    links: chosen(),
    partitions: chosen(),
    cuts: chosen(),
    clogs: chosen(),
    crashes: chosen(),
    points: chosen(),
    pauses: chosen(),
    clocks: chosen(),
    disks: chosen(),
    liar: stream.chance(1, 3),
    powers: stream.chance(1, 4),
  };
  const powers = names.map(() => POWER_USUAL);
  if (chosen()) for (const i of powers.keys()) powers[i] = stream.between(100, 3_000);
  return scenario('drawn', {
    cast: { powers, ...(exists.clocks && { clocks: clocks(stream, names) }) },
    act: [...chaos(stream, names, exists), ...healing(names)],
    liars: exists.liar ? liarOf(stream, names, powers) : [],
    load: txs({ perSecond: stream.between(1, 8), size: stream.between(24, 400) }),
    ends: everyone.decides(height(HEIGHTS_MIN), { within: '500s', afterwards: HEIGHTS_HEALED }),
  });
}

function clocks(stream: Stream, names: readonly NodeName[]) {
  return Object.fromEntries(
    names.map((name) => [
      name,
      {
        skewMs: stream.between(0, 2 * SKEW_MS_MAX) - SKEW_MS_MAX,
        driftPpm: stream.between(0, 2 * DRIFT_PPM_MAX) - DRIFT_PPM_MAX,
      },
    ]),
  );
}

/** One liar with less than a third of the power, if there is such a node. */
function liarOf(stream: Stream, names: readonly NodeName[], powers: readonly number[]): LiarWords[] {
  const total = powers.reduce((sum, power) => sum + power, 0);
  const weak = names.filter((_, i) => 3 * (powers[i] as number) < total);
  if (weak.length === 0) return [];
  const node = stream.pick(weak);
  const others = names.filter((name) => name !== node);
  const to = stream.shuffle([...others]).slice(0, stream.between(1, others.length));
  const liar = stream.pick(['vote-equivocator', 'double-voter', 'proposal-equivocator']);
  return [{ node, liar, to, ppm: stream.pick([1_000_000, 300_000, 50_000]) }];
}

// --- chaos -------------------------------------------------------------------------------------------------

function chaos(stream: Stream, names: readonly NodeName[], exists: Exists): Directive[] {
  const act: Directive[] = [];
  const anyTime = (): number => stream.between(0, CHAOS_MS - 1);
  const times = (most: number, make: () => readonly Directive[]): void => {
    for (let i = stream.between(1, most); i > 0; i--) act.push(...make());
  };
  const one = (action: Action): Directive[] => [{ atMs: anyTime(), actions: [action] }];
  if (exists.links) times(2, () => one({ do: 'links', change: linkChange(stream) }));
  if (exists.partitions) times(3, () => partition(stream, names));
  if (exists.cuts) times(3, () => cut(stream, names));
  if (exists.clogs) {
    times(3, () => {
      const [from, to] = pair(stream, names);
      return one({ do: 'clog', from: [from], to: [to], forMs: stream.between(100, 5_000) });
    });
  }
  if (exists.crashes) {
    times(4, () =>
      one({
        do: 'crash',
        node: stream.pick(names),
        how: stream.pick(HOWS),
        restartMs: stream.between(0, 8_000),
      }),
    );
  }
  if (exists.points) {
    times(6, () => {
      const { op, when } = stream.pick(POINTS);
      const restartMs = stream.between(0, 8_000);
      const nth = stream.between(1, 40);
      return one({
        do: 'crash-at',
        node: stream.pick(names),
        op,
        when,
        nth,
        how: stream.pick(HOWS),
        restartMs,
      });
    });
  }
  if (exists.pauses)
    times(3, () => one({ do: 'pause', node: stream.pick(names), forMs: stream.between(50, 8_000) }));
  if (exists.disks) times(2, () => one({ do: 'disk', node: stream.pick(names), disk: 'slow' }));
  if (exists.powers) {
    times(3, () =>
      one({
        do: 'empower',
        node: stream.pick(names),
        power: stream.between(POWER_USUAL / 2, POWER_USUAL * 2),
        via: stream.pick(names),
      }),
    );
  }
  return act;
}

function linkChange(stream: Stream): LinkChange {
  const latency =
    stream.draw(2) === 0
      ? { kind: 'uniform' as const, minNs: MILLISECOND, maxNs: stream.between(2, 300) * MILLISECOND }
      : { kind: 'exponential' as const, minNs: MILLISECOND, meanNs: stream.between(1, 80) * MILLISECOND };
  const maybe = (most: number): number => (stream.draw(2) === 0 ? 0 : stream.between(1, most));
  return {
    latency,
    lossPpm: maybe(80_000),
    duplicatePpm: maybe(80_000),
    reorderPpm: maybe(100_000),
    corruptPpm: maybe(2_000),
    bytesPerSecond: stream.draw(4) === 0 ? stream.between(50_000, 1_000_000) : 0,
  };
}

function pair(stream: Stream, names: readonly NodeName[]): [NodeName, NodeName] {
  const [a, b] = stream.shuffle([...names]);
  return [a as NodeName, b as NodeName];
}

/** Breaks the network for a while; a later heal mends it, whoever broke it. */
function forAWhile(stream: Stream, action: Action): Directive[] {
  const atMs = stream.between(0, CHAOS_MS - 1);
  const untilMs = Math.min(CHAOS_MS, atMs + stream.between(200, 20_000));
  return [
    { atMs, actions: [action] },
    { atMs: untilMs, actions: [heal()] },
  ];
}

function partition(stream: Stream, names: readonly NodeName[]): Directive[] {
  const shuffled = stream.shuffle([...names]);
  const first = shuffled.slice(0, stream.between(1, names.length - 1));
  return forAWhile(stream, { do: 'partition', groups: [first] });
}

function cut(stream: Stream, names: readonly NodeName[]): Directive[] {
  const [from, to] = pair(stream, names);
  return forAWhile(stream, { do: 'cut', from: [from], to: [to] });
}

const healing = (names: readonly NodeName[]): Directive[] => [
  {
    atMs: CHAOS_MS,
    actions: [heal(), calm(), ...names.map((node): Action => ({ do: 'disk', node, disk: 'good' }))],
  },
];
