// Spans of time as people write them in plays.

import { isUncalled, uncalledText } from './checks.ts';
import { ScenarioError } from './play.ts';

/** `250ms`, `10s`, `1.5s`, `2m`. */
export type Duration = `${number}ms` | `${number}s` | `${number}m`;

function shown(none: unknown): string {
  if (isUncalled(none)) return uncalledText(none);
  return typeof none === 'object' && none !== null ? JSON.stringify(none) : `"${String(none)}"`;
}

/** What multiplying decimals may be off by. */
const ROUNDING_MS = 1e-6;

/** `word`: whose time it is, for who reads that it is none. */
export function msOf(duration: Duration, word = ''): number {
  const [, number, unit] = /^([0-9]+(?:[.][0-9]+)?)(ms|s|m)$/.exec(duration) ?? [];
  if (number === undefined)
    throw new ScenarioError(
      `${word === '' ? '' : `${word}: `}${shown(duration)} is no duration: write 250ms, 10s, 1.5s, 2m`,
    );
  const ms = Number(number) * (unit === 'ms' ? 1 : unit === 's' ? 1_000 : 60_000);
  const whole = Math.round(ms);
  if (Math.abs(ms - whole) > ROUNDING_MS)
    throw new ScenarioError(
      `${word === '' ? '' : `${word}: `}${shown(duration)} is no whole number of milliseconds`,
    );
  return whole;
}

/** Of a clock that is set, which may go back. */
export function stepMsOf(step: Duration): number {
  const text = String(step);
  const isBack = text.startsWith('-');
  const ms = msOf((isBack ? text.slice(1) : text) as Duration, 'clock: step');
  return isBack ? -ms : ms;
}
