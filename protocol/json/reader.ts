// CometBFT's flavour of JSON (spec 2.1) taken apart field by field; a fault names the field and what it
// should have been.

import { bytesOfBase64, bytesOfHex } from '../bytes.ts';
import { isRefusal, type Refusal, refuse } from '../refusal.ts';
import { parseTime } from '../time.ts';
import { EMPTY_BYTES, type TimeNs } from '../types.ts';
import { whyNotJson } from './syntax.ts';

export type MalformedJson = Refusal<'malformed-json'>;
export type JsonObject = { readonly [key: string]: unknown };

/** How a reader says no to `readJson`. Never leaves this folder. */
export class JsonFault extends Error {
  override name = 'JsonFault';
}

export function fault(at: string, wanted: string): never {
  throw new JsonFault(`${at} must be ${wanted}`);
}

/** The one door: what the readers find wrong becomes a refusal. */
export function readJson<T>(read: () => T): T | MalformedJson {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof JsonFault)) throw error;
    return refuse('malformed-json', error.message);
  }
}

/** `what` names the document for people. */
export function parseDocument(text: string, what: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return fault(what, `JSON: ${whyNotJson(text)}`);
  }
}

export const isNothing = (value: unknown): boolean => value === undefined || value === null;

export function objectAt(value: unknown, at: string): JsonObject {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) fault(at, 'an object');
  return value as JsonObject;
}

/** A nil slice prints as null. */
export function listAt<T>(value: unknown, at: string, read: (value: unknown, at: string) => T): T[] {
  if (isNothing(value)) return [];
  if (!Array.isArray(value)) fault(at, 'a list');
  return (value as unknown[]).map((item, i) => read(item, `${at}[${i}]`));
}

/** An escape may name half of a surrogate pair, which no UTF-8 can say: it is U+FFFD, as for Go. */
export function textAt(value: unknown, at: string): string {
  if (isNothing(value)) return '';
  return typeof value === 'string' ? value.replace(/\p{Surrogate}/gu, '\ufffd') : fault(at, 'a string');
}

function wholeNumber(value: unknown, at: string, least: bigint, most: bigint): bigint {
  if (isNothing(value)) return 0n;
  let number: bigint;
  if (typeof value === 'string' && /^-?\d{1,20}$/.test(value)) number = BigInt(value);
  else if (typeof value === 'number' && Number.isSafeInteger(value)) number = BigInt(value);
  else return fault(at, 'a whole number, as a string of digits');
  return number >= least && number <= most ? number : fault(at, `between ${least} and ${most}`);
}

/** Printed as a string; files written by hand have bare numbers too. Absent is 0. */
export const int64At = (value: unknown, at: string): bigint =>
  wholeNumber(value, at, -9_223_372_036_854_775_808n, 9_223_372_036_854_775_807n);
export const uint64At = (value: unknown, at: string): bigint =>
  wholeNumber(value, at, 0n, 18_446_744_073_709_551_615n);
export const int32At = (value: unknown, at: string): number =>
  Number(wholeNumber(value, at, -2_147_483_648n, 2_147_483_647n));
export const uint32At = (value: unknown, at: string): number =>
  Number(wholeNumber(value, at, 0n, 4_294_967_295n));

/** HexBytes: upper case when printed, any case when read. Absent is empty. */
export function hexAt(value: unknown, at: string): Uint8Array {
  const text = textAt(value, at);
  return text === '' ? EMPTY_BYTES : (bytesOfHex(text) ?? fault(at, 'hex digits in pairs'));
}

export const base64At = (value: unknown, at: string): Uint8Array =>
  bytesOfBase64(textAt(value, at)) ?? fault(at, 'padded base64');

/** RFC 3339 in UTC. */
export function timeAt(value: unknown, at: string): TimeNs {
  const time = parseTime(textAt(value, at));
  return isRefusal(time) ? fault(at, 'an RFC 3339 time in UTC, such as 2024-01-01T00:00:00Z') : time;
}

/**
 * `{"type": name, "value": ...}`, the amino wrapping of an interface; names are told apart by what follows
 * the slash.
 */
export function wrappedAt(value: unknown, at: string): { name: string; value: unknown } {
  const wrapper = objectAt(value, at);
  const type = textAt(wrapper['type'], `${at}.type`);
  return { name: type.slice(type.lastIndexOf('/') + 1), value: wrapper['value'] };
}
