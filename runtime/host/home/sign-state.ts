// Carries a validator's last signature between data/priv_validator_state.json, which other software reads,
// and the log that the signer works with.

import { type LastSign, lastSignWords, STEP_PRECOMMIT } from '../../../machines/privval/last-sign.ts';
import { formatPrivValidatorState, type SignState } from '../../../protocol/json/index.ts';
import { decodeWords, encodeWords } from '../../../protocol/words.ts';
import type { Log } from '../../kernel/ports.ts';
import { SetupError, writeFileAtomic } from '../disk/files.ts';

type Place = Pick<SignState, 'height' | 'round' | 'step'>;

const isLater = (a: Place, b: Place): boolean =>
  a.height !== b.height ? a.height > b.height : a.round !== b.round ? a.round > b.round : a.step > b.step;

/** Of a state file and of a key file that holds a state, too, as before 0.31: whichever is further. */
export const laterOf = (file: SignState | null, legacy: SignState | null): SignState | null =>
  file && legacy ? (isLater(legacy, file) ? legacy : file) : (file ?? legacy);

/** Null: this log holds no signature. */
export function lastSignOf(log: Log): LastSign | null {
  const record = log.read().at(-1);
  if (record === undefined) return null;
  const last = decodeWords(lastSignWords, record);
  if (last === null) {
    throw new SetupError(
      'the log privval.log ends with a record that is no signature: restore it from a copy',
    );
  }
  return last;
}

/** The later of the two counts (spec 2.4): a key that signed elsewhere since brings its file along. */
export async function importSignState(log: Log, state: SignState): Promise<void> {
  const last = lastSignOf(log);
  if (state.height === 0n || (last && !isLater(state, last))) return;
  const { height, round, step, signBytes, signature } = state;
  if (step > STEP_PRECOMMIT) throw new SetupError(`the signer's state file has a step ${step}`);
  log.append(encodeWords(lastSignWords, { height, round, step, signBytes, signature }));
  await new Promise<void>((done) => log.sync(done));
}

/** At a stop in peace, so that the key may move to other software. */
export function exportSignState(log: Log, path: string): void {
  const last = lastSignOf(log);
  if (last) writeFileAtomic(path, formatPrivValidatorState(last), 0o600);
}
