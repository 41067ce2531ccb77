// Reads a unified diff as edits: each hunk is a text that stands in a file once, and what stands there instead.

import type { Edit } from './patched-build.ts';

/** @returns the edits, or what is wrong with the diff and in which line. */
export function editsOfDiff(text: string): readonly Edit[] | { readonly because: string } {
  const edits: Edit[] = [];
  let file: string | null = null;
  let hunk: { find: string[]; replace: string[] } | null = null;
  const close = (): void => {
    if (hunk && file) edits.push({ file, find: hunk.find.join('\n'), replace: hunk.replace.join('\n') });
    hunk = null;
  };
  for (const [i, line] of text.split('\n').entries()) {
    if (line.startsWith('--- ') && !hunk) continue;
    if (line.startsWith('+++ ')) {
      close();
      file = pathOf(line.slice(4));
    } else if (line.startsWith('@@')) {
      close();
      if (!file) return { because: `line ${i + 1}: a hunk before any "+++ file"` };
      hunk = { find: [], replace: [] };
    } else if (hunk) {
      if (line.startsWith('diff ') || line.startsWith('--- ')) close();
      else take(hunk, line);
    }
  }
  close();
  return edits.length > 0 ? edits : { because: 'there is no hunk in it' };
}

function take(hunk: { find: string[]; replace: string[] }, line: string): void {
  const rest = line.slice(1);
  if (line.startsWith(' ')) {
    hunk.find.push(rest);
    hunk.replace.push(rest);
  } else if (line.startsWith('-')) hunk.find.push(rest);
  else if (line.startsWith('+')) hunk.replace.push(rest);
}

/** Without the `b/` of git, the time after a tab, and the folder of the build. */
const pathOf = (name: string): string =>
  (name.split('\t')[0] ?? '')
    .trim()
    .replace(/^b\//, '')
    .replace(/^dist\//, '');
