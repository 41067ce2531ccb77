// The amounts and names that plays are made of: what each may be, and how much of it at most. Each limit says why.

import { utf8Encode } from '#platform';
import { BLOCK_BYTES_MAX, CHAIN_ID_LENGTH_MAX } from '../../protocol/types.ts';
import { type Latency, longestNs, type Span } from '../latency.ts';
import { also, type Check, INT64_END, listOf, object, ordinal, tagged, whole } from './checks.ts';
import { isNodeName } from './names.ts';

const upTo = (least: number, most: number): Check => ({
  expects: `a whole number from ${least} to ${most}`,
  holds: (value) => Number.isSafeInteger(value) && Number(value) >= least && Number(value) <= most,
});

/** Heights of a play are numbers, and no run has so many that they would end at 2^53. */
export const INITIAL_HEIGHT_MAX = 4_503_599_627_370_496;
export const initialHeight = upTo(1, INITIAL_HEIGHT_MAX);

export const nodeName: Check = {
  expects: 'a node: v0, c0, f0, ...',
  holds: isNodeName,
};
export const nodes = listOf(nodeName);
/** Of moments and waits: virtual time ends after 104 days. */
const TIME_MS_MAX = 1_000_000_000;
export const time: Check = {
  expects: 'milliseconds, a whole number from 0 to 1000000000 (11 days)',
  holds: (value) => Number.isSafeInteger(value) && Number(value) >= 0 && Number(value) <= TIME_MS_MAX,
};
/** Of clocks: nanoseconds of a time of day must fit 64 bits. */
const SKEW_MS_MAX = 100_000_000_000;
export const skew: Check = {
  expects: 'milliseconds, a whole number within 100000000000 (3 years) either way',
  holds: (value) => Number.isSafeInteger(value) && Math.abs(Number(value)) <= SKEW_MS_MAX,
};
/** Ten times as fast: what such an oscillator counts in a run of 10 days is exact. */
const DRIFT_PPM_MAX = 9_000_000;
export const drift: Check = {
  expects: 'a whole number above -1000000, at most 9000000',
  holds: (value) =>
    Number.isSafeInteger(value) && Number(value) > -1_000_000 && Number(value) <= DRIFT_PPM_MAX,
};
export const who: Check = {
  expects: 'a node, "anyone" or "everyone"',
  holds: (value) => value === 'anyone' || value === 'everyone' || nodeName.holds?.(value) === true,
};
export const blockNumber: Check = {
  expects: 'the number of a block from 1, or "nil"',
  holds: (value) => value === 'nil' || (Number.isSafeInteger(value) && (value as number) > 0),
};
export const realBlock: Check = {
  expects: 'the number of a block from 1: nobody is locked on nil',
  holds: (value) => value !== 'nil' && blockNumber.holds?.(value) === true,
};
export const yes: Check = { expects: 'true', holds: (value) => value === true };
/** Within a span 2^31 steps of a microsecond are drawn at most. */
const SPAN_NS_MAX = 2_000_000_000_000;
/** Of what is on its way: a few of these one after the other are still within the 2^53 ns of virtual time. */
const LATE_NS_MAX = 1_000_000_000_000_000;
const LATE_MAX = `at most ${LATE_NS_MAX} ns (11 days)`;
const spanWrong = ({ minNs, maxNs }: Span): string | null => {
  if (minNs > maxNs) return 'minNs up to maxNs';
  if (maxNs - minNs > SPAN_NS_MAX) return `maxNs at most ${SPAN_NS_MAX} (33 minutes) above minNs`;
  return maxNs > LATE_NS_MAX ? `maxNs ${LATE_MAX}` : null;
};
export const span = also(object({ minNs: whole, maxNs: whole }), spanWrong);
export const latency = also(
  tagged('kind', {
    uniform: { minNs: whole, maxNs: whole },
    exponential: { minNs: whole, meanNs: whole },
    table: { quantilesNs: listOf(whole) },
  }),
  (value: Latency) => {
    if (value.kind === 'uniform') return spanWrong(value);
    const isTooLate = longestNs(value) > LATE_NS_MAX;
    if (value.kind === 'exponential')
      return isTooLate ? `minNs and 14 times meanNs together ${LATE_MAX}` : null;
    const { quantilesNs } = value;
    const isTable = quantilesNs.length >= 2 && quantilesNs.every((ns, i) => ns >= (quantilesNs[i - 1] ?? 0));
    if (!isTable) return 'two ascending quantilesNs at least';
    return isTooLate ? `quantilesNs ${LATE_MAX}` : null;
  },
);

/** What comes again and again must not come without end. */
export const beat: Check = {
  expects: 'a bigint from 1000000n, less than 2^63 (1 ms; in JSON {"$n":"1000000"})',
  holds: (value) => typeof value === 'bigint' && value >= 1_000_000n && value < INT64_END,
};
/** A transaction each microsecond: more than that would take no time between two. */
const RATE_MAX = 1_000_000;
/** One in eleven days. */
const RATE_MIN = 1 / RATE_MAX;
export const rate: Check = {
  expects: 'a number from 0.000001 to 1000000',
  holds: (value) => typeof value === 'number' && value >= RATE_MIN && value <= RATE_MAX,
};

/** As each height is decided, all at once: more than that is more than any pool holds, and no run would end. */
const PER_BLOCK_MAX = 1_000_000;
export const perBlock = upTo(1, PER_BLOCK_MAX);

/** In nanoseconds it must fit 64 bits. */
const AGE_MS_MAX = 9_000_000_000_000;
export const age: Check = {
  expects: 'milliseconds, a whole number from 1 to 9000000000000 (285 years)',
  holds: (value) => ordinal.holds?.(value) === true && Number(value) <= AGE_MS_MAX,
};
/** As many as CometBFT lets into a set; a run of a hundred takes its time. */
export const PEOPLE_MAX = 10_000;
export const people = upTo(0, PEOPLE_MAX);
export const powers = also(listOf(whole), ({ length }: readonly number[]) =>
  length > PEOPLE_MAX ? `${PEOPLE_MAX} validators at most` : null,
);
/** To how many nodes a transaction is given. */
export const copies = upTo(1, PEOPLE_MAX);
export const chainId: Check = {
  expects: `a text of 1 to ${CHAIN_ID_LENGTH_MAX} bytes`,
  // Half of a pair has no UTF-8: the chain would have another name than the play says.
  holds: (value) =>
    typeof value === 'string' &&
    value !== '' &&
    utf8Encode(value).length <= CHAIN_ID_LENGTH_MAX &&
    !/\p{Surrogate}/u.test(value),
};
/** What a block keeps free for its header has room for no more. */
const APP_HASH_BYTES_MAX = 32;
export const appHash: Check = {
  expects: `hex digits of 1 to ${APP_HASH_BYTES_MAX} bytes`,
  holds: (value) =>
    typeof value === 'string' && /^([0-9a-fA-F]{2})+$/.test(value) && value.length <= 2 * APP_HASH_BYTES_MAX,
};
export const blockBytes = upTo(0, Number(BLOCK_BYTES_MAX));
