// How far a command is, on stderr: a bar on a terminal, lines elsewhere, and with --json a bar or nothing.

import { afterEach, expect, it, vi } from 'vitest';
import { ProgressBar } from '../../../runtime/cli/screen.ts';

const wasTerminal = process.stderr.isTTY;
afterEach(() => {
  vi.restoreAllMocks();
  process.stderr.isTTY = wasTerminal;
});

const BAR = `\r[${'#'.repeat(15)}${'.'.repeat(15)}]  50 %  half\x1b[K`;

it.each([
  ['a terminal', true, false, BAR],
  ['a terminal, with --json', true, true, BAR],
  ['a file', false, false, ' 50 %  half\n'],
  ['a file, with --json', false, true, ''],
])('%s', (_, isTerminal, isJson, says) => {
  process.stderr.isTTY = isTerminal;
  let told = '';
  vi.spyOn(process.stderr, 'write').mockImplementation((text) => {
    told += text;
    return true;
  });
  vi.spyOn(performance, 'now').mockReturnValueOnce(0).mockReturnValue(20_000);
  new ProgressBar(isJson).update(0.5, 'half');
  expect(told).toBe(says);
});
