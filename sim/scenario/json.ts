// Plays as JSON files: a scenario is plain data, and what a file holds is checked before it is believed.

import { type Refusal, refuse } from '../../protocol/refusal.ts';
import { formRefusal, type ScenarioRefusal, wholeRefusal } from './form.ts';
import type { Scenario } from './play.ts';

const BIG = '$n';

const plain = (_: string, value: unknown): unknown =>
  typeof value === 'bigint' ? { [BIG]: String(value) } : value;

/** What a play brings of its own, by field: functions, which no JSON can hold. */
export function ownParts({ app, liars, load, oracles }: Scenario): string[] {
  const found: string[] = [];
  if (typeof app !== 'string') found.push('app: an application');
  for (const [i, { liar }] of liars.entries()) {
    if (typeof liar !== 'string') found.push(`liars[${i}].liar: a liar`);
  }
  if (load?.make) found.push('load.make: a workload');
  if (oracles && oracles.length > 0) found.push('oracles: an oracle');
  return found;
}

/** Bigints (of settings) as `{"$n":"5"}`. A play that brings an application, a liar, ... of its own has no JSON. */
export function toJson(scenario: Scenario): string | Refusal<'not-json'> {
  const [own] = ownParts(scenario);
  if (own !== undefined) return refuse('not-json', `${own} of one’s own has no JSON form`);
  return JSON.stringify(scenario, plain, 2);
}

/** Functions of one's own, in the order in which they were met: two are the same text where they are the same function. */
const ownFunctions = new WeakMap<object, string>();
let ownCount = 0;

function nameOfOwn(own: object): string {
  let name = ownFunctions.get(own);
  if (name === undefined) {
    name = `own ${String(ownCount++).padStart(9, '0')}`; // as long as any other
    ownFunctions.set(own, name);
  }
  return name;
}

/** What tells scenarios of one process apart: as JSON, and functions of one's own by who they are. */
export function textOf(scenario: Scenario): string {
  const named = (key: string, value: unknown): unknown =>
    typeof value === 'function' ? nameOfOwn(value) : plain(key, value);
  return JSON.stringify(scenario, named, 2);
}

/** A scenario from the text of a file; the refusal names the field. */
export function fromJson(text: string): Scenario | ScenarioRefusal {
  let value: unknown;
  try {
    value = JSON.parse(text, revive);
  } catch {
    return refuse('malformed-scenario', 'the file is not JSON');
  }
  const malformed = formRefusal(value);
  if (malformed) return malformed;
  const scenario = {
    act: [],
    holds: [],
    liars: [],
    app: 'kvstore',
    liveness: 'checked',
    ...(value as object),
  } as unknown as Scenario;
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
