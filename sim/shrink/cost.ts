// Which of two scenarios is the smaller story: fewer directives, then fewer heights and nodes, then fewer
// words.

import { textOf } from '../scenario/json.ts';
import type { Scenario } from '../scenario/play.ts';
import { directivesIn } from './parts.ts';
import { nodesOf } from './recast.ts';

const DIRECTIVE = 10_000;
const HEIGHT = 1_000;
const NODE = 500;
/** A time in seconds since the beginning means another moment under every seed. */
const TIME = 200;

export function costOf(scenario: Scenario): number {
  const { cast, act, ends, load, settings } = scenario;
  const times = act.filter((directive) => 'atMs' in directive && directive.atMs > 0).length;
  const words = textOf({ ...scenario, title: '', holds: [] }).length;
  const more = (load ? NODE : 0) + (settings ? NODE : 0) + (cast.degree === undefined ? 0 : NODE);
  const size = ends.decides * HEIGHT + nodesOf(scenario).length * NODE;
  return directivesIn(scenario) * DIRECTIVE + size + more + times * TIME + words;
}
