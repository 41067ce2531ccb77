// What a scenario means that leaves something out: a field that is `undefined` is one that is not there.

import type { Scenario } from './play.ts';

/** What may be left out. */
type Usual = Pick<Scenario, 'act' | 'holds' | 'liars' | 'app' | 'liveness'>;
const USUAL: Usual = { act: [], holds: [], liars: [], app: 'kvstore', liveness: 'checked' };

/** `around`: what it stands in. What contains itself stays as it is, for the checks of its fields to refuse. */
function defined<T>(value: T, around: readonly unknown[] = []): T {
  if (around.includes(value)) return value;
  const within = [...around, value];
  if (Array.isArray(value)) return value.map((inner) => defined(inner, within)) as T;
  if (typeof value !== 'object' || value === null || Object.getPrototypeOf(value) !== Object.prototype)
    return value;
  const fields = Object.entries(value).filter(([, inner]) => inner !== undefined);
  return Object.fromEntries(fields.map(([name, inner]) => [name, defined(inner, within)])) as T;
}

/** The whole scenario. */
export const completed = <T extends Partial<Scenario>>(words: T): T & Usual => ({
  ...USUAL,
  ...defined(words),
});
