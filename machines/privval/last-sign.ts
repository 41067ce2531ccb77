// Double-sign rules (spec 5.9, CometBFT FilePV): what a key signed last, and whether it may sign this.

import { equalBytes } from '../../protocol/bytes.ts';
import { type Refusal, refuse } from '../../protocol/refusal.ts';
import { PRECOMMIT, PREVOTE, type TimeNs, type Vote } from '../../protocol/types.ts';
import { bytes, decodeWords, i32, i64, type Of, record, u8 } from '../../protocol/words.ts';
import { timeOfSignBytes } from './canonical.ts';

export const STEP_PROPOSE = 1;
export const STEP_PREVOTE = 2;
export const STEP_PRECOMMIT = 3;

/** A record of the log `privval`: the last one is the key's memory. */
export const lastSignWords = record({
  height: i64,
  round: i32,
  step: u8,
  signBytes: bytes,
  signature: bytes,
});
export type LastSign = Of<typeof lastSignWords>;

/** Of the log's records those of this height, the latest first. It ends with them, or has none. */
export function signedAt(records: readonly Uint8Array[], height: bigint): LastSign[] {
  const signed: LastSign[] = [];
  for (let i = records.length - 1; i >= 0; i--) {
    const each = decodeWords(lastSignWords, records[i] as Uint8Array);
    if (each?.height !== height) break;
    signed.push(each);
  }
  return signed;
}

export type SignRefusal = Refusal<
  | 'height-regression'
  | 'round-regression'
  | 'step-regression'
  | 'no-sign-bytes'
  | 'no-signature'
  | 'conflicting-data'
>;

export type SignVerdict =
  | { readonly verdict: 'sign'; readonly signBytes: Uint8Array }
  /** Signed before: say the same again, with the time of then. */
  | { readonly verdict: 'reuse'; readonly timeNs: TimeNs; readonly signature: Uint8Array };

/** What is to be signed: `signBytesAt` gives its sign bytes as they would be with another time. */
export interface SignRequest {
  readonly height: bigint;
  readonly round: number;
  readonly step: number;
  readonly timeNs: TimeNs;
  signBytesAt(timeNs: TimeNs): Uint8Array;
}

export const stepOfVote = ({ type }: Pick<Vote, 'type'>): number =>
  type === PREVOTE ? STEP_PREVOTE : type === PRECOMMIT ? STEP_PRECOMMIT : 0;

/**
 * CheckHRS, then: same bytes or only another time reuse, anything else conflicts. `last` is null for a key
 * that never signed.
 */
export function judgeSigning(last: LastSign | null, request: SignRequest): SignVerdict | SignRefusal {
  const { height, round, step, timeNs } = request;
  if (!last || height > last.height) return { verdict: 'sign', signBytes: request.signBytesAt(timeNs) };
  if (height < last.height) {
    return refuse('height-regression', `height regression. Got ${height}, last height ${last.height}`);
  }
  if (round > last.round) return { verdict: 'sign', signBytes: request.signBytesAt(timeNs) };
  if (round < last.round) {
    const because = `round regression at height ${height}. Got ${round}, last round ${last.round}`;
    return refuse('round-regression', because);
  }
  if (step > last.step) return { verdict: 'sign', signBytes: request.signBytesAt(timeNs) };
  if (step < last.step) {
    const because = `step regression at height ${height} round ${round}. Got ${step}, last step ${last.step}`;
    return refuse('step-regression', because);
  }
  return judgeAgain(last, request);
}

/** The same height, round and step as last time. */
function judgeAgain(
  { signBytes, signature, step }: LastSign,
  request: SignRequest,
): SignVerdict | SignRefusal {
  if (signBytes.length === 0) return refuse('no-sign-bytes', 'no SignBytes found');
  if (signature.length === 0) return refuse('no-signature', 'Signature is nil but SignBytes is not!');
  const timeNs = timeOfSignBytes(signBytes, step === STEP_PROPOSE ? 'proposal' : 'vote');
  if (timeNs !== null && equalBytes(signBytes, request.signBytesAt(timeNs))) {
    return { verdict: 'reuse', timeNs, signature };
  }
  return refuse('conflicting-data', 'conflicting data');
}
