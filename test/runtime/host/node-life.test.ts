// One life of a node after another in the same home.

import * as fs from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import { KvStore } from '../../../machines/apps/kvstore.ts';
import { CHANNEL_GREETING, encodeNodeInfo, nodeInfoOf } from '../../../machines/peers/node-info.ts';
import { formatPrivValidatorState } from '../../../protocol/json/index.ts';
import { unreachable } from '../../../protocol/refusal.ts';
import { makeHomes, readHome, usualPaths } from '../../../runtime/host/home/home.ts';
import { packEnvelope } from '../../../runtime/host/net/envelope.ts';
import { NodeLife } from '../../../runtime/host/process/node-life.ts';
import { temporaryFolder } from './folders.ts';
import { stranger, until } from './sockets.ts';

const change = (path: string, from: string | RegExp, to: string): void =>
  fs.writeFileSync(path, fs.readFileSync(path, 'utf8').replace(from, to));

/** A life until the next block; its warnings. `last`: what happens before it ends. */
async function decideOne(home: string, record: string | null = null, last = () => {}): Promise<string[]> {
  const lines: string[] = [];
  await new Promise<void>((decided, failed) => {
    const begun = NodeLife.begin({
      home,
      record,
      commit: '',
      say: (line) => lines.push(line),
      tell: (word) => {
        if (word.type !== 'committed') return;
        const ended = begun.then((life) => {
          last();
          return life.end();
        });
        ended.then(decided, failed);
      },
      ended: (because) => failed(new Error(because)),
      lost: () => {},
    });
    begun.then((life) => life.start(), failed);
  });
  return lines.filter((line) => line.startsWith('warning'));
}

test('a chain goes on with the genesis that it began with, and says so where the file is another one', async () => {
  const [home] = makeHomes(join(temporaryFolder(), 'net'), [0]) as [string];
  const { config, genesis } = usualPaths(home);
  change(config, 'timeout_commit = "1s"', 'timeout_commit = "10ms"');
  expect(await decideOne(home)).toEqual([]);

  const written = fs.readFileSync(genesis, 'utf8');
  change(genesis, /chain-....../, 'chain-other!');
  expect(await decideOne(home)).toEqual([
    expect.stringMatching(/^warning: the genesis file .*genesis\.json is not the one .* that one counts/),
  ]);
  fs.writeFileSync(genesis, JSON.stringify(JSON.parse(written)));
  expect(await decideOne(home)).toEqual([]);
});

test('a key that signed elsewhere since signs nothing up to there', async () => {
  const [home] = makeHomes(join(temporaryFolder(), 'net'), [0]) as [string];
  const { config, signState } = usualPaths(home);
  change(config, 'timeout_propose = "3s"', 'timeout_propose = "10ms"');
  const [signBytes, signature] = [Uint8Array.of(5), new Uint8Array(64).fill(5)];
  const elsewhere = formatPrivValidatorState({ height: 5n, round: 0, step: 3, signBytes, signature });
  fs.writeFileSync(signState, elsewhere);
  const words: string[] = [];
  let life: NodeLife | null = null;
  await new Promise<void>((done, failed) => {
    const begun = NodeLife.begin({
      home,
      record: null,
      commit: '',
      say: (line) => {
        if (line.startsWith('warning: the signer refuses') && words.push(line) === 2) done();
      },
      tell: ({ type }) => {
        if (type === 'committed') failed(new Error('height 1 is decided, and signed for the second time'));
      },
      ended: (because) => failed(new Error(because)),
      lost: () => {},
    });
    begun.then((it) => {
      life = it;
      it.start();
    }, failed);
  }).finally(() => life?.end());
  // The proposal, and the prevote for nothing when that does not come.
  const because = (step: number): string =>
    `warning: the signer refuses 1/0/${step}: height regression. Got 1, last height 5`;
  expect(words).toEqual([because(1), because(2)]);
  expect(fs.readFileSync(signState, 'utf8')).toBe(elsewhere);
});

test('a validator of many that names no peer says that it waits for one', async () => {
  const [home] = makeHomes(join(temporaryFolder(), 'net'), [0, 0]) as [string, string];
  change(usualPaths(home).config, /^persistent_peers = .*$/m, '');
  const saysUntil = await begin(home);
  expect(await saysUntil(/^warning: p2p/)).toContain(
    'names no peer, and without others this node sees no block',
  );
});

test('a node whose chain was lost says where it was, and what to do', async () => {
  const [home] = makeHomes(join(temporaryFolder(), 'net'), [0]) as [string];
  const { config, data } = usualPaths(home);
  change(config, 'timeout_commit = "1s"', 'timeout_commit = "10ms"');
  await decideOne(home);
  const [chain, app] = ['chain.db', 'app.db'].map((name) => join(data, name));
  fs.rmSync(chain!, { recursive: true });
  const [, because] = await decideOne(home).then(
    () => [],
    (error: Error) =>
      /^the node halted: app block height .* is higher than core .*?(\/.*)$/.exec(error.message)!,
  );
  expect(because).toBe(
    `${chain} was lost: it held nothing when the node began, and ${app} did. Restore it from a copy; or, where ` +
      `peers have the chain, remove ${app}, too, and the node fetches the blocks again. ` +
      'Keep privval.log: without it this key might sign twice',
  );
});

test('an actor that throws at its start ends the life, which was never up', async () => {
  const [home] = makeHomes(join(temporaryFolder(), 'net'), [0]) as [string];
  const words: string[] = [];
  const life = await NodeLife.begin({
    home,
    record: null,
    commit: '',
    say: () => {},
    tell: ({ type }) => words.push(type),
    ended: (because) => words.push(because),
    lost: () => {},
  });
  onTestFinished(() => life.end());
  const broken = vi
    .spyOn(KvStore.prototype, 'restore')
    .mockImplementation(() => unreachable('a broken disk'));
  onTestFinished(() => broken.mockRestore());
  life.start();
  expect(words).toEqual([expect.stringMatching(/^a bug in the actor app: .*a broken disk/)]);
});

test('a node whose folder is taken does nothing more in it', async () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
  onTestFinished(() => void vi.useRealTimers());
  const [home] = makeHomes(join(temporaryFolder(), 'net'), [0]) as [string];
  const { config, data, signState } = usualPaths(home);
  change(config, 'timeout_commit = "1s"', 'timeout_commit = "10ms"');
  const losses: string[] = [];
  const lost = new Promise<void>((done) => {
    const begun = NodeLife.begin({
      home,
      record: null,
      commit: '',
      say: () => {},
      tell: ({ type }) => {
        if (type !== 'committed' || losses.length > 0) return;
        fs.writeFileSync(join(data, 'LOCK'), '7 1 boot elsewhere');
        vi.advanceTimersByTime(5_000);
      },
      ended: (because) => losses.push(because),
      lost: (because) => {
        losses.push(because);
        setImmediate(done);
      },
    });
    void begun.then((life) => {
      onTestFinished(() => life.end());
      life.start();
    });
  });
  await lost;
  const contents = (): string[] =>
    [...['consensus.log', 'privval.log', 'LOCK'].map((name) => join(data, name)), signState].map((path) =>
      fs.readFileSync(path).toString('hex'),
    );
  const before = contents();
  await new Promise((later) => setTimeout(later, 100));
  expect(losses).toEqual([expect.stringContaining('and writes nothing more')]);
  expect(contents()).toEqual(before);
});

test('without a free file descriptor its memory is what it was, and the node goes on', async () => {
  const [home] = makeHomes(join(temporaryFolder(), 'net'), [0]) as [string];
  const options = {
    home,
    record: null,
    commit: '',
    say: () => {},
    tell: () => {},
    ended: () => {},
    lost: () => {},
  };
  const life = await NodeLife.begin(options);
  onTestFinished(() => life.end());
  const { rssBytes } = life.status();
  expect(rssBytes).toBeGreaterThan(1_000_000);
  const full = vi.spyOn(process.memoryUsage, 'rss').mockImplementation(() => {
    throw Object.assign(new Error('EMFILE: too many open files, uv_resident_set_memory'), { code: 'EMFILE' });
  });
  onTestFinished(() => full.mockRestore());
  expect(life.status().rssBytes).toBe(rssBytes);
});

test("where the file of the key's last signature cannot be written, all the rest is closed", async () => {
  const folder = temporaryFolder();
  const [home] = makeHomes(join(folder, 'net'), [0]) as [string];
  const { config, data, signState } = usualPaths(home);
  change(config, 'timeout_commit = "1s"', 'timeout_commit = "10ms"');
  const content = fs.readFileSync(signState);
  const trace = join(folder, 'node0.trace');
  const ending = decideOne(home, trace, () => {
    fs.rmSync(signState);
    fs.mkdirSync(signState);
  });
  await expect(ending).rejects.toThrow(`cannot write ${signState}: it is a folder`);
  expect(fs.existsSync(join(data, 'LOCK'))).toBe(false);
  if (process.platform === 'linux') {
    const [, , , bytes] = fs.readFileSync(`${trace}.mark`, 'utf8').split(' ');
    expect(Number(bytes)).toBe(fs.statSync(trace).size);
  }
  fs.rmdirSync(signState);
  fs.writeFileSync(signState, content);
  expect(await decideOne(home, trace)).toEqual([]);
});

/** Starts a life, and gives the way to wait for a line of it. */
async function begin(home: string): Promise<(pattern: RegExp) => Promise<string>> {
  const said: string[] = [];
  let heard = (): void => {};
  const life = await NodeLife.begin({
    home,
    record: null,
    commit: '',
    say: (line) => {
      said.push(line);
      heard();
    },
    tell: () => {},
    ended: (because) => said.push(because),
    lost: () => {},
  });
  onTestFinished(() => life.end());
  life.start();
  return async (pattern) => {
    for (;;) {
      const line = said.find((each) => pattern.test(each));
      if (line !== undefined) return line;
      await new Promise<void>((more) => {
        heard = more;
      });
    }
  };
}

/** Where it says that it listens. */
const addressOf = async (saysUntil: (pattern: RegExp) => Promise<string>): Promise<string> =>
  (await saysUntil(/^listens on/)).replace(/^listens on /, '');

test('who cuts off a peer of another chain says why', async () => {
  const homes = [0, 1].map((i) => makeHomes(join(temporaryFolder(), `net${i}`), [0])[0] as string);
  const [ours, theirs] = homes as [string, string];
  const chainOf = (home: string): string =>
    JSON.parse(fs.readFileSync(usualPaths(home).genesis, 'utf8')).chain_id;
  const theyUntil = await begin(theirs);
  const address = (await addressOf(theyUntil)).replace(/^.*\/\//, '');
  const { id } = readHome(theirs).config;
  change(usualPaths(ours).config, /^persistent_peers = .*$/m, `persistent_peers = "${id}@${address}"`);
  const weUntil = await begin(ours);
  const line = await weUntil(/^warning: cuts off peer/);
  expect(line).toContain(`cuts off peer ${id.slice(0, 8)}: greeting: its network is`);
  expect(line).toContain(chainOf(theirs));
  expect(line).toContain(chainOf(ours));
});

test('who is one more than the inbound peers of config.toml is turned away, and a persistent peer is not', async () => {
  const [ours, theirs] = makeHomes(join(temporaryFolder(), 'net'), [0, 0]) as [string, string];
  change(usualPaths(ours).config, /max_num_inbound_peers = .*/, 'max_num_inbound_peers = 1');
  const weUntil = await begin(ours);
  const address = await addressOf(weUntil);
  for (const id of ['0', 'f'].map((digit) => digit.repeat(40))) {
    const { socket, opened } = stranger(address);
    await opened();
    socket.send(id);
    if (id < readHome(ours).config.id) socket.send('ok');
  }
  await weUntil(/^warning: turns away peer ffffffff: it is one more than the 1 inbound peers of p2p\./);
  const { config } = usualPaths(theirs);
  const { id } = readHome(ours).config;
  change(config, /^persistent_peers = .*$/m, `persistent_peers = "${id}@${address.replace(/^.*\/\//, '')}"`);
  const them = readHome(theirs).config.id;
  await begin(theirs);
  expect(await weUntil(new RegExp(`^peer ${them.slice(0, 8)} is here`))).toBeDefined();
});

test('who has greeted may say something large, and who has not is hung up on', async () => {
  const [home] = makeHomes(join(temporaryFolder(), 'net'), [0]) as [string];
  const saysUntil = await begin(home);
  const address = await addressOf(saysUntil);
  const { config } = readHome(home);
  const network = JSON.parse(config.genesis).chain_id;
  const large = new Uint8Array(1 << 20);
  const [mute, polite] = [`${'f'.repeat(39)}e`, 'f'.repeat(40)]; // the node has the lower id, and judges
  const greeting = encodeNodeInfo(
    nodeInfoOf({ nodeId: polite, listenAddress: address, network, moniker: 'x' }),
  );
  for (const id of [mute, polite]) {
    const one = stranger(address);
    await one.opened();
    one.socket.send(id);
    await until(() => one.heard.includes('ok'), 'up');
    if (id === polite) one.socket.send(packEnvelope([{ channel: CHANNEL_GREETING, bytes: greeting }]));
    one.socket.send(large, { fin: false });
    if (id === polite) await saysUntil(/^peer ffffffff is here/);
    else await until(() => one.closed !== null, 'hung up on');
    one.socket.send(large, { fin: true }); // not an envelope: whoever hears it all ends the connection
    await until(() => one.closed !== null, 'closed');
    expect(one.closed).toBe(id === polite ? 4003 : 1006);
  }
});
