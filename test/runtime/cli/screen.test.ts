// How far a command is, on stderr: a bar on a terminal, lines elsewhere, and with --json a bar or nothing.

import { afterEach, expect, it, vi } from 'vitest';
import type { NodeEvent } from '../../../actors/turn.ts';
import { Columns, ProgressBar } from '../../../runtime/cli/screen.ts';
import type { Machine } from '../../../sim/machine.ts';

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

it.each([
  ['no terminal', undefined, 4, 13 + 3 * 30],
  ['a wide one', 200, 4, 13 + 3 * 30],
  ['a narrow one', 80, 4, 13 + 3 * 12],
  ['one that is too narrow for so many', 80, 30, 13 + 29 * 4],
  ['one for a single node', 80, 1, 13],
])('--log on %s: where the column of the last node begins', (_, width, nodes, begins) => {
  const lines: string[] = [];
  const columns = new Columns((line) => lines.push(line), width);
  columns.seat(nodes);
  const last = { index: nodes - 1, name: `v${nodes - 1}`, config: { peers: [] } } as unknown as Machine;
  columns.event(last, { type: 'mode', mode: 'sync' } as NodeEvent, 2e9);
  expect(lines.map((line) => line.search(/(mode sync|v\d+)$/))).toEqual([begins, begins]);
});
