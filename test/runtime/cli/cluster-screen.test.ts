// A cluster on a terminal: what is drawn below the nodes' lines can be erased again, however many nodes there are.

import { Subject } from 'rxjs';
import { expect, it } from 'vitest';
import type { Cluster } from '../../../runtime/cli/cluster/cluster.ts';
import { ClusterScreen } from '../../../runtime/cli/cluster/screen.ts';
import type { NodeStatus } from '../../../runtime/host/process/process-words.ts';

/** What a terminal of 24 rows is told when a cluster of so many says a line, and closes. */
function toldBy(
  count: number,
  status: Partial<NodeStatus> | null = null,
): { readonly drawn: readonly string[]; readonly erased: string } {
  const nodes = Array.from({ length: count }, (_, i) => ({
    name: `node${i}`,
    isUp: true,
    height: 7n,
    status,
  }));
  const cluster = { nodes, events: new Subject() } as unknown as Cluster;
  const written: string[] = [];
  const write = (text: string): boolean => written.push(text) > 0;
  const out = { isTTY: true, columns: 120, rows: 24, write } as unknown as NodeJS.WriteStream;
  const screen = new ClusterScreen(cluster, false, out);
  screen.line('hello');
  screen.close();
  const [line, drawn = '', erased = ''] = written;
  expect(line).toBe('hello\n');
  return { drawn: drawn.trimEnd().split('\n'), erased };
}

it('draws a line for each node, and erases them at the end', () => {
  const { drawn, erased } = toldBy(23);
  expect(drawn).toHaveLength(23);
  expect(drawn.at(-1)).toBe('node22 : starting');
  expect(erased).toBe('\x1b[23A\x1b[0J');
});

it('draws no more lines than cursor-up can reach, and says how many are left out', () => {
  const { drawn, erased } = toldBy(30);
  expect(drawn).toHaveLength(23);
  expect(drawn.slice(-2)).toEqual(['node21 : starting', 'and 8 more']);
  expect(erased).toBe('\x1b[23A\x1b[0J');
});

it.each([
  [{ mode: 'sync', round: 0, step: 0, peers: 3 }, 'sync, 3 peers'],
  [{ mode: 'consensus', round: 0, step: 0, peers: 1 }, 'round 0, 1 peer'], // no step was told yet
  [{ mode: 'consensus', round: 2, step: 4, peers: 0 }, 'round 2, prevote, 0 peers'],
])('says where a node stands: %s', (status, text) => {
  const { drawn } = toldBy(1, { ...status, pool: 9, rssBytes: 80e6 });
  expect(drawn).toEqual([`node0 : height 7, ${text}, 9 txs in pool, 80 MB`]);
});
