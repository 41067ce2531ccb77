// Ports that are held are nobody else's.

import { createServer, Server } from 'node:net';
import { expect, onTestFinished, test, vi } from 'vitest';
import { drawnPort, holdPorts } from '../../../runtime/cli/cluster/free-ports.ts';

test('two networks that look from one port on find different ones; what was let go is free again', async () => {
  const first = drawnPort();
  const one = await holdPorts(first, 4);
  const other = await holdPorts(first, 4);
  expect(new Set([...one.ports, ...other.ports]).size).toBe(8);
  const isFree = (port: number): Promise<boolean> =>
    new Promise((tell) => {
      const server = createServer();
      server.once('error', () => tell(false));
      server.listen({ host: '127.0.0.1', port }, () => server.close(() => tell(true)));
    });
  expect(await Promise.all(one.ports.map(isFree))).toEqual([false, false, false, false]);
  await Promise.all([one.free(), other.free()]);
  expect(await Promise.all(one.ports.map(isFree))).toEqual([true, true, true, true]);
});

test('a port that cannot be had for another reason than being taken is told as it is', async () => {
  const listen = vi.spyOn(Server.prototype, 'listen').mockImplementation(function (this: Server) {
    setImmediate(() => this.emit('error', Object.assign(new Error('EMFILE: too many'), { code: 'EMFILE' })));
    return this;
  });
  onTestFinished(() => listen.mockRestore());
  await expect(holdPorts(20_000, 4)).rejects.toThrow(/^cannot listen on 127\.0\.0\.1:20000: /);
});

test('where to look is drawn anew each time, below what the system lends', () => {
  const drawn = Array.from({ length: 20 }, drawnPort);
  expect(new Set(drawn).size).toBeGreaterThan(10);
  expect(Math.max(...drawn)).toBeLessThan(32_768 - 64);
});
