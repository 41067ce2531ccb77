// Go's durations, which config.toml is written with: "1.5s", "1m0s", "100ms".

const UNIT_NS: Readonly<Record<string, bigint>> = {
  ns: 1n,
  us: 1_000n,
  µs: 1_000n,
  μs: 1_000n, // the Greek letter, and the sign before it
  ms: 1_000_000n,
  s: 1_000_000_000n,
  m: 60_000_000_000n,
  h: 3_600_000_000_000n,
};
const FRACTION_DIGITS = 9;
/** Of int64: 292 years. */
const DURATION_MAX_NS = 0x7fff_ffff_ffff_ffffn;
/** As time.ParseDuration takes them: digits before the point, behind it, or both. */
const WHOLE = /^\+?(?:(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:ns|us|µs|μs|ms|s|m|h))+$/;
const EACH = /([0-9]*)\.?([0-9]*)(ns|us|µs|μs|ms|s|m|h)/g;

/** Nanoseconds of a Go duration (`1m0s`, `1.5s`, `100ms`); null when it is none, or negative. */
export function durationNs(text: string): bigint | null {
  if (text === '0' || text === '+0') return 0n;
  if (!WHOLE.test(text)) return null;
  let sum = 0n;
  for (const [, whole = '', fraction = '', unit] of text.matchAll(EACH)) {
    const unitNs = UNIT_NS[unit as string] as bigint;
    const digits = fraction.slice(0, FRACTION_DIGITS).padEnd(FRACTION_DIGITS, '0');
    sum += BigInt(whole) * unitNs + (BigInt(digits) * unitNs) / 1_000_000_000n;
  }
  return sum <= DURATION_MAX_NS ? sum : null;
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
