// How the processes of nodes end: those that never began, and those that a crash ended.

import { filter, firstValueFrom } from 'rxjs';
import { expect, onTestFinished, test, vi } from 'vitest';
import { Cluster } from '../../../runtime/cli/cluster/cluster.ts';

const { execPath } = process;

test('a node that gets no process is refused, and nobody waits for its end', async () => {
  process.execPath = '/nowhere/node';
  onTestFinished(() => {
    process.execPath = execPath;
  });
  const cluster = new Cluster(['/nowhere/node0', '/nowhere/node1'], null);
  const [node, other] = cluster.nodes;
  const ends: string[] = [];
  cluster.events.subscribe((event) => {
    if (event.type === 'exited') ends.push(`${event.node.name} ${event.isOurs}`);
  });
  cluster.startAll();
  // Node would signal whatever stands where a pid should be: our own process group, at worst.
  const killed = cluster.nodes.map(({ child }) => vi.spyOn(child!, 'kill').mockReturnValue(true));
  await Promise.all([cluster.kill(node!), cluster.stopAll()]);
  expect(ends).toEqual(['node0 true', 'node1 true']);
  for (const kill of killed) expect(kill).not.toHaveBeenCalled();
  cluster.start(other!);
  await firstValueFrom(cluster.events.pipe(filter(({ type }) => type === 'exited')));
  await cluster.stopAll();
  expect(ends.at(-1)).toBe('node1 false');
  expect(other).toMatchObject({
    child: null,
    wasRefused: true,
    fatal: 'its process could not be started: spawn /nowhere/node ENOENT',
  });
});

test.each([
  ['SIGSEGV', '; its databases (*.db in /nowhere/node0/data) may be damaged'],
  ['SIGBUS', '; its databases (*.db in /nowhere/node0/data) may be damaged'],
  ['SIGABRT', '; its databases (*.db in /nowhere/node0/data) may be damaged'],
  ['SIGKILL', ''],
] as const)('a node that ends with %s', async (signal, more) => {
  const cluster = new Cluster(['/nowhere/node0'], null);
  const [node] = cluster.nodes;
  cluster.start(node!);
  const ended = firstValueFrom(cluster.events.pipe(filter(({ type }) => type === 'exited')));
  process.kill(node!.child!.pid!, signal);
  expect(await ended).toMatchObject({ how: signal, isOurs: false });
  expect(node).toMatchObject({ fatal: `its process ended with ${signal}${more}`, wasRefused: false });
});
