// What a scenario must be, whoever wrote it: a JSON file, a module whose types nobody checked, a seed.

import { applicationNamed } from '../../machines/apps/named.ts';
import { isRefusal, type Refusal, refuse } from '../../protocol/refusal.ts';
import { maxDataBytes } from '../../protocol/rules/block-room.ts';
import { VOTING_POWER_TOTAL_MAX } from '../../protocol/types.ts';
import { isLiarName, LIAR_NAMES, PLACE_WORDS, placesOf } from '../liars/index.ts';
import { Checker } from './checks.ts';
import { namesIn, TEXT_FIELDS } from './names.ts';
import type { Condition, Deed, Scenario } from './play.ts';
import { scenarioShape } from './shapes.ts';

export type ScenarioRefusal = Refusal<'malformed-scenario'>;

export function formRefusal(value: unknown): ScenarioRefusal | null {
  const checker = new Checker();
  checker.check(scenarioShape, value, '');
  return checker.problem === null ? null : refuse('malformed-scenario', checker.problem);
}

/**
 * What is wrong with a scenario, and where; null: nothing. The words of plays are typed, but who runs a
 * module runs it without its types.
 */
export const scenarioRefusal = (scenario: Scenario): ScenarioRefusal | null =>
  formRefusal(scenario) ?? wholeRefusal(scenario);

/** What only the whole shows: names that nobody bears, liars and applications that do not exist. */
export function wholeRefusal(scenario: Scenario): ScenarioRefusal | null {
  const no = (because: string): ScenarioRefusal => refuse('malformed-scenario', because);
  const { powers, candidates = 0, fullNodes = 0, clocks = {} } = scenario.cast;
  if (!powers.some((power) => power > 0)) return no('cast.powers: somebody must be a validator');
  const power = powers.reduce((sum, each) => sum + BigInt(each), 0n);
  if (power > VOTING_POWER_TOTAL_MAX)
    return no(`cast.powers: expected ${VOTING_POWER_TOTAL_MAX} at most together, not ${power}`);
  const { blockBytes } = scenario.cast;
  const room = blockBytes === undefined ? 0n : maxDataBytes(BigInt(blockBytes), 0n, powers.length);
  if (isRefusal(room)) return no(`cast.blockBytes: ${room.because}`);
  const sizes = { v: powers.length, c: candidates, f: fullNodes };
  for (const name of [...namesIn(scenario), ...Object.keys(clocks)]) {
    const size = sizes[name[0] as 'v' | 'c' | 'f'];
    if (Number(name.slice(1)) >= size)
      return no(`${placeOf(scenario, name) ?? 'cast.clocks'}: ${name} is not in the cast`);
  }
  const lying = liarsRefusal(scenario);
  if (lying !== null) return no(lying);
  const early = heightRefusal(scenario);
  if (early !== null) return no(early);
  const { ends } = scenario;
  const liars = new Set(scenario.liars.map(({ node }) => node)).size;
  const isOfAll = ends.who === 'everyone' || ends.who === 'nobody';
  if (isOfAll && liars === powers.length + candidates + fullNodes)
    return no(`liars: all nodes lie, and of whom lies ends.who "${ends.who}" promises nothing`);
  const honest =
    ends.who === 'fork' && ends.guilty.find((name) => !scenario.liars.some(({ node }) => node === name));
  if (honest) return no(`ends.guilty: ${honest} does not lie; name liars`);
  const app = typeof scenario.app === 'string' ? applicationNamed(scenario.app) : null;
  return isRefusal(app) ? no(`app: ${app.because}`) : null;
}

function liarsRefusal({ liars }: Scenario): string | null {
  for (const [i, words] of liars.entries()) {
    const { liar } = words;
    if (typeof liar === 'string' && !isLiarName(liar))
      return `liars[${i}].liar: no liar ${liar}; there are ${LIAR_NAMES.join(', ')}`;
    const places = placesOf(liar);
    const odd = PLACE_WORDS.find((word) => words[word] !== undefined && !places.includes(word));
    if (odd !== undefined)
      return `liars[${i}].${odd}: ${liar} is narrowed by ${[...places, 'ppm', 'times'].join(', ')} alone`;
  }
  return null;
}

/** Deeds of before the first height, too. */
const AT_ANY_HEIGHT: readonly Deed[] = ['joins', 'halts', 'starts', 'crashes'];

/** Every condition of a play, with its place. */
function* conditionsIn({ act, holds }: Scenario): Generator<readonly [string, Condition]> {
  for (const [i, directive] of act.entries()) {
    if ('when' in directive) yield [`act[${i}].when`, directive.when];
    if ('whenever' in directive) yield [`act[${i}].whenever`, directive.whenever];
  }
  for (const [i, claim] of holds.entries()) {
    if ('never' in claim) yield [`holds[${i}].never`, claim.never];
    if ('sometime' in claim) yield [`holds[${i}].sometime`, claim.sometime];
  }
}

/** What is said of heights before the first: nothing happens there, and an end there would be at once. */
function heightRefusal(scenario: Scenario): string | null {
  const { cast, ends } = scenario;
  const first = cast.initialHeight ?? 1;
  const wrong = (field: string, height: number): string =>
    `${field}: expected a height from ${first}, not ${height}`;
  if (ends.who !== 'nobody' && ends.decides < first) return wrong('ends.decides', ends.decides);
  for (const [path, { does, height }] of conditionsIn(scenario)) {
    if (height !== undefined && height < first && !AT_ANY_HEIGHT.includes(does))
      return wrong(`${path}.height`, height);
  }
  return null;
}

/** Where a name stands first. */
function placeOf(value: unknown, name: string, path = ''): string | null {
  if (value === name) return path;
  if (typeof value !== 'object' || value === null) return null;
  for (const [key, inner] of Object.entries(value)) {
    if (TEXT_FIELDS.has(key)) continue;
    const place = placeOf(
      inner,
      name,
      Array.isArray(value) ? `${path}[${key}]` : path === '' ? key : `${path}.${key}`,
    );
    if (place !== null) return place;
  }
  return null;
}
