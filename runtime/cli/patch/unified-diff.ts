// Reads a unified diff as edits: each hunk is a text that stands in a file once, and what stands there instead.

import type { Edit } from './edit.ts';

interface Hunk {
  readonly find: string[];
  readonly replace: string[];
  /** How many lines of each are still to come, by its head. */
  before: number;
  after: number;
}

const HEAD = /^@@ -[0-9]+(?:,([0-9]+))? \+[0-9]+(?:,([0-9]+))? @@/;

function hunkOf(head: string): Hunk {
  const [whole, before = '1', after = '1'] = HEAD.exec(head) ?? [];
  const isKnown = whole !== undefined;
  return { find: [], replace: [], before: isKnown ? Number(before) : 0, after: isKnown ? Number(after) : 0 };
}

/** @returns the edits, or what is wrong with the diff and in which line. */
export function editsOfDiff(text: string): readonly Edit[] | { readonly because: string } {
  const edits: Edit[] = [];
  let file: string | null = null;
  let hunk: Hunk | null = null;
  const close = (): void => {
    if (hunk && file) edits.push({ file, find: hunk.find.join('\n'), replace: hunk.replace.join('\n') });
    hunk = null;
  };
  const lines = text.split('\n');
  for (const [i, line] of lines.entries()) {
    // A line that begins with two dashes looks like the name of a file once it is removed, as `++` does once it is added.
    const removes = hunk !== null && (hunk.before > 0 || !lines[i + 1]?.startsWith('+++ '));
    if (line.startsWith('--- ') && !removes) close();
    else if (line.startsWith('+++ ') && !(hunk && hunk.after > 0)) {
      close();
      file = pathOf(line.slice(4));
    } else if (line.startsWith('@@')) {
      close();
      if (!file) return { because: `line ${i + 1}: a hunk before any "+++ file"` };
      hunk = hunkOf(line);
    } else if (hunk) {
      if (line.startsWith('diff ')) close();
      else take(hunk, line);
      // What follows is no part of it, as the signature below a mailed patch.
      if (hunk?.before === 0 && hunk.after === 0) close();
    }
  }
  close();
  return edits.length > 0 ? edits : { because: 'there is no hunk in it' };
}

function take(hunk: Hunk, line: string): void {
  const rest = line.slice(1);
  if (line.startsWith(' ') || line.startsWith('-')) {
    hunk.find.push(rest);
    hunk.before--;
  }
  if (line.startsWith(' ') || line.startsWith('+')) {
    hunk.replace.push(rest);
    hunk.after--;
  }
}

/** Without the `b/` of git, the time after a tab, and the folder of the build. */
const pathOf = (name: string): string =>
  (name.split('\t')[0] ?? '')
    .trim()
    .replace(/^b\//, '')
    .replace(/^dist\//, '');
