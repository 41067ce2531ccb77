// Owns block time: the median of a commit's timestamps, weighted by power (spec 5.4, "BFT time"; CometBFT
// `state.MedianTime`).

import { hexUpperOf } from '../bytes.ts';
import { type Refusal, refuse } from '../refusal.ts';
import { type Commit, FLAG_ABSENT, type TimeNs, type ValidatorSet, ZERO_TIME_NS } from '../types.ts';
import { memberAt } from './validator-set.ts';

/** A time and the power that stands behind it. */
export interface WeightedTime {
  readonly timeNs: TimeNs;
  readonly power: bigint;
}

/**
 * The earliest time that half of `powerTotal`, rounded down, does not lie beyond; Go's zero time for an empty
 * list.
 */
export function weightedMedian(times: readonly WeightedTime[], powerTotal: bigint): TimeNs {
  const sorted = [...times].sort((a, b) => (a.timeNs < b.timeNs ? -1 : a.timeNs > b.timeNs ? 1 : 0));
  let left = powerTotal / 2n;
  for (const { timeNs, power } of sorted) {
    if (left <= power) return timeNs;
    left -= power;
  }
  return ZERO_TIME_NS;
}

/**
 * Time of the block that carries `commit` as its last commit, by the set that signed it. Votes for nil count
 * as well as votes for the block; an honest majority of the power that voted keeps the result between two
 * honest clocks.
 */
export function medianTime(commit: Commit, validators: ValidatorSet): TimeNs | Refusal<'unknown-validator'> {
  const times: WeightedTime[] = [];
  let powerTotal = 0n;
  for (let i = 0; i < commit.signatures.length; i++) {
    const signature = commit.signatures[i]!;
    if (signature.flag === FLAG_ABSENT) continue;
    const validator = memberAt(validators, i, signature.validatorAddress);
    if (validator === null) {
      const who = hexUpperOf(signature.validatorAddress);
      return refuse('unknown-validator', `commit validator not found in validator set: ${who}`);
    }
    powerTotal += validator.power;
    times.push({ timeNs: signature.timeNs, power: validator.power });
  }
  return weightedMedian(times, powerTotal);
}
