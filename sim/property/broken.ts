// What a property says when a promise breaks: which one, and the line that runs the same again.

import { ownParts, toJson } from '../scenario/json.ts';
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
  const own = ownParts(scenario);
  const json = plainJson(scenario);
  if (own.length === 0) return [`again: npx nodecli sim run ${FILE} --seed ${seed}, with ${FILE}:`, json];
  const fields = own.map((part) => part.slice(0, part.indexOf(':'))).join(', ');
  return [`again: runScenario(play, { seed: '${seed}' }), your own ${fields} put back into this play:`, json];
}

/** Whatever of it JSON can hold, in one line. */
function plainJson({ oracles, ...scenario }: Scenario): string {
  const { app, liars, load } = scenario;
  const { make, ...pace } = load ?? { size: 0 };
  const plain: Scenario = {
    ...scenario,
    app: typeof app === 'string' ? app : 'own',
    liars: liars.map((words) => (typeof words.liar === 'string' ? words : { ...words, liar: 'own' })),
    ...(load && { load: pace }),
  };
  return JSON.stringify(JSON.parse(String(toJson(plain))));
}
