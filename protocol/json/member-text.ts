// Finds the text of one member of a JSON object, untouched: parsing it would lose numbers beyond 2^53.

import { must } from '../refusal.ts';

export const isSpace = (code: number): boolean => code === 32 || code === 10 || code === 13 || code === 9;

function skipSpace(text: string, at: number): number {
  let next = at;
  while (isSpace(text.charCodeAt(next))) next++;
  return next;
}

/** `at` is on the opening quote; returns the place after the closing one. */
export function skipString(text: string, at: number): number {
  let next = at + 1;
  while (text[next] !== '"') next += text[next] === '\\' ? 2 : 1;
  return next + 1;
}

function skipValue(text: string, at: number): number {
  let next = at;
  let depth = 0;
  for (;;) {
    const char = text[next]!;
    if (char === '"') next = skipString(text, next);
    else if (char === '{' || char === '[') {
      depth++;
      next++;
    } else if (depth > 0 && (char === '}' || char === ']')) {
      depth--;
      next++;
    } else if (depth > 0) {
      next++; // commas, colons, spaces and scalars inside
      continue;
    } else {
      while (next < text.length && !/[\s,}\]]/.test(text[next]!)) next++; // a scalar
      return next;
    }
    if (depth === 0) return next;
  }
}

/**
 * `text` must be a JSON object that JSON.parse accepts. Of members with one name the last counts, as there.
 * Null: no such member.
 */
export function memberText(text: string, name: string): string | null {
  let found: string | null = null;
  let at = skipSpace(text, 0);
  must(text[at] === '{', 'a member was looked for in something that is not an object');
  at = skipSpace(text, at + 1);
  while (text[at] === '"') {
    const keyEnd = skipString(text, at);
    const key = JSON.parse(text.slice(at, keyEnd)) as string;
    const start = skipSpace(text, skipSpace(text, keyEnd) + 1); // over the colon
    const end = skipValue(text, start);
    if (key === name) found = text.slice(start, end);
    at = skipSpace(text, end);
    if (text[at] === ',') at = skipSpace(text, at + 1);
  }
  return found;
}
