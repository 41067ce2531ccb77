// Reads the part of TOML that config.toml is written in: sections, and one line per key with a string, a
// number, a boolean or a list of strings.

import { type Refusal, refuse } from '../../protocol/refusal.ts';

export type TomlValue = string | number | boolean | readonly string[];
/** Values by `section.key`; keys before the first section stand alone. */
export type Toml = ReadonlyMap<string, TomlValue>;

const SECTION = /^\[([A-Za-z0-9_.-]+)\]$/;
const PAIR = /^([A-Za-z0-9_-]+)\s*=\s*(.+)$/;
const TEXT = /^("(?:[^"\\]|\\.)*"|'[^']*')\s*(?:#.*)?$/;
const PLAIN = /^(true|false|[+-]?[0-9][0-9_]*)\s*(?:#.*)?$/;
const LIST = /^\[(.*)\]\s*(?:#.*)?$/;

export function parseToml(text: string): Toml | Refusal<'malformed-toml'> {
  const values = new Map<string, TomlValue>();
  let section = '';
  const lines = text.split(/\r?\n/);
  for (const [index, raw] of lines.entries()) {
    const line = raw.trim();
    if (line === '' || line.startsWith('#')) continue;
    const header = SECTION.exec(line)?.[1];
    if (header !== undefined) {
      section = `${header}.`;
      continue;
    }
    const [, key, valueText] = PAIR.exec(line) ?? [];
    const value = valueText === undefined ? null : valueIn(valueText);
    if (key === undefined || value === null) {
      return refuse('malformed-toml', `line ${index + 1} is not "key = value": ${line}`);
    }
    values.set(section + key, value);
  }
  return values;
}

function valueIn(text: string): TomlValue | null {
  const quoted = TEXT.exec(text)?.[1];
  if (quoted !== undefined) return unquoted(quoted);
  const plain = PLAIN.exec(text)?.[1];
  if (plain !== undefined) {
    return plain === 'true' || plain === 'false' ? plain === 'true' : Number(plain.replaceAll('_', ''));
  }
  const items = LIST.exec(text)?.[1];
  if (items === undefined) return null;
  const found = items.match(/"(?:[^"\\]|\\.)*"|'[^']*'/g) ?? [];
  const list = found.map(unquoted);
  return list.includes(null) ? null : (list as string[]);
}

/** Null: an escape that is none. A basic string of TOML is one of JSON for all that stands in a config. */
function unquoted(quoted: string): string | null {
  if (quoted.startsWith("'")) return quoted.slice(1, -1);
  try {
    return JSON.parse(quoted) as string;
  } catch {
    return null;
  }
}

const UNIT_NS: Readonly<Record<string, bigint>> = {
  ns: 1n,
  us: 1_000n,
  µs: 1_000n,
  ms: 1_000_000n,
  s: 1_000_000_000n,
  m: 60_000_000_000n,
  h: 3_600_000_000_000n,
};
const FRACTION_DIGITS = 9;

/** Nanoseconds of a Go duration (`1m0s`, `1.5s`, `100ms`); null when it is none, or negative. */
export function durationNs(text: string): bigint | null {
  if (text === '0') return 0n;
  if (!/^(?:[0-9]+(?:\.[0-9]+)?(?:ns|us|µs|ms|s|m|h))+$/.test(text)) return null;
  let sum = 0n;
  for (const [, whole, fraction, unit] of text.matchAll(/([0-9]+)(?:\.([0-9]+))?(ns|us|µs|ms|s|m|h)/g)) {
    const unitNs = UNIT_NS[unit as string] as bigint;
    const digits = (fraction ?? '').slice(0, FRACTION_DIGITS).padEnd(FRACTION_DIGITS, '0');
    sum += BigInt(whole as string) * unitNs + (BigInt(digits) * unitNs) / 1_000_000_000n;
  }
  return sum;
}

/** As Go prints durations of whole milliseconds: `0s`, `500ms`, `1.5s`, `1m0s`. */
export function durationText(ns: bigint): string {
  const ms = ns / 1_000_000n;
  if (ms === 0n) return '0s';
  if (ms < 1_000n) return `${ms}ms`;
  const hours = ms / 3_600_000n;
  const minutes = (ms / 60_000n) % 60n;
  const seconds = `${Number(ms % 60_000n) / 1_000}s`;
  if (hours > 0n) return `${hours}h${minutes}m${seconds}`;
  return minutes > 0n ? `${minutes}m${seconds}` : seconds;
}
