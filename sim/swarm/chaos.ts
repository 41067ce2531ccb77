// Draws the trouble of a swarm run: for each kind that exists in it, some of it, at drawn times and places.

import type { Stream } from '../choices.ts';
import type { CrashHow } from '../disk-door.ts';
import { MILLISECOND } from '../latency.ts';
import type {
  Action,
  CastWords,
  CrashPoint,
  Directive,
  LinkChange,
  MessageKind,
  NodeName,
} from '../scenario/play.ts';
import { heal } from '../scenario/words.ts';
import type { People } from './people.ts';

/** Which kinds of trouble a run knows. */
export interface Chaos {
  readonly links: boolean;
  readonly partitions: boolean;
  readonly cuts: boolean;
  readonly clogs: boolean;
  readonly resets: boolean;
  readonly rules: boolean;
  readonly deafness: boolean;
  readonly crashes: boolean;
  readonly points: boolean;
  readonly pauses: boolean;
  readonly clocks: boolean;
  readonly disks: boolean;
}

export const NO_CHAOS: Chaos = {
  links: false,
  partitions: false,
  cuts: false,
  clogs: false,
  resets: false,
  rules: false,
  deafness: false,
  crashes: false,
  points: false,
  pauses: false,
  clocks: false,
  disks: false,
};

/** Trouble begins within so long: calm heights take a second or so, and five of them may end it. */
const BEGINS_MS = 8_000;
/** Any two clocks are at most 30 s apart: twice this as they begin, and two changes, each a step or a stop. */
const SKEW_MS_MAX = 10_000;
const STEP_MS_MAX = 4_000;
const STOP_MS_MAX = 4_500;
const DRIFT_PPM_MAX = 500;
const RESTART_MS_MAX = 8_000;
const HEIGHTS_RULED = 5;
const ROUNDS_RULED = 3;

const HOWS: readonly CrashHow[] = ['drawn', 'lose', 'clean'];
/** Where a node can die around an effect. */
export const CRASH_POINTS: readonly Pick<CrashPoint, 'op' | 'when'>[] = [
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
const RULED: readonly MessageKind[] = ['proposals', 'parts', 'prevotes', 'precommits', 'everything'];

/** Clocks as they begin: far apart, and of different speeds. */
export function clocksOf(stream: Stream, names: readonly NodeName[]): NonNullable<CastWords['clocks']> {
  const around = (most: number): number => stream.between(0, 2 * most) - most;
  return Object.fromEntries(
    names.map((name) => [name, { skewMs: around(SKEW_MS_MAX), driftPpm: around(DRIFT_PPM_MAX) }]),
  );
}

export function drawChaos(stream: Stream, people: People, chaos: Chaos): Directive[] {
  const drawn = new ChaosDraw(stream, people);
  if (people.names.length > 1) {
    if (chaos.links) drawn.times(2, () => drawn.once({ do: 'links', change: linkChange(stream, people) }));
    if (chaos.partitions) drawn.times(3, () => drawn.partition());
    if (chaos.cuts) drawn.times(3, () => drawn.cut());
    if (chaos.clogs) drawn.times(3, () => drawn.clog());
    if (chaos.resets) drawn.times(3, () => drawn.once({ do: 'reset', nodes: drawn.pair() }));
    if (chaos.rules) drawn.times(4, () => drawn.rule());
    if (chaos.deafness) drawn.deafness();
  }
  if (chaos.crashes) drawn.times(3, () => drawn.once({ do: 'crash', ...drawn.death() }));
  if (chaos.points) drawn.times(6, () => drawn.crashPoint());
  if (chaos.pauses) drawn.times(3, () => drawn.pause());
  if (chaos.clocks) drawn.times(2, () => drawn.clockChange());
  if (chaos.disks) drawn.times(2, () => drawn.disk());
  for (const { node, power } of people.changes) {
    drawn.once({ do: 'empower', node, power, via: stream.pick(people.names) });
  }
  return drawn.act;
}

/**
 * Bytes change only where no validator changes are asked for: they are transactions that nobody signs, and one flipped bit
 * would give the power to a key that nobody has.
 */
function linkChange(stream: Stream, { changes }: People): LinkChange {
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
    corruptPpm: changes.length > 0 ? 0 : maybe(2_000),
    bytesPerSecond: stream.draw(4) === 0 ? stream.between(50_000, 1_000_000) : 0,
  };
}

class ChaosDraw {
  readonly act: Directive[] = [];
  private readonly stream: Stream;
  private readonly names: readonly NodeName[];

  constructor(stream: Stream, { names }: People) {
    this.stream = stream;
    this.names = names;
  }

  times(most: number, add: () => void): void {
    for (let i = this.stream.between(1, most); i > 0; i--) add();
  }

  once(...actions: Action[]): void {
    this.act.push({ atMs: this.stream.draw(BEGINS_MS), actions });
  }

  /** Breaks something and mends it so much later, unless chaos is over by then. */
  private forAWhile(mostMs: number, broken: Action, mended: readonly Action[]): void {
    const atMs = this.stream.draw(BEGINS_MS);
    this.act.push({ atMs, actions: [broken] });
    this.act.push({ atMs: atMs + this.stream.between(200, mostMs), actions: mended });
  }

  private get one(): NodeName {
    return this.stream.pick(this.names);
  }

  pair(): [NodeName, NodeName] {
    const [a, b] = this.stream.shuffle([...this.names]);
    return [a as NodeName, b as NodeName];
  }

  private some(most: number): NodeName[] {
    return this.stream.shuffle([...this.names]).slice(0, this.stream.between(1, most));
  }

  partition(): void {
    this.forAWhile(20_000, { do: 'partition', groups: [this.some(this.names.length - 1)] }, [heal()]);
  }

  cut(): void {
    const [from, to] = this.pair();
    this.forAWhile(20_000, { do: 'cut', from: [from], to: [to] }, [heal()]);
  }

  clog(): void {
    const [from, to] = this.pair();
    this.once({ do: 'clog', from: [from], to: [to], forMs: this.stream.between(100, 5_000) });
  }

  /** In the first rounds of some heights many hear no proposal, or not all parts of it: later rounds begin. */
  deafness(): void {
    const { stream, names } = this;
    const heights = stream
      .shuffle(Array.from({ length: HEIGHTS_RULED }, (_, i) => i + 1))
      .slice(0, stream.between(2, HEIGHTS_RULED));
    const actions = heights.flatMap((height) => {
      const what = stream.pick(['proposals', 'parts'] as const);
      const to = stream.shuffle([...names]).slice(Math.floor(names.length / 3));
      const rounds = stream.between(1, ROUNDS_RULED);
      return Array.from(
        { length: rounds },
        (_, round): Action => ({ do: 'rule', what, effect: 'drop', to, height, round }),
      );
    });
    this.act.push({ atMs: 0, actions });
  }

  /** Some kind of message does not come, or comes late: in one round, or in one height, or at all. */
  rule(): void {
    const { stream, names } = this;
    const what = stream.pick(RULED);
    const isVote = what === 'prevotes' || what === 'precommits';
    const isPlaced = what !== 'everything';
    const rule: Action = {
      do: 'rule',
      what,
      effect: stream.chance(3, 4) ? 'drop' : { delayMs: stream.between(50, 6_000) },
      to: this.some(Math.max(1, names.length - 1)),
      ...(isVote && stream.chance(1, 2)
        ? { by: this.some(names.length - 1) }
        : { from: this.some(names.length - 1) }),
      ...(isPlaced && stream.chance(1, 2) && { height: stream.between(1, HEIGHTS_RULED) }),
      ...(isPlaced && stream.chance(2, 3) && { round: stream.draw(ROUNDS_RULED) }),
    };
    this.forAWhile(12_000, rule, [heal()]);
  }

  /** One in eight stays down until the core is healed, or for ever. */
  death(): { node: NodeName; how: CrashHow; restartMs?: number } {
    const { stream } = this;
    const back = stream.chance(7, 8) ? { restartMs: stream.draw(RESTART_MS_MAX) } : {};
    return { node: this.one, how: stream.pick(HOWS), ...back };
  }

  crashPoint(): void {
    const { op, when } = this.stream.pick(CRASH_POINTS);
    this.once({ do: 'crash-at', op, when, nth: this.stream.between(1, 40), ...this.death() });
  }

  pause(): void {
    const forMs = this.stream.chance(1, 8) ? {} : { forMs: this.stream.between(50, 8_000) };
    this.once({ do: 'pause', node: this.one, ...forMs });
  }

  /** Only ahead: whoever set a clock back would find blocks of its own future, and nothing is wrong with them. */
  clockChange(): void {
    const node = this.one;
    if (this.stream.chance(1, 2)) {
      this.once({ do: 'clock', node, stepMs: this.stream.between(1, STEP_MS_MAX) });
    } else
      this.forAWhile(STOP_MS_MAX, { do: 'clock', node, frozen: true }, [
        { do: 'clock', node, frozen: false },
      ]);
  }

  /** A full disk ends the node; it starts again when there is room. */
  disk(): void {
    const node = this.one;
    if (this.stream.chance(1, 2)) return this.once({ do: 'disk', node, disk: 'slow' });
    const mended: Action[] = [
      { do: 'disk', node, disk: 'good' },
      { do: 'restart', node },
    ];
    this.forAWhile(8_000, { do: 'disk', node, disk: 'full' }, mended);
  }
}
