// How soon each planted bug is found, over several base seeds: the league table of `sim zoo`, and the line below it.

import { medianOf } from '../telling.ts';
import { type Outcome, SOON } from './hunt.ts';

/** One build, hunted through from every base seed. */
export interface Place {
  readonly mutant: string;
  readonly name: string;
  /** Base seeds, and from how many of them an oracle spoke. */
  readonly bases: number;
  readonly killed: number;
  /** Who spoke first, and from how many base seeds; most often first. */
  readonly oracles: readonly { readonly oracle: string; readonly times: number }[];
  /** Runs until an oracle spoke: the fewest, the middle, the most. Null: nobody spoke in as many as there were. */
  readonly runs: {
    readonly least: number | null;
    readonly median: number | null;
    readonly most: number | null;
  };
  /** Seconds of one core that these runs take, in the middle, the silent ones among them. */
  readonly seconds: number;
  /** All runs together: what a control has stood. */
  readonly runsMade: number;
  readonly isGood: boolean;
}

/** @param outcomes of one build, one for each base seed. */
export function placeOf(outcomes: readonly Outcome[]): Place {
  const [first] = outcomes as readonly [Outcome, ...Outcome[]];
  const killed = outcomes.filter(({ oracle }) => oracle !== null);
  const runs = outcomes.map(({ oracle, seeds }) => (oracle === null ? Number.POSITIVE_INFINITY : seeds));
  const known = (count: number): number | null => (Number.isFinite(count) ? count : null);
  return {
    mutant: first.mutant,
    name: first.name,
    bases: outcomes.length,
    killed: killed.length,
    oracles: timesOf(killed.map(({ oracle }) => oracle as string)),
    runs: {
      least: known(Math.min(...runs)),
      median: known(medianOf(runs)),
      most: known(Math.max(...runs)),
    },
    seconds: medianOf(outcomes.map(({ seconds }) => seconds)),
    runsMade: outcomes.reduce((sum, { seeds }) => sum + seeds, 0),
    isGood: outcomes.every(({ isGood }) => isGood),
  };
}

function timesOf(names: readonly string[]): Place['oracles'] {
  const times = new Map<string, number>();
  for (const name of names) times.set(name, (times.get(name) ?? 0) + 1);
  const rows = [...times].map(([oracle, count]) => ({ oracle, times: count }));
  return rows.sort((a, b) => b.times - a.times || (a.oracle < b.oracle ? -1 : 1));
}

// --- as a table ----------------------------------------------------------------------------------------------

export const LEAGUE_HEAD = '    id    found  runs (from - to)        seconds  who speaks first';

export function rowOf(place: Place): string {
  const { mutant, bases, killed, oracles, runs, seconds, runsMade, isGood, name } = place;
  const told = (count: number | null): string => String(count ?? 'more');
  const span =
    killed === 0 ? `none in ${runsMade}` : `${told(runs.median)} (${told(runs.least)} - ${told(runs.most)})`;
  const who = oracles.map(({ oracle, times }) => (oracles.length > 1 ? `${oracle} ${times}` : oracle));
  return [
    isGood ? 'ok ' : 'BAD',
    mutant.padEnd(5),
    `${killed}/${bases}`.padEnd(6),
    span.padEnd(23),
    seconds.toFixed(1).padStart(7),
    ` ${who.join(', ') || 'nobody'}: ${name}`,
  ].join(' ');
}

export const isControl = ({ mutant }: { readonly mutant: string }): boolean => /^C[0-9]/.test(mutant);

/** How soon, over all that are no controls: lines, none where these are too few to say. */
export function summaryOf(places: readonly Place[]): string[] {
  const mutants = places.filter((place) => !isControl(place));
  if (mutants.length < 2) return [];
  const found = mutants.filter(({ killed, bases }) => killed === bases);
  const soon = found.filter(({ runs }) => (runs.median ?? Number.POSITIVE_INFINITY) <= SOON);
  const bases = mutants[0]?.bases ?? 1;
  const seconds = medianOf(found.map((place) => place.seconds)).toFixed(1);
  const everywhere = bases > 1 ? ` from each of ${bases} base seeds` : '';
  const silent = mutants.filter(({ killed, bases: of }) => killed < of).map(({ mutant }) => mutant);
  return [
    `${found.length} of ${mutants.length} mutants killed by an oracle${everywhere}, ${soon.length} of them within ${SOON} runs; ` +
      `half of them within ${medianOf(found.map(({ runs }) => runs.median ?? 0))}, ${seconds} s of a core`,
    ...(silent.length > 0
      ? [`not killed${bases > 1 ? ' from every base seed' : ''}: ${silent.join(' ')}`]
      : []),
  ];
}
