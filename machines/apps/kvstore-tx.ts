// The transactions of the key-value application: which are well formed, and what they say.

import { utf8Decode } from '#platform';
import { bytesOfBase64 } from '../../protocol/bytes.ts';
import { ED25519_KEY_BYTES, SECP256K1_KEY_BYTES } from '../../protocol/keys.ts';
import { isRefusal, type Refusal, refuse } from '../../protocol/refusal.ts';
import { type ValidatorUpdate, VOTING_POWER_TOTAL_MAX } from '../../protocol/types.ts';

const COLON = 0x3a;
const EQUALS = 0x3d;
const VALIDATOR_PREFIX_LENGTH = 4;
const DECIMAL = /^[+-]?[0-9]+$/;

export type TxRefusal = Refusal<'invalid-tx'>;

const no = (because: string): TxRefusal => refuse('invalid-tx', because);

/** Starts with `val=`. */
export const isValidatorTx = (tx: Uint8Array): boolean => startsWithVal(tx) && tx[3] === EQUALS;

const startsWithVal = (tx: Uint8Array): boolean => tx[0] === 0x76 && tx[1] === 0x61 && tx[2] === 0x6c;

/**
 * Null: well formed. A `key:value` is judged as the `key=value` that `formattedTx` makes of it: CometBFT's application admits `val:x`,
 * proposes it as `val=x`, and then rejects its own proposals for as long as the transaction is in a pool.
 */
export function judgeTx(tx: Uint8Array): TxRefusal | null {
  if (isValidatorTx(tx)) return refusalOf(parseValidatorTx(tx));
  if (!isPairTx(tx)) return no('wants key=value or key:value, with one separator between two texts');
  const isValidatorOnceFormatted = startsWithVal(tx) && tx[3] === COLON;
  return isValidatorOnceFormatted ? refusalOf(parseValidatorTx(formattedTx(tx))) : null;
}

const refusalOf = (parsed: ValidatorUpdate | TxRefusal): TxRefusal | null =>
  isRefusal(parsed) ? (parsed as TxRefusal) : null;

/** One `:` or one `=` in all, neither first nor last (isValidTx). */
function isPairTx(tx: Uint8Array): boolean {
  const colon = tx.indexOf(COLON);
  const equals = tx.indexOf(EQUALS);
  if (colon >= 0 && equals >= 0) return false;
  const at = Math.max(colon, equals);
  const isOne = at >= 0 && tx.indexOf(tx[at] as number, at + 1) < 0;
  return isOne && !isSeparator(tx[0]) && !isSeparator(tx[tx.length - 1]);
}

const isSeparator = (byte: number | undefined): boolean => byte === COLON || byte === EQUALS;

/** The first `:` becomes `=`. */
export function formattedTx(tx: Uint8Array): Uint8Array {
  const at = tx.indexOf(COLON);
  if (at < 0) return tx;
  const formatted = tx.slice();
  formatted[at] = EQUALS;
  return formatted;
}

/** The parts around a single `=`; null when there is another number of them. */
export function pairOfTx(tx: Uint8Array): { readonly key: Uint8Array; readonly value: Uint8Array } | null {
  const at = tx.indexOf(EQUALS);
  if (at < 0 || tx.indexOf(EQUALS, at + 1) >= 0) return null;
  return { key: tx.subarray(0, at), value: tx.subarray(at + 1) };
}

/**
 * `val=TYPE!BASE64!POWER`, power 0 removes, no type means ed25519 (parseValidatorTx). CometBFT's application finds out
 * about a wrong type, key length or an impossible power only when a block holds it, and stops the chain; we refuse it at
 * the door.
 */
export function parseValidatorTx(tx: Uint8Array): ValidatorUpdate | TxRefusal {
  const parts = utf8Decode(tx.subarray(VALIDATOR_PREFIX_LENGTH)).split('!');
  const [typeText, key, powerText] = parts;
  if (parts.length !== 3 || typeText === undefined || key === undefined || powerText === undefined) {
    return no(`expected 'pubkeytype!pubkey!power'. Got [${parts.join(' ')}]`);
  }
  const type = typeText === '' ? 'ed25519' : typeText;
  if (type !== 'ed25519' && type !== 'secp256k1') return no(`key type ${type} not supported`);
  const bytes = bytesOfBase64(key);
  if (!bytes) return no(`pubkey (${key}) is invalid base64`);
  const length = type === 'ed25519' ? ED25519_KEY_BYTES : SECP256K1_KEY_BYTES;
  if (bytes.length !== length) return no(`a ${type} pubkey has ${length} bytes, got ${bytes.length}`);
  if (!DECIMAL.test(powerText)) return no(`power (${powerText}) is not an int`);
  const power = BigInt(powerText.replace('+', ''));
  if (power < 0n) return no(`power can not be less than 0, got ${power}`);
  if (power > VOTING_POWER_TOTAL_MAX) return no(`power can not be more than ${VOTING_POWER_TOTAL_MAX}`);
  return { publicKey: { type, bytes }, power };
}
