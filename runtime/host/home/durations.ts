// Go's durations, which config.toml is written with: "1.5s", "1m0s", "100ms".

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
