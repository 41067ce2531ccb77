// The rules of the algorithm: each has a patch that deletes it, and each deletion is noticed by an oracle.

import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { withPatchedBuild } from '../../../runtime/cli/patch/patched-build.ts';
import { hunt } from '../../../runtime/cli/zoo/hunt.ts';
import {
  guardsOfChart,
  jobsOfRules,
  patchesOfRules,
  rowsOf,
  rulePatches,
} from '../../../runtime/cli/zoo/rule-patches.ts';
import { plays } from '../../../scenarios/index.ts';
import { isBuilt, root } from './nodecli.ts';

const CHART = join(root, 'dist/machines/consensus/chart.js');
const text = existsSync(CHART) ? readFileSync(CHART, 'utf8') : '';

/** The `upon` rules of Algorithm 1; 57, 61 and 65 are its timeouts. */
const UPON = ['L22', 'L28', 'L34', 'L36', 'L44', 'L47', 'L49', 'L55', 'L57', 'L61', 'L65'];

describe.skipIf(!isBuilt)('patches made from the chart', () => {
  it('delete each rule of the paper, and every guard of the chart is part of some', () => {
    const patches = rulePatches();
    expect(patches.map(({ id }) => id)).toEqual(expect.arrayContaining(UPON));
    const deleted = patches.flatMap(({ edits }) => edits.map(({ find }) => find)).join('');
    for (const guard of guardsOfChart()) expect(deleted).toContain(`guard: '${guard}'`);
  });

  it('take the rows of their rule, all of them, and no other', () => {
    for (const { id, edits } of rulePatches()) {
      let patched = text;
      for (const { find, replace } of edits) {
        expect(patched.split(find).length, id).toBe(2);
        patched = patched.replace(find, () => replace);
      }
      const [line, guard] = id.split('/');
      const isKept = (row: { line: string; guard: string }): boolean =>
        row.line !== line || (guard !== undefined && row.guard !== guard);
      expect(rowsOf(patched)).toEqual(rowsOf(text).filter(isKept));
    }
  });

  it('are hunted with plays that there are', () => {
    const names = plays.map(({ name }) => name);
    for (const { play } of jobsOfRules(10, 1n)) expect(names).toContain(play);
  });

  it('are refused where a row hides, or does not say its line', () => {
    const row = rowsOf(text).find(({ guard }) => guard === 'laterRound')?.text ?? '';
    expect(() => patchesOfRules(text.replace(row, row.replace('{ guard', '{\n guard')))).toThrow(
      /the rule of laterRound is not on a line of its own/,
    );
    expect(() => patchesOfRules(text.replace(row, row.replace('// L55', '')))).toThrow(
      /the row of laterRound does not say its line/,
    );
  });
});

/** So many runs at most: from this seed on each is found within them. */
const RUNS = 60;
const FROM = 120n;
const LIMIT_MS = 300_000;

describe.skipIf(!isBuilt)('without one rule of the algorithm an oracle speaks', () => {
  it.each((isBuilt ? rulePatches() : []).map((patch) => [patch.id, patch] as const))(
    '%s',
    { timeout: LIMIT_MS },
    async (_, patch) => {
      const { oracle } = await withPatchedBuild(patch, (dist) =>
        hunt(patch, dist, jobsOfRules(RUNS, FROM), { workers: 1 }),
      );
      expect(oracle).not.toBeNull();
    },
  );
});
