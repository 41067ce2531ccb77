// Explains a violated run: which promise broke, the shortest story of how, and for who stands still what it
// waits for.

import { type Chronicle, chronicled, type Deeds } from '../chronicle.ts';
import { SECOND } from '../latency.ts';
import { PLAY, type Violation } from '../oracle.ts';
import { PROMISES } from '../oracles/promises.ts';
import type { RunOptions } from '../run-options.ts';
import type { Play } from '../scenario/play.ts';
import { actionText } from '../story.ts';
import type { StoryLine } from '../verdict.ts';
import { stallLines } from './stall.ts';

export interface Explanation {
  /** What was promised, and what happened instead. */
  readonly sentence: string;
  /** The faults, and what nodes did at the height concerned, in order; nodes that did the same share a line. */
  readonly story: readonly StoryLine[];
  /** Of each node that stands still: what would have let it go on. */
  readonly stalls: readonly string[];
}

/** Performs the run again, as its verdict says it was, and looks closer. Null: it holds. */
export function explainRun(play: Play, options: Omit<RunOptions, 'watch' | 'onWorld'>): Explanation | null {
  const { verdict, chronicle } = chronicled(play, options);
  const [violation] = verdict.violations;
  if (!violation) return null;
  return {
    sentence: sentenceOf(violation),
    story: storyOf(chronicle, violation),
    stalls: isStall(violation) ? stallsOf(chronicle, violation) : [],
  };
}

function sentenceOf(violation: Violation): string {
  const promised = PROMISES[violation.promise];
  const what = violation.what.replace(/^[a-z ]+: (?=.)/, violation.oracle === 'chain' ? '' : '$&');
  return promised ? `It was promised that ${promised}; but ${what}.` : `${what}.`;
}

/** Nobody did wrong; somebody did nothing. */
const isStall = ({ oracle, isDeed }: Violation): boolean =>
  oracle === 'liveness' || (oracle === PLAY && !isDeed);

// --- the story ---------------------------------------------------------------------------------------------

/** Faults of earlier heights, beyond which they are only counted. */
const FAULTS_TOLD = 12;

function storyOf(chronicle: Chronicle, violation: Violation): StoryLine[] {
  const height = heightOf(chronicle, violation);
  const faults = faultLines(chronicle, violation.atNs);
  const said = chronicle.deeds.filter((deed) => isTold(deed, height) && deed.atNs <= violation.atNs);
  return [castLine(chronicle), ...liarLines(chronicle), ...merged([...faults, ...said.flatMap(deedLine)])];
}

/** A violation found at a node that still works on its height speaks of that one. */
function heightOf({ machines }: Chronicle, violation: Violation): number {
  const { height, node } = violation;
  const at = machines.find((machine) => machine.name === node);
  if (!isStall(violation)) return Number(height);
  if (at) return Number(at.height) + 1;
  return machines.reduce(
    (least, machine) => Math.min(least, Number(machine.height) + 1),
    Number.MAX_SAFE_INTEGER,
  );
}

/** Deaths and second lives matter whenever they were. */
const isTold = ({ does, height, line }: Deeds, concerned: number): boolean =>
  does === 'crashes' || does === 'starts' ? line !== 'starts' : height === concerned;

function castLine({ powers }: Chronicle): StoryLine {
  const [first] = powers;
  const isEqual = powers.every((power) => power === first);
  const text = isEqual ? `power ${first} each` : `powers ${powers.join(', ')}`;
  return { atNs: 0, node: '', what: `${powers.length} validator${powers.length === 1 ? '' : 's'}, ${text}` };
}

const liarLines = ({ liars }: Chronicle): StoryLine[] =>
  liars.map(({ node, liar, to }) => ({
    atNs: 0,
    node: '',
    what: `${node} is a ${typeof liar === 'string' ? liar : 'liar of its own'} towards ${to.join(' ')}`,
  }));

/** A line, and the key under which equal ones are put together. */
type Keyed = StoryLine & { readonly key: string | null };

function faultLines({ performed, names }: Chronicle, untilNs: number): Keyed[] {
  const told = performed.filter(({ atNs }) => atNs <= untilNs);
  const last = told.slice(-FAULTS_TOLD);
  const lines = last.map(
    ({ atNs, action }): Keyed => ({ atNs, node: '', what: actionText(action, names), key: null }),
  );
  const before = told.length - last.length;
  return before === 0
    ? lines
    : [
        {
          atNs: last[0]?.atNs ?? 0,
          node: '',
          what: `(${before} fault${before === 1 ? '' : 's'} before)`,
          key: null,
        },
        ...lines,
      ];
}

const deedLine = ({ atNs, node, line }: Deeds): Keyed[] =>
  line === null ? [] : [{ atNs, node, what: line, key: line }];

/** In order of time; who does the same before the next fault shares the line of the first. */
function merged(lines: readonly Keyed[]): StoryLine[] {
  const sorted = [...lines].sort((a, b) => a.atNs - b.atNs);
  const story: { atNs: number; node: string; what: string }[] = [];
  const open = new Map<string, { atNs: number; node: string; what: string }>();
  for (const { key, ...line } of sorted) {
    if (key === null) open.clear();
    const same = key === null ? undefined : open.get(key);
    if (same && !same.node.split(' ').includes(line.node)) {
      same.what = plural(line.what);
      same.node += ` ${line.node}`;
      continue;
    }
    const fresh = { ...line };
    story.push(fresh);
    if (key !== null) open.set(key, fresh);
  }
  return story;
}

/** One prevotes, two prevote. */
const plural = (what: string): string => what.replace(/^([a-z]+)s\b/, '$1');

/** Who decided so recently goes on; longer than a height of some rounds takes. */
const RUNNING_NS = 10 * SECOND;

// --- who stands still --------------------------------------------------------------------------------------

/** The validators that got no further than the one of whom it was said, in the order of the cast. */
function stallsOf(chronicle: Chronicle, { node, oracle, atNs }: Violation): string[] {
  // A play that did not come true says nothing of a chain that runs.
  const isRunning = (name: string): boolean =>
    oracle === PLAY &&
    chronicle.deeds.some(
      (deed) => deed.node === name && deed.does === 'decides' && deed.atNs > atNs - RUNNING_NS,
    );
  const voters = chronicle.machines.filter((machine) => machine.member.publicKey !== null);
  const least = voters.reduce((low, { height }) => (height < low ? height : low), voters[0]?.height ?? 0n);
  const bound = voters.find(({ name }) => name === node)?.height ?? least;
  return voters
    .filter(({ name, height, isUp }) => height <= bound && !(isUp && isRunning(name)))
    .flatMap((machine) => stallLines(chronicle, machine));
}
