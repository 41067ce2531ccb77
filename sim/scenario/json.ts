// Plays as JSON files: a scenario is plain data, and what a file holds is checked before it is believed.

import { whyNotJson } from '../../protocol/json/index.ts';
import { type Refusal, refuse } from '../../protocol/refusal.ts';
import { formRefusal, type ScenarioRefusal, wholeRefusal } from './form.ts';
import { mustBePlay } from './must-be.ts';
import { ownParts } from './own.ts';
import { isDrawn, type Play, type Scenario } from './play.ts';
import { completed } from './usual.ts';

const BIG = '$n';

/** Bigints (of settings) as `{"$n":"5"}`. A play that brings an application, a liar, ... of its own has no JSON. */
export function toJson(scenario: Scenario): string | Refusal<'not-json'> {
  mustBePlay(scenario);
  if (isDrawn(scenario as Play))
    return refuse('not-json', 'a seed draws this play: scenarioUnder(play, seed) is what it comes to');
  const [own] = ownParts(scenario);
  if (own !== undefined) return refuse('not-json', `${own} of one’s own has no JSON form`);
  try {
    return textOf(scenario);
  } catch (error) {
    // It contains itself, which no field of a play may: the check of its fields says where.
    return refuse('not-json', formRefusal(scenario)?.because ?? (error as Error).message);
  }
}

/**
 * What tells scenarios apart: as JSON, and functions of one's own by who they are. `own` has numbered them; texts that are compared share it.
 */
export function textOf(scenario: Scenario, own = new Map<unknown, number>()): string {
  const plain = (_: string, value: unknown): unknown => {
    if (typeof value === 'bigint') return { [BIG]: String(value) };
    if (typeof value !== 'function') return value;
    if (!own.has(value)) own.set(value, own.size);
    return `own ${own.get(value)}`;
  };
  return JSON.stringify(scenario, plain, 2);
}

/** A scenario from the text of a file; the refusal names the field. */
export function fromJson(text: string): Scenario | ScenarioRefusal {
  let value: unknown;
  try {
    value = JSON.parse(text, revive);
  } catch {
    return refuse('malformed-scenario', `the file is not JSON: ${whyNotJson(text)}`);
  }
  const malformed = formRefusal(value);
  if (malformed) return malformed;
  const scenario = completed(value as Scenario);
  return wholeRefusal(scenario) ?? scenario;
}

function revive(_: string, value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  const entries = Object.entries(value);
  const [first] = entries;
  return entries.length === 1 && first?.[0] === BIG && /^-?[0-9]+$/.test(String(first[1]))
    ? BigInt(String(first[1]))
    : value;
}
