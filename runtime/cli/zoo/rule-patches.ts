// The rules of the algorithm, each deleted in turn: patches made from the chart itself, so that a rule that is
// added is deleted, too, and none can be forgotten.

import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { consensusChart } from '../../../machines/consensus/chart.ts';
import type { Edit } from '../patch/edit.ts';
import type { Patch } from '../patch/patch-file.ts';
import { CliError, EXIT, packageFolder } from '../usage.ts';
import type { Job } from '../workers/job.ts';

const CHART = 'machines/consensus/chart.js';

/** Plays that need the rules which a calm chain, and most of a swarm, can do without. Their seed is the first. */
const PLAYS = ['tour', 'valid-value-reproposed', 'hidden-lock', 'older-polka-refused', 'late-polka-is-valid'];

/** These plays first, then swarms. */
export const jobsOfRules = (count: number, from: bigint): Job[] =>
  Array.from({ length: count }, (_, i) => ({ play: PLAYS[i] ?? 'swarm', seed: String(from + BigInt(i)) }));

/** A row of the chart as the build has it: what sees, what follows, and the rule's line of the paper behind it. */
interface Row {
  readonly line: string;
  readonly guard: string;
  readonly what: string;
  /** Its whole line of the file: rows that say the same stand in several steps. */
  readonly text: string;
  readonly without: string;
}

const ROW = /\{ guard: '(\w+)',([^{}]*)\},?/;

/** The rows of a chart's text, in its order. */
export function rowsOf(text: string): Row[] {
  return text.split('\n').flatMap((whole) => {
    const row = ROW.exec(whole);
    if (!row) return [];
    const [literal, guard = '', follows = ''] = row;
    const line = /\/\/ (L[0-9]+)/.exec(whole)?.[1] ?? '';
    const actions = [...(/actions: (\[[^\]]*\]|'\w+')/.exec(follows)?.[1]?.matchAll(/\w+/g) ?? [])].join(
      ', ',
    );
    return [{ line, guard, what: `${guard}: ${actions}`, text: whole, without: whole.replace(literal, '') }];
  });
}

/** Every rule without any of its rows; and, where it has several outcomes, without each of them. */
export function patchesOfRules(text: string): Patch[] {
  const rows = rowsOf(text);
  checkWhole(rows);
  const lines = [...new Set(rows.map(({ line }) => line))].sort(
    (a, b) => Number(a.slice(1)) - Number(b.slice(1)),
  );
  return lines.flatMap((line) => {
    const ofRule = rows.filter((row) => row.line === line);
    const guards = [...new Set(ofRule.map(({ guard }) => guard))];
    const outcomes = guards.length < 2 ? [] : guards;
    return [
      patch(line, ofRule),
      ...outcomes.map((guard) =>
        patch(
          `${line}/${guard}`,
          ofRule.filter((row) => row.guard === guard),
        ),
      ),
    ];
  });
}

function patch(id: string, rows: readonly Row[]): Patch {
  const edits = rows.map(
    ({ text, without }): Edit => ({ file: CHART, find: `\n${text}\n`, replace: `\n${without}\n` }),
  );
  const name = `without ${[...new Set(rows.map(({ what }) => what))].join('; ')}`;
  const why = 'A rule of the paper is gone: somebody must notice.';
  return { id, name, edits, why, oracles: [], isHarmless: false, isCanary: false, engines: [] };
}

/** What the chart does is asked of the chart: a row that the text hides would never be deleted. */
function checkWhole(rows: readonly Row[]): void {
  for (const { guard, line } of rows)
    if (line === '')
      throw new CliError(
        `${CHART}: the row of ${guard} does not say its line of the paper (// L55)`,
        EXIT.violated,
      );
  const found = rows.map(({ guard }) => guard);
  for (const guard of guardsOfChart()) {
    if (!found.includes(guard))
      throw new CliError(
        `${CHART}: the rule of ${guard} is not on a line of its own, so it cannot be deleted`,
        EXIT.violated,
      );
  }
}

/** All guards that some step of the chart looks at. */
export function guardsOfChart(): string[] {
  const guards = Object.values(consensusChart.states).flatMap((state) =>
    [...state.transitions.values()].flat().map(({ guard }) => String(guard)),
  );
  return [...new Set(guards)];
}

/** Of our build. */
export function rulePatches(): Patch[] {
  const path = join(packageFolder, 'dist', CHART);
  if (!existsSync(path)) throw new CliError(`${path} is missing: run npm run build`);
  return patchesOfRules(readFileSync(path, 'utf8'));
}
