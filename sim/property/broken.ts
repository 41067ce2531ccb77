// What a property says when a promise breaks: which one, and the line that runs the same again.

import type { Liar } from '../liars/liar.ts';
import { toJson } from '../scenario/json.ts';
import { ownParts } from '../scenario/own.ts';
import type { Scenario } from '../scenario/play.ts';
import type { Verdict } from '../verdict.ts';

const NS_PER_SECOND = 1_000_000_000;
const FILE = 'broken.json';

/** A scenario that does not hold; fast-check keeps it as the cause of its own error. */
export class BrokenPromise extends Error {
  override name = 'BrokenPromise';
  readonly scenario: Scenario;
  readonly verdict: Verdict;

  constructor(scenario: Scenario, verdict: Verdict) {
    super([...verdict.violations.map(violationText), ...againLines(scenario, verdict.seed)].join('\n'));
    this.scenario = scenario;
    this.verdict = verdict;
  }
}

const violationText = ({ oracle, what, node, atNs, height }: Verdict['violations'][number]): string =>
  `${oracle}: ${what} (${node === '' ? 'nobody’s' : node}, height ${height}, ${(atNs / NS_PER_SECOND).toFixed(3)} s)`;

function againLines(scenario: Scenario, seed: string): string[] {
  if (ownParts(scenario).length === 0)
    return [
      `again: npx nodecli sim run ${FILE} --seed ${seed}, with ${FILE}:`,
      JSON.stringify(JSON.parse(String(toJson(scenario)))),
    ];
  return [
    `again, where these names are your own functions: runScenario(play, { seed: '${seed}' }), with const play =`,
    literalOf(scenario),
  ];
}

/** As a program writes it, in one line: functions by the name of their field, and a number where there may be several (liar0, oracle0). */
function literalOf(scenario: Scenario): string {
  const bare = '\u0000';
  const liars = [...new Set(scenario.liars.map(({ liar }) => liar))].filter(
    (liar) => typeof liar === 'function',
  );
  const nameOf = (field: string, own: object): string => {
    if (field === 'liar') return `liar${liars.indexOf(own as Liar)}`;
    return /^[0-9]/.test(field) ? `oracle${field}` : field;
  };
  const text = JSON.stringify(scenario, (field, value: unknown) => {
    if (typeof value === 'bigint') return `${bare}${value}n`;
    return typeof value === 'function' ? `${bare}${nameOf(field, value)}` : value;
  });
  return text.replace(/"\\u0000([^"]*)"/g, '$1');
}
