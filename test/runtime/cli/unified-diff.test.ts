// A unified diff becomes edits: what stands there, and what stands there instead.

import { expect, it } from 'vitest';
import { editsOfDiff } from '../../../runtime/cli/patch/unified-diff.ts';

it('each hunk is an edit of its file; a/ and b/, dist/ and times are no part of its name', () => {
  const diff = [
    'diff --git a/dist/x/a.js b/dist/x/a.js',
    'index 111..222 100644',
    '--- a/dist/x/a.js\t2026-01-01',
    '+++ b/dist/x/a.js\t2026-01-02',
    '@@ -1,3 +1,3 @@ function f() {',
    ' before',
    '-old',
    '+new',
    ' after',
    '@@ -9,2 +9,1 @@',
    ' kept',
    '-gone',
    '--- a/y.ts',
    '+++ b/y.ts',
    '@@ -1 +1,2 @@',
    ' one',
    '+two',
    '\\ No newline at end of file',
    '',
  ].join('\n');
  expect(editsOfDiff(diff)).toEqual([
    { file: 'x/a.js', find: 'before\nold\nafter', replace: 'before\nnew\nafter' },
    { file: 'x/a.js', find: 'kept\ngone', replace: 'kept' },
    { file: 'y.ts', find: 'one', replace: 'one\ntwo' },
  ]);
});

it('lines that begin with dashes or pluses are no names of files, by what the head of their hunk counts', () => {
  const names = ['--- a/x.js', '+++ b/x.js'];
  const lines = ['-- a comment', 'let a = 1;', '-- i;', '++ i;'];
  const edit = { file: 'x.js', find: lines.slice(0, 3).join('\n'), replace: 'let a = 1;\n++ i;' };
  const hunk = ['@@ -1,3 +1,2 @@', '--- a comment', ' let a = 1;', '--- i;', '+++ i;'];
  const next = ['--- a/y.js', '+++ b/y.js', '@@ -1 +1 @@', '-one', '+two'];
  expect(editsOfDiff([...names, ...hunk].join('\n'))).toEqual([edit]);
  expect(editsOfDiff([...names, ...hunk, ...next].join('\n'))).toEqual([
    edit,
    { file: 'y.js', find: 'one', replace: 'two' },
  ]);
  // As a hand writes it, which counts nothing.
  const uncounted = ['@@', '--- a comment', ' let a = 1;'];
  expect(editsOfDiff([...names, ...uncounted, ...next].join('\n'))).toMatchObject([
    { find: '-- a comment\nlet a = 1;', replace: 'let a = 1;' },
    { file: 'y.js' },
  ]);
});

it('says what is wrong with it', () => {
  expect(editsOfDiff('hello\n')).toEqual({ because: 'there is no hunk in it' });
  expect(editsOfDiff('@@ -1 +1 @@\n-x\n')).toEqual({ because: 'line 1: a hunk before any "+++ file"' });
});

it('what stands below the last line of a hunk is none of it, as the signature of a mailed patch', () => {
  const diff = ['--- a/x.js', '+++ b/x.js', '@@ -1 +1 @@', '-one', '+two', '-- ', '2.39.5', ''].join('\n');
  expect(editsOfDiff(diff)).toEqual([{ file: 'x.js', find: 'one', replace: 'two' }]);
});
