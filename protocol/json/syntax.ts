// Where a text stops being JSON, for people who wrote it by hand: what engines say of it differs, and some name no place.

import { type ParseError, parse, printParseErrorCode } from 'jsonc-parser';

/** `text` is what JSON.parse refused: the line and column of the first fault, both from 1, and what is wrong there. */
export function whyNotJson(text: unknown): string {
  if (typeof text !== 'string') return 'it is no text';
  if (text.trim() === '') return 'it is empty';
  if (text.startsWith('\ufeff')) return 'it begins with a byte order mark; save it as UTF-8 without one';
  const first = firstFault(text);
  if (!first) return 'it is nested too deep to say where it goes wrong';
  const before = text.slice(0, first.offset).split('\n');
  return `line ${before.length}, column ${before.at(-1)!.length + 1}: ${wordsOf(first)}`;
}

/** Undefined: lists within lists, by the thousand. */
function firstFault(text: string): ParseError | undefined {
  const faults: ParseError[] = [];
  try {
    parse(text, faults, { disallowComments: true });
  } catch (error) {
    if (!(error instanceof RangeError)) throw error; // the stack is used up
  }
  return faults[0];
}

/** PropertyNameExpected: "property name expected". */
const wordsOf = ({ error }: ParseError): string =>
  printParseErrorCode(error)
    .replace(/\B[A-Z]/g, ' $&')
    .toLowerCase();
