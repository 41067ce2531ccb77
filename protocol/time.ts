// Times as nanoseconds since 1970 and their RFC 3339 text, without the platform's calendar (it loses
// precision).

import { type Refusal, refuse } from './refusal.ts';
import type { TimeNs } from './types.ts';

export const NS_PER_S = 1_000_000_000n;
export const NS_PER_MS = 1_000_000n;

const SECONDS_PER_DAY = 86_400;
/** Days from 0000-03-01 to 1970-01-01 in the proleptic Gregorian calendar. */
const DAYS_TO_EPOCH = 719_468;
const DAYS_PER_ERA = 146_097;

/** Whole seconds, rounded down also before 1970, so that nanos are 0..999999999 (protobuf Timestamp). */
export function secondsOf(timeNs: TimeNs): bigint {
  const seconds = timeNs / NS_PER_S;
  return timeNs < 0n && seconds * NS_PER_S !== timeNs ? seconds - 1n : seconds;
}

export const timeOf = (seconds: bigint, nanos: number): TimeNs => seconds * NS_PER_S + BigInt(nanos);

const isLeapYear = (year: number): boolean => (year % 4 === 0 && year % 100 !== 0) || year % 400 === 0;

function daysInMonth(year: number, month: number): number {
  if (month === 2) return isLeapYear(year) ? 29 : 28;
  return month === 4 || month === 6 || month === 9 || month === 11 ? 30 : 31;
}

/** Days since 1970-01-01; years begin in March so that the leap day ends them. */
function daysOfDate(year: number, month: number, day: number): number {
  const shifted = month <= 2 ? year - 1 : year;
  const era = Math.floor(shifted / 400);
  const yearOfEra = shifted - era * 400;
  const dayOfYear = Math.floor((153 * (month > 2 ? month - 3 : month + 9) + 2) / 5) + day - 1;
  const dayOfEra = yearOfEra * 365 + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100) + dayOfYear;
  return era * DAYS_PER_ERA + dayOfEra - DAYS_TO_EPOCH;
}

function dateOfDays(days: number): { year: number; month: number; day: number } {
  const shifted = days + DAYS_TO_EPOCH;
  const era = Math.floor(shifted / DAYS_PER_ERA);
  const dayOfEra = shifted - era * DAYS_PER_ERA;
  const leaps = Math.floor(dayOfEra / 1460) - Math.floor(dayOfEra / 36_524) + Math.floor(dayOfEra / 146_096);
  const yearOfEra = Math.floor((dayOfEra - leaps) / 365);
  const dayOfYear = dayOfEra - (365 * yearOfEra + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100));
  const monthFromMarch = Math.floor((5 * dayOfYear + 2) / 153);
  const month = monthFromMarch < 10 ? monthFromMarch + 3 : monthFromMarch - 9;
  const day = dayOfYear - Math.floor((153 * monthFromMarch + 2) / 5) + 1;
  return { year: era * 400 + yearOfEra + (month <= 2 ? 1 : 0), month, day };
}

const RFC3339_UTC = /^(\d{4})-(\d{2})-(\d{2})T(\d{2}):(\d{2}):(\d{2})(?:\.(\d{1,9}))?Z$/;

/** `2019-10-13T16:14:44.5Z`: UTC only, at most nine fractional digits, of the years 1 to 9999 (protobuf Timestamp has no others). */
export function parseTime(text: string): TimeNs | Refusal<'malformed-time'> {
  const found = RFC3339_UTC.exec(text);
  if (found === null) {
    return refuse(
      'malformed-time',
      `time must be RFC 3339 in UTC, ending in Z, with at most 9 decimals: "${text}"`,
    );
  }
  const [year, month, day, hour, minute, second] = found.slice(1, 7).map(Number) as [
    number,
    number,
    number,
    number,
    number,
    number,
  ];
  const fits = year >= 1 && month >= 1 && month <= 12 && day >= 1 && day <= daysInMonth(year, month);
  if (!fits || hour > 23 || minute > 59 || second > 59) {
    return refuse('malformed-time', `time names a moment that does not exist: "${text}"`);
  }
  const seconds = daysOfDate(year, month, day) * SECONDS_PER_DAY + hour * 3600 + minute * 60 + second;
  return timeOf(BigInt(seconds), Number((found[7] ?? '').padEnd(9, '0')));
}

const two = (value: number): string => (value < 10 ? `0${value}` : `${value}`);

/** Go's RFC3339Nano: trailing zeros of the fraction are dropped, and the point with them. */
export function formatTime(timeNs: TimeNs): string {
  const seconds = secondsOf(timeNs);
  const nanos = Number(timeNs - seconds * NS_PER_S);
  const days = Math.floor(Number(seconds) / SECONDS_PER_DAY);
  const ofDay = Number(seconds) - days * SECONDS_PER_DAY;
  const { year, month, day } = dateOfDays(days);
  const date = `${String(year).padStart(4, '0')}-${two(month)}-${two(day)}`;
  const clock = `${two(Math.floor(ofDay / 3600))}:${two(Math.floor(ofDay / 60) % 60)}:${two(ofDay % 60)}`;
  const fraction = nanos === 0 ? '' : `.${String(nanos).padStart(9, '0').replace(/0+$/, '')}`;
  return `${date}T${clock}${fraction}Z`;
}
