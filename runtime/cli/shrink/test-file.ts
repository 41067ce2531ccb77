// A saved scenario as a vitest file: it fails while the bug is there, and guards against it afterwards.

import { toJson } from '../../../sim/scenario/json.ts';
import type { Scenario } from '../../../sim/scenario/play.ts';

/** A comment is one line, whatever was said. */
const COMMENT_MAX = 100;
function inComment(text: string): string {
  const line = text.replace(/\s+/g, ' ');
  return line.length <= COMMENT_MAX ? line : `${line.slice(0, COMMENT_MAX).replace(/ [^ ]*$/, '')} …`;
}

/** Bigints as TypeScript writes them. */
const asCode = (json: string): string => json.replace(/\{\s*"\$n": "(-?[0-9]+)"\s*\}/g, '$1n');

/** Such a file may be written over with the next. */
export const TEST_MARK = '// biome-ignore-all format: written by a program';

export function testOf(scenario: Scenario): string {
  const { oracle, what, seed, commit } = scenario.origin ?? { oracle: '', what: '', seed: '1', commit: '' };
  return [
    `// ${oracle}: made small from a run of commit ${commit}, in which`,
    `// ${inComment(what)}`,
    TEST_MARK,
    '/* eslint-disable */',
    '',
    "import { runScenario, type Scenario } from 'rehearsal/sim';",
    "import { expect, test } from 'vitest';",
    '',
    `const play: Scenario = ${asCode(String(toJson(scenario)))};`,
    '',
    `test(${JSON.stringify(`${scenario.name} holds`)}, () => {`,
    `  const { violations } = runScenario(play, { seed: '${seed}' });`,
    '  expect(violations).toEqual([]);',
    '});',
    '',
  ].join('\n');
}
