// Four processes over WebSocket, from the command line: blocks and transactions, a killed node that comes
// back, recordings that replay, and how it all ends.

import { type ChildProcess, spawn } from 'node:child_process';
import * as fs from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { Agreement, Problems, Signatures } from '../../../runtime/cli/chaos/facts.ts';
import { checkStores } from '../../../runtime/cli/chaos/stores.ts';
import { checkTrace } from '../../../runtime/cli/chaos/traces.ts';
import { lockFolder } from '../../../runtime/host/disk/lock.ts';
import { homesBelow, makeHomes, readHome, usualPaths } from '../../../runtime/host/home/home.ts';
import { temporaryFolder } from './folders.ts';

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));
/** Test files run at the same time: each asks for ports of its own. */
const BASE_PORT = String(28_000 + (process.pid % 500) * 8);

interface Nodecli {
  readonly process: ChildProcess;
  readonly lines: string[];
  /** The first line that has this in it, now or later. */
  said(text: string | RegExp): Promise<string>;
  readonly exit: Promise<number | null>;
}

function nodecli(...args: string[]): Nodecli {
  const entry = join(ROOT, 'runtime/cli/nodecli.ts');
  const started = spawn(process.execPath, ['--conditions=source', '--import', 'tsx', entry, ...args], {
    cwd: ROOT,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  onTestFinished(() => void started.kill('SIGKILL'));
  const lines: string[] = [];
  const waiting: (() => void)[] = [];
  for (const stream of [started.stdout, started.stderr]) {
    createInterface({ input: stream }).on('line', (line) => {
      lines.push(line);
      for (const look of waiting) look();
    });
  }
  const exit = new Promise<number | null>((done) => started.once('close', (code) => done(code)));
  return {
    process: started,
    lines,
    exit,
    said: (text) =>
      new Promise((found, failed) => {
        const look = (): void => {
          const line = lines.find((each) =>
            typeof text === 'string' ? each.includes(text) : text.test(each),
          );
          if (line !== undefined) found(line);
        };
        look();
        waiting.push(look);
        void exit.then(() => failed(new Error(`it ended without saying ${text}:\n${lines.join('\n')}`)));
      }),
  };
}

const childrenOf = (pid: number): number[] =>
  fs.readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(/\s+/).map(Number);

/** A node that stopped in peace let go of its folder. */
const locks = (folder: string): string[] =>
  homesBelow(folder, 4).filter((home) => fs.existsSync(join(home, 'data', 'LOCK')));

async function gone(pids: readonly number[]): Promise<void> {
  for (const pid of pids) while (fs.existsSync(`/proc/${pid}`)) await sleep(20);
}

function judge(folder: string, traces: string, reported: bigint) {
  const problems = new Problems();
  const facts = { problems, agreement: new Agreement(problems), signatures: new Signatures(problems, '') };
  return {
    problems,
    stores: () =>
      Promise.all(
        homesBelow(folder, 4).map((home, i) =>
          checkStores({ name: `node${i}`, home, height: reported }, new Map(), facts),
        ),
      ),
    traces: () => [0, 1, 2, 3].map((i) => checkTrace(`node${i}`, join(traces, `node${i}.trace`), facts)),
  };
}

describe('a cluster', () => {
  test('makes blocks of what is sent, ends with equal hashes, goes on later, and its recordings replay', async () => {
    const folder = join(temporaryFolder(), 'net');
    const traces = join(folder, 'traces');
    const options = ['--home', folder, '--base-port', BASE_PORT, '--record', traces];
    const first = nodecli('cluster', ...options, '--blocks', '4', '--load', '20');
    expect(await first.exit).toBe(0);
    expect(first.lines).toContainEqual(expect.stringContaining('listen on 127.0.0.1 only'));
    expect(first.lines).toContainEqual(expect.stringMatching(/^node3 \| committed height 4, /));
    expect(first.lines).toContain('equal app hashes');
    expect(first.lines.at(-1)).toBe(`traces in ${traces}: npx nodecli sim replay ${traces}/node0.trace`);
    const { config, validatorKey } = readHome(join(folder, 'node2'));
    const address = Buffer.from(validatorKey.address).toString('hex');
    expect(first.lines).toContain(`node2  id ${config.id}, validator ${address}`);
    const [, sent, committed] = /^transactions: (\d+) sent, (\d+) committed$/.exec(
      await first.said('transactions: '),
    )!;
    expect(Number(sent)).toBeGreaterThan(20);
    expect(committed).toBe(sent);
    expect(locks(folder)).toEqual([]);

    const second = nodecli('cluster', ...options, '--blocks', '6');
    expect(await second.exit).toBe(0);
    expect(second.lines).toContainEqual(expect.stringMatching(/^network .* goes on in /));

    const { problems, stores, traces: replay } = judge(folder, traces, 6n);
    const found = await stores();
    expect(found.every(({ height, txs }) => height >= 6n && txs === Number(sent))).toBe(true);
    for (const { lives, heights } of replay()) {
      expect(lives).toBe(2);
      expect(heights).toBeGreaterThanOrEqual(6);
    }
    expect(problems.told).toEqual([]);
    // A node that others outran fetched height 6 without signing it; three signed.
    const signed = homesBelow(folder, 4).filter(
      (home) => Number(JSON.parse(fs.readFileSync(usualPaths(home).signState, 'utf8')).height) >= 6,
    );
    expect(signed.length).toBeGreaterThanOrEqual(3);
    const replayed = nodecli('sim', 'replay', join(traces, 'node2.trace'));
    expect(await replayed.exit).toBe(0);
    expect(replayed.lines).toContain('same effects, same state digests');
  });

  test('survives kill -9 of each node with cut logs: chaos, small', async () => {
    const folder = join(temporaryFolder(), 'net');
    const port = String(Number(BASE_PORT) + 4);
    const chaos = nodecli(
      'chaos',
      '--kills',
      '1',
      '--blocks',
      '12',
      '--load',
      '50',
      // How soon they are back is measured by the command; a busy machine may take its time here.
      '--back',
      '60',
      '--home',
      folder,
      '--base-port',
      port,
    );
    const code = await chaos.exit;
    expect(chaos.lines.filter((line) => line.startsWith('violated'))).toEqual([]);
    expect(code).toBe(0);
    expect(chaos.lines.at(-1)).toMatch(/^HOLDS/);
    expect(chaos.lines.filter((line) => /^node\d killed/.test(line))).toHaveLength(4);
  });

  test('two at once have ports of their own', async () => {
    const both = [0, 1].map(() => nodecli('cluster', '--blocks', '1'));
    for (const { exit } of both) expect(await exit).toBe(0);
  });

  test('SIGINT ends all of its processes in peace', async () => {
    const folder = join(temporaryFolder(), 'net');
    const {
      process: parent,
      said,
      exit,
      lines,
    } = nodecli('cluster', '--home', folder, '--base-port', BASE_PORT);
    for (const i of [0, 1, 2, 3]) await said(`node${i} | committed height 1,`);
    const children = childrenOf(parent.pid!);
    expect(children.length).toBeGreaterThanOrEqual(4);
    parent.kill('SIGINT');
    expect(await exit).toBe(0);
    expect(lines).toContainEqual(expect.stringMatching(/^transactions: 0 sent, 0 committed$/));
    expect(lines).toContain('equal app hashes');
    await gone(children);
    expect(locks(folder)).toEqual([]);
  });

  test.each([
    ['before the height that was asked for', ['--blocks', '1000'], 'node3 | committed height 1,', '1000'],
    ['before any height', [], 'node0 | listens', '1'],
  ])('an interrupt %s ends it with 1', async (_, more, moment, height) => {
    const folder = join(temporaryFolder(), 'net');
    const options = ['--home', folder, '--base-port', BASE_PORT, ...more];
    const { process: parent, said, exit, lines } = nodecli('cluster', ...options);
    await said(moment);
    parent.kill('SIGINT');
    expect(await exit).toBe(1);
    expect(lines).toContain(`interrupted before height ${height}`);
    expect(locks(folder)).toEqual([]);
  });

  test('a node that does not stop is killed, and the run does not end in peace', async () => {
    const folder = join(temporaryFolder(), 'net');
    const options = ['--home', folder, '--base-port', BASE_PORT];
    const { process: parent, said, exit, lines } = nodecli('cluster', ...options);
    await said('node3 | committed height 1,');
    const child = childrenOf(parent.pid!).find((pid) =>
      fs.readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes('node3'),
    );
    process.kill(child!, 'SIGSTOP');
    parent.kill('SIGINT');
    expect(await exit).toBe(1);
    expect(lines).toContain('node3 did not stop in order: it did not stop within 10 s, and was killed');
  });

  test('chaos that is interrupted starts nothing more and ends at once, with 1', async () => {
    const folder = join(temporaryFolder(), 'net');
    // So many kills that a node is down, or about to be, at any moment.
    const options = ['--kills', '50', '--blocks', '10', '--home', folder, '--base-port', BASE_PORT];
    const { process: parent, said, exit, lines } = nodecli('chaos', ...options);
    await said(/^node\d killed/);
    const interruptedMs = performance.now();
    parent.kill('SIGINT');
    expect(await exit).toBe(1);
    expect(performance.now() - interruptedMs).toBeLessThan(20_000);
    expect(lines).toContain(`interrupted; the network stays in ${folder}`);
    expect(locks(folder).length).toBeLessThanOrEqual(1); // that of the node that was down
  });

  test('its nodes end with it, also when it is killed', async () => {
    const folder = join(temporaryFolder(), 'net');
    const { process: parent, said } = nodecli('cluster', '--home', folder, '--base-port', BASE_PORT);
    await said('node2 | listens');
    const children = childrenOf(parent.pid!);
    parent.kill('SIGKILL');
    await gone(children);
    expect(locks(folder)).toEqual([]);
  });

  test('a node that is killed by somebody else ends it with 1', async () => {
    const { process: parent, said, exit, lines } = nodecli('cluster', '--base-port', BASE_PORT);
    const [, folder] = /temporary folder (.*)$/.exec(await said('temporary folder'))!;
    onTestFinished(() => fs.rmSync(folder!, { recursive: true, force: true }));
    await said('node1 | listens');
    const child = childrenOf(parent.pid!).find((pid) =>
      fs.readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes('node1'),
    )!;
    process.kill(child, 'SIGKILL');
    expect(await exit).toBe(1);
    expect(lines).toContain('node1 ended by itself: its process ended with SIGKILL');
    expect(lines.at(-1)).toMatch(
      `the network stays in ${folder} (keys, logs and blocks of each node): look into it, go on with ` +
        `npx nodecli cluster --home ${folder} --validators 4, or remove it`,
    );
    expect(homesBelow(folder!, 4).every((home) => fs.existsSync(home))).toBe(true);
  });
});

describe('what cannot be started', () => {
  const network = (): string => {
    const folder = join(temporaryFolder(), 'net');
    makeHomes(
      folder,
      [0, 1, 2, 3].map((i) => Number(BASE_PORT) + i),
    );
    return folder;
  };

  test('a port in use ends it with 2, and names the port', async () => {
    const folder = network();
    const server = createServer();
    await new Promise<void>((done) => server.listen(Number(BASE_PORT) + 2, '127.0.0.1', done));
    onTestFinished(() => void server.close());
    const { exit, lines } = nodecli('cluster', '--home', folder);
    expect(await exit).toBe(2);
    expect(lines).toContainEqual(
      expect.stringMatching(/^node2 \| cannot listen on ws:\/\/127\.0\.0\.1:\d+: the port is in use/),
    );
    expect(lines.filter((line) => /^\s+at /.test(line))).toEqual([]); // no stack
  });

  test("a node's folder that another process holds ends it with 2, and names that", async () => {
    const folder = network();
    onTestFinished(await lockFolder(usualPaths(join(folder, 'node1')).data));
    const { exit, lines } = nodecli('cluster', '--home', folder);
    expect(await exit).toBe(2);
    expect(lines).toContainEqual(
      expect.stringMatching(new RegExp(`^node1 \\| .*data is in use by process ${process.pid}; stop it`)),
    );
  });

  test('two at once in one new folder: one of them makes its network, the other ends with 2', async () => {
    const folder = join(temporaryFolder(), 'net');
    const both = [0, 1].map(() => nodecli('cluster', '--home', folder, '--base-port', BASE_PORT));
    const ended = both.map(({ exit }, i) => exit.then((code) => ({ code, i })));
    const { code, i } = await Promise.race(ended);
    expect(both[i]!.lines).toEqual([expect.stringMatching(/^nodecli: .*net is in use by process \d+; /)]);
    expect(code).toBe(2);
    const other = both[1 - i]!;
    for (const node of [0, 1, 2, 3]) await other.said(`node${node} | committed height 1,`);
    other.process.kill('SIGINT');
    expect(await other.exit).toBe(0);
    expect(fs.existsSync(join(folder, 'LOCK'))).toBe(false);
  });

  test('chaos: a port that somebody takes before its node does ends it with 2', async () => {
    /** Null: the node was faster. */
    const attempt = async () => {
      const folder = join(temporaryFolder(), 'net');
      const chaos = nodecli('chaos', '--home', folder, '--base-port', BASE_PORT);
      await chaos.said(/^seed /);
      const { listenAddress } = readHome(join(folder, 'node1')).config;
      const server = createServer();
      onTestFinished(() => void server.close());
      const isTaken = await new Promise<boolean>((tell) => {
        server.once('error', () => tell(false));
        server.listen(Number(new URL(listenAddress).port), '127.0.0.1', () => tell(true));
      });
      if (isTaken) return chaos;
      chaos.process.kill('SIGINT');
      await chaos.exit;
      return null;
    };
    let taken: Awaited<ReturnType<typeof attempt>> = null;
    while (!taken) taken = await attempt();
    const { exit, lines } = taken;
    expect(await exit).toBe(2);
    expect(lines.at(-1)).toMatch(/^nodecli: node1: cannot listen on .*the port is in use/);
  });

  test.each([
    [
      'a broken genesis',
      (folder: string) => fs.writeFileSync(usualPaths(join(folder, 'node1')).genesis, '{"chain'),
      /^nodecli: the genesis file .*node1\/config\/genesis\.json is not valid: /,
    ],
    [
      'a missing key',
      (folder: string) => fs.rmSync(usualPaths(join(folder, 'node3')).validatorKey),
      /^nodecli: .*incomplete network: .*node3\/config\/priv_validator_key\.json is missing/,
    ],
    [
      'another number of nodes',
      (folder: string) => fs.rmSync(join(folder, 'node3'), { recursive: true }),
      /^nodecli: .* holds a network of 3 nodes, not 4: start it with --validators 3/,
    ],
  ])('%s ends it with 2 and one line', async (_, harm, message) => {
    const folder = network();
    harm(folder);
    const { exit, lines } = nodecli('cluster', '--home', folder);
    expect(await exit).toBe(2);
    expect(lines).toEqual([expect.stringMatching(message)]);
  });

  test.each([
    [['--validators', '0'], /--validators takes a whole number from 1 on, not "0"/],
    [['--blocks', 'many'], /--blocks takes a whole number from 1 on, not "many"/],
    [['--base-port', '70000'], /--base-port takes 1 to 65535, not 70000/],
    [['--base-port', '65535'], /there are no 4 free ports from 65535 on/],
    [['--record', 'package.json'], /--record takes a folder, and package\.json is none: it is a file/],
    [['--home', 'docs'], /--home: docs holds \S+\.md, and no network of ours: name a new folder/],
  ])('%s', async (options, message) => {
    const folder = temporaryFolder();
    vi.stubEnv('TMPDIR', folder);
    onTestFinished(() => void vi.unstubAllEnvs());
    const { exit, lines } = nodecli('cluster', ...options);
    expect(await exit).toBe(2);
    expect(lines).toEqual([expect.stringMatching(message)]);
    expect(fs.readdirSync(folder).filter((name) => name.startsWith('nodecli'))).toEqual([]);
    expect(homesBelow('docs', 1).filter((home) => fs.existsSync(home))).toEqual([]);
  });

  test('chaos: a home that is a file', async () => {
    const { exit, lines } = nodecli('chaos', '--home', 'package.json');
    expect(await exit).toBe(2);
    expect(lines).toEqual([expect.stringMatching(/^nodecli: cannot read the folder package\.json: /)]);
  });
});
