// A load is steady: bounded when it is asked for, after a stall, and for a node that does not read.

import type { ChildProcess } from 'node:child_process';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { Cluster } from '../../../runtime/cli/cluster/cluster.ts';
import { ClusterLoad, loadOf } from '../../../runtime/cli/cluster/load.ts';
import type { NodeStatus, ToNode } from '../../../runtime/host/process/process-words.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** A cluster whose channels are ours; `read` is what a process does when it has time. */
function fakeCluster(count: number) {
  const cluster = new Cluster(
    Array.from({ length: count }, (_, i) => `node${i}`),
    null,
  );
  const channels = cluster.nodes.map((node) => {
    const channel = { hasRoom: true, txs: 0, messages: 0, read: (): void => {} };
    const send = (word: ToNode, written: () => void): boolean => {
      channel.messages++;
      if (word.type === 'submit') channel.txs += word.txs.length;
      if (channel.hasRoom) queueMicrotask(written);
      else channel.read = written;
      return channel.hasRoom;
    };
    node.child = { connected: true, send } as unknown as ChildProcess;
    node.status = {} as NodeStatus;
    return channel;
  });
  return { cluster, channels };
}

test('--load has a most', () => {
  expect(loadOf('100000')).toBe(100_000);
  expect(() => loadOf('100000000')).toThrow('--load is at most 100000 transactions a second, not 100000000');
});

test('so many a second, over the nodes in turn', async () => {
  const { cluster, channels } = fakeCluster(2);
  const load = new ClusterLoad(cluster, 50);
  load.start();
  await vi.advanceTimersByTimeAsync(10_000);
  load.stop();
  expect(load.sent).toBeGreaterThanOrEqual(499);
  expect(load.sent).toBeLessThanOrEqual(500);
  for (const { txs } of channels) expect(Math.abs(txs - load.sent / 2)).toBeLessThan(1);
});

test('after a stall it sends what was due for some ticks, and goes on', async () => {
  const { cluster } = fakeCluster(1);
  const load = new ClusterLoad(cluster, 10_000);
  load.start();
  await vi.advanceTimersByTimeAsync(25);
  const before = load.sent;
  vi.spyOn(performance, 'now').mockReturnValueOnce(performance.now() + 60_000);
  await vi.advanceTimersByTimeAsync(25);
  load.stop();
  expect(load.sent - before).toBe(2_000);
});

test('a node that does not read is left out until it has, and the others get the load', async () => {
  const { cluster, channels } = fakeCluster(2);
  const [slow, quick] = channels as [(typeof channels)[0], (typeof channels)[0]];
  const load = new ClusterLoad(cluster, 10_000);
  slow.hasRoom = false;
  load.start();
  await vi.advanceTimersByTimeAsync(1_000);
  expect(slow.messages).toBe(1);
  expect(quick.txs).toBeGreaterThan(9_000);
  slow.hasRoom = true;
  slow.read();
  await vi.advanceTimersByTimeAsync(1_000);
  load.stop();
  expect(slow.messages).toBeGreaterThan(30);
});
