// The text of JSON as Go prints it, made without parsing: that would lose numbers beyond 2^53.

import { isSpace, skipString } from './member-text.ts';

const lineOf = (depth: number): string => `\n${'  '.repeat(depth)}`;

/** `text` must be JSON that JSON.parse accepts; it stands `depth` members deep, two spaces for each (json.Indent). */
export function indentedText(text: string, depth: number): string {
  let written = '';
  let deep = depth;
  let isFirst = false; // after an opening bracket: an empty object or list stays on its line
  for (let at = 0; at < text.length; ) {
    const char = text[at]!;
    const end = char === '"' ? skipString(text, at) : at + 1;
    if (char === '}' || char === ']') {
      deep--;
      written += isFirst ? char : lineOf(deep) + char;
      isFirst = false;
    } else if (!isSpace(char.charCodeAt(0))) {
      if (isFirst) written += lineOf(deep);
      isFirst = char === '{' || char === '[';
      if (isFirst) deep++;
      written += text.slice(at, end);
      if (char === ',') written += lineOf(deep);
      else if (char === ':') written += ' ';
    }
    at = end;
  }
  return written;
}

/** What HTML or JavaScript could take for its own is escaped; in JSON it stands in texts alone. */
export const escapedText = (json: string): string =>
  json.replace(/[<>&\u2028\u2029]/g, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`);
