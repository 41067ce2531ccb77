// A node's folder and its ports as a whole: files written whole, one process per home, all closed at the end.

import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import everyFs, * as fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { program } from '../../../runtime/cli/program.ts';
import { hostClock } from '../../../runtime/host/clock.ts';
import { readText, SetupError, setupError, writeFileAtomic } from '../../../runtime/host/disk/files.ts';
import { lockFolder } from '../../../runtime/host/disk/lock.ts';
import { hostMail } from '../../../runtime/host/mail.ts';
import { type HostPorts, hostPorts } from '../../../runtime/host/ports.ts';
import { NODE_EXIT } from '../../../runtime/host/process/process-words.ts';
import { bytesOf, textOf, textsOf } from '../../compliance/bytes.ts';
import { child, filesUpTo, hasFileLimits, temporaryFolder } from './folders.ts';

const PEER = 'a'.repeat(40);
const open = async (home: string): Promise<HostPorts> => {
  const ports = await hostPorts({
    home,
    seed: new Uint8Array(32).fill(1),
    peer: PEER,
    listen: 'ws://127.0.0.1:0',
  });
  onTestFinished(() => ports.close());
  return ports;
};

describe('files', () => {
  test('an atomic write replaces the content and leaves nothing beside it', () => {
    const folder = temporaryFolder();
    const path = join(folder, 'genesis.json');
    writeFileAtomic(path, 'first');
    writeFileAtomic(path, bytesOf('second'), 0o600);
    expect(readText('the genesis file', path)).toBe('second');
    expect(fs.readdirSync(folder)).toEqual(['genesis.json']);
    expect(fs.statSync(path).mode & 0o777).toBe(0o600);
  });
  test('an atomic write goes where a link points, and the link stays', () => {
    const [here, elsewhere] = [temporaryFolder(), temporaryFolder()];
    const [link, target] = [join(here, 'state.json'), join(elsewhere, 'kept.json')];
    fs.writeFileSync(target, 'first');
    fs.symlinkSync(target, link);
    writeFileAtomic(link, 'second');
    expect(fs.readFileSync(target, 'utf8')).toBe('second');
    expect(fs.readlinkSync(link)).toBe(target);
    expect([fs.readdirSync(here), fs.readdirSync(elsewhere)]).toEqual([['state.json'], ['kept.json']]);
  });
  test('a write that fails leaves the old content and nothing beside it, and names the path', () => {
    const folder = temporaryFolder();
    const path = join(folder, 'taken');
    fs.mkdirSync(path);
    expect(() => writeFileAtomic(path, 'x')).toThrow(new RegExp(`cannot write ${path}: it is a folder`));
    expect(fs.readdirSync(folder)).toEqual(['taken']);
  });
  test('a file that is not there: the error names what it is, where, and what to do', () => {
    const path = join(temporaryFolder(), 'genesis.json');
    const read = () => readText('the genesis file', path);
    expect(read).toThrow(SetupError);
    expect(read).toThrow(
      `cannot read the genesis file ${path}: there is no such file; ` +
        'check the path (`nodecli cluster --home FOLDER` makes those of a new network) (ENOENT)',
    );
    const command = program().commands.find((each) => each.name() === 'cluster');
    expect(command?.options.map(({ long }) => long)).toContain('--home');
  });
  test('errors without a remedy of ours keep their own words', () => {
    expect(setupError('cannot do it', new Error('the moon is full')).message).toBe(
      'cannot do it: the moon is full',
    );
  });
});

describe('the lock', () => {
  const lockIn = (folder: string): string => readText('the lock', join(folder, 'LOCK'));
  test('is held once, also against oneself, and let go', async () => {
    const folder = temporaryFolder();
    const unlock = await lockFolder(folder);
    await expect(lockFolder(folder)).rejects.toThrow(`${folder} is in use by process ${process.pid}`);
    unlock();
    (await lockFolder(folder))();
    expect(fs.readdirSync(folder)).toEqual([]);
  });
  test('of a dead process is taken over, also when another process has its id now', async () => {
    const folder = temporaryFolder();
    for (const holder of ['999999999 1', `${process.pid} 1`, 'rubbish', '']) {
      fs.writeFileSync(join(folder, 'LOCK'), holder);
      (await lockFolder(folder))();
    }
    expect(fs.readdirSync(folder)).toEqual([]);
  });
  test('is taken over also from a process of our id that was killed as it took it', async () => {
    const folder = temporaryFolder();
    const unlock = await lockFolder(folder);
    const [, boot = '', namespace = ''] = /^\d+ \d+ (\S+) (\S+)$/.exec(lockIn(folder)) ?? [];
    unlock();
    const mine = join(folder, `LOCK.${process.pid}.${namespace.replace(/\D/g, '')}`);
    fs.writeFileSync(join(folder, 'LOCK'), `${process.pid} 1 ${boot} ${namespace}`);
    fs.linkSync(join(folder, 'LOCK'), mine);
    (await lockFolder(folder))();
    expect(fs.readdirSync(folder)).toEqual([]);
  });
  test('that another process took while we stood still is its own, and we are told to end', async () => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
    onTestFinished(() => void vi.useRealTimers());
    const folder = temporaryFolder();
    const lost: string[] = [];
    const unlock = await lockFolder(folder, (error) => lost.push(error.message));
    vi.advanceTimersByTime(5_000);
    expect(lost).toEqual([]);
    fs.writeFileSync(join(folder, 'LOCK'), '7 1 boot elsewhere');
    vi.advanceTimersByTime(60_000);
    expect(lost).toEqual([expect.stringContaining(`${folder} is not this process's any more`)]);
    unlock();
    expect(lockIn(folder)).toBe('7 1 boot elsewhere');
  });
  test('that was removed may have been of another meanwhile', async () => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
    onTestFinished(() => void vi.useRealTimers());
    const folder = temporaryFolder();
    let lost = 0;
    await lockFolder(folder, () => lost++);
    fs.rmSync(join(folder, 'LOCK'));
    vi.advanceTimersByTime(60_000);
    expect(lost).toBe(1);
  });
  test('of another living process is respected, and is free after its death', async () => {
    const folder = temporaryFolder();
    const holder = child('holder.ts', folder);
    await holder.line('held');
    await expect(lockFolder(folder)).rejects.toThrow(`${folder} is in use by process ${holder.process.pid}`);
    holder.process.kill('SIGKILL');
    await holder.ended;
    (await lockFolder(folder))();
  });
  test('of several processes that start at once, one gets it', async () => {
    const folder = temporaryFolder();
    fs.writeFileSync(join(folder, 'LOCK'), '999999999 1'); // stale, so that all of them try to take over
    const rivals = Array.from({ length: 4 }, () => child('holder.ts', folder));
    await Promise.all(rivals.map((rival) => rival.line('')));
    expect(rivals.map((rival) => rival.lines[0]).sort()).toEqual(['held', 'in use', 'in use', 'in use']);
  });
});

test.skipIf(!hasFileLimits)(
  'a start that fails on a full disk (needs sh with ulimit -f) leaves nothing behind',
  async () => {
    const folder = temporaryFolder();
    const path = join(folder, 'x.log');
    fs.writeFileSync(path, 'no record');
    const { lines, ended } = child('full-disk.ts', filesUpTo(0), folder, path);
    await ended;
    expect(lines).toEqual([
      expect.stringMatching(`^cannot lock ${folder}: .*raise the limit \\(ulimit -f\\) \\(EFBIG\\)$`),
      expect.stringMatching(`^cannot open the log ${path}: .*`),
    ]);
    expect(fs.readdirSync(folder)).toEqual(['x.log']);
    expect(fs.readFileSync(path, 'utf8')).toBe('no record');
  },
);

/** What makes a process a container's: process ids of its own. Needs no rights where users may have namespaces. */
const CONTAINER = ['unshare', '--user', '--map-root-user', '--pid', '--fork', '--mount-proc', '--kill-child'];
const hasContainers = spawnSync(CONTAINER[0]!, [...CONTAINER.slice(1), 'true']).status === 0;

describe.skipIf(!hasContainers)('the lock of a home that two containers share', () => {
  test('taken here, is refused there; and taken there, here', async () => {
    const folder = temporaryFolder();
    const unlock = await lockFolder(folder);
    const there = child('holder.ts', { under: CONTAINER }, folder);
    expect(await there.line('')).toBe('in use');
    there.process.kill('SIGKILL');
    await there.ended;
    unlock();

    const holder = child('holder.ts', { under: CONTAINER }, folder);
    expect(await holder.line('')).toBe('held');
    await expect(lockFolder(folder)).rejects.toThrow(
      new RegExp(`${folder} is in use by process \\d+ of another container \\(pid:\\[\\d+\\]\\)`),
    );
    // Whether it lives can be seen from here by its beat alone.
    const lock = join(folder, 'LOCK');
    const silent = new Date(Date.now() - 61_000);
    fs.utimesSync(lock, silent, silent);
    while (fs.statSync(lock).mtimeMs < silent.getTime() + 1_000) await sleep(100);
    await expect(lockFolder(folder)).rejects.toThrow('of another container');
    holder.process.kill('SIGKILL');
    await holder.ended;
    await expect(lockFolder(folder)).rejects.toThrow(
      'of one that was killed the home can be taken 60 s later: it is watched for 12.5 s then',
    );
    fs.utimesSync(lock, silent, silent);
    (await lockFolder(folder))();
    expect(fs.readdirSync(folder)).toEqual([]);
  });
});

describe.skipIf(process.platform !== 'linux')('a lock left behind', () => {
  /** What stands in the lock of this process. */
  async function ours() {
    const folder = temporaryFolder();
    const unlock = await lockFolder(folder);
    const [pid, started, boot, namespace] = fs.readFileSync(join(folder, 'LOCK'), 'utf8').split(' ');
    unlock();
    return { pid, started, boot, namespace };
  }
  type Ours = Awaited<ReturnType<typeof ours>>;
  const inUse = /in use by process \d+; stop it/;
  test.each([
    ['of this process', (o: Ours) => `${o.pid} ${o.started} ${o.boot} ${o.namespace}`, inUse],
    ['as earlier versions wrote it', (o: Ours) => `${o.pid} ${o.started}`, inUse],
    ['of another container', (o: Ours) => `999999999 1 ${o.boot} pid:[1]`, /999999999 of another container/],
    ['of another container, before a reboot', () => '999999999 1 another-boot pid:[1]', null],
    ['before a reboot', (o: Ours) => `${o.pid} ${o.started} another-boot ${o.namespace}`, null],
    ['of a dead process', (o: Ours) => `999999999 1 ${o.boot} ${o.namespace}`, null],
    ['of one whose id is used again', (o: Ours) => `${o.pid} 1 ${o.boot} ${o.namespace}`, null],
  ])('%s', async (_, mark, refusal) => {
    const folder = temporaryFolder();
    fs.writeFileSync(join(folder, 'LOCK'), mark(await ours()));
    if (refusal) await expect(lockFolder(folder)).rejects.toThrow(refusal);
    else (await lockFolder(folder))();
    expect(fs.readdirSync(folder)).toEqual(refusal ? ['LOCK'] : []);
  });

  // Whoever runs in a container whose first process looks after nobody stays so when it is killed.
  test.skipIf(process.platform !== 'linux')(
    'of a process that is over, but stands there still, is taken',
    async () => {
      const parent = spawn('sh', ['-c', 'sleep 0.2 & echo $!; exec sleep 60'], {
        stdio: ['ignore', 'pipe', 'inherit'],
      });
      onTestFinished(() => void parent.kill('SIGKILL'));
      const pid = Number(String((await once(parent.stdout, 'data'))[0]));
      const statOf = (): string[] => {
        const stat = fs.readFileSync(`/proc/${pid}/stat`, 'latin1');
        return stat.slice(stat.lastIndexOf(')') + 2).split(' ');
      };
      await vi.waitFor(() => expect(statOf()[0]).toBe('Z'));
      const { boot, namespace } = await ours();
      const folder = temporaryFolder();
      fs.writeFileSync(join(folder, 'LOCK'), `${pid} ${statOf()[19]} ${boot} ${namespace}`);
      (await lockFolder(folder))();
      expect(fs.readdirSync(folder)).toEqual([]);
    },
  );

  test('is taken away by one process at a time', async () => {
    const { pid, started } = await ours();
    const folder = temporaryFolder();
    const [lock, turn] = [join(folder, 'LOCK'), join(folder, 'LOCK.taking')];
    fs.writeFileSync(lock, '999999999 1');
    fs.writeFileSync(turn, `${pid} ${started}`); // of one that lives
    await expect(lockFolder(folder)).rejects.toThrow(new RegExp(`in use by process ${pid};`));
    expect([lock, turn].map((path) => fs.readFileSync(path, 'utf8'))).toEqual([
      '999999999 1',
      `${pid} ${started}`,
    ]);
    const starting = lockFolder(folder);
    fs.rmSync(turn);
    (await starting)();
    expect(fs.readdirSync(folder)).toEqual([]);
  });

  test('is taken away also where processes were killed as they did so', async () => {
    const folder = temporaryFolder();
    for (const name of ['LOCK', 'LOCK.taking', 'LOCK.taking.1'])
      fs.writeFileSync(join(folder, name), '999999999 1');
    (await lockFolder(folder))();
    expect(fs.readdirSync(folder)).toEqual([]);
  });

  test('that cannot be read is nobody’s to take, and so is one whose turn cannot be', async () => {
    const folder = temporaryFolder();
    const [lock, turn] = [join(folder, 'LOCK'), join(folder, 'LOCK.taking')];
    fs.symlinkSync(join(folder, 'nowhere'), lock);
    await expect(lockFolder(folder)).rejects.toThrow(`${lock} is there, and cannot be read; give this user`);
    fs.rmSync(lock);
    fs.writeFileSync(lock, '999999999 1');
    fs.mkdirSync(turn);
    await expect(lockFolder(folder)).rejects.toThrow('the lock of a dead process could not be taken away');
    expect(fs.readdirSync(folder)).toEqual(['LOCK', 'LOCK.taking']);
  });

  test('of a process of which it cannot be seen since when it lives is its own', async () => {
    const { pid } = await ours();
    const folder = temporaryFolder();
    fs.writeFileSync(join(folder, 'LOCK'), `${pid} 7`);
    const { readFileSync } = everyFs;
    const spy = vi.spyOn(everyFs, 'readFileSync').mockImplementation((path, ...rest) => {
      if (String(path).startsWith('/proc/') && String(path).endsWith('/stat')) throw new Error('hidden');
      return readFileSync(path, ...(rest as [])) as never;
    });
    syncBuiltinESMExports();
    onTestFinished(() => {
      spy.mockRestore();
      syncBuiltinESMExports();
    });
    await expect(lockFolder(folder)).rejects.toThrow(inUse);
  });

  test('that became that of a living one as it was its turn is let be', async () => {
    const { pid, started } = await ours();
    const folder = temporaryFolder();
    const lock = join(folder, 'LOCK');
    fs.writeFileSync(lock, '999999999 1');
    const { linkSync } = everyFs;
    const names: unknown[] = [];
    const spy = vi.spyOn(everyFs, 'linkSync').mockImplementation((from, to) => {
      names.push(to);
      linkSync(from, to);
      if (to === `${lock}.taking`) fs.writeFileSync(lock, `${pid} ${started}`);
    });
    syncBuiltinESMExports();
    onTestFinished(() => {
      spy.mockRestore();
      syncBuiltinESMExports();
    });
    await expect(lockFolder(folder)).rejects.toThrow(inUse);
    expect(names).toEqual([lock, `${lock}.taking`, lock]); // it was never put back, so it was never away
    expect(fs.readFileSync(lock, 'utf8')).toBe(`${pid} ${started}`);
  });

  /** Of another container, that had its last beat so long ago by the clock of now; and what becomes of who wants it. */
  async function seemsSilent(agoMs: number) {
    const folder = temporaryFolder();
    const lock = join(folder, 'LOCK');
    const mark = `999999999 1 ${(await ours()).boot} pid:[1]`;
    fs.writeFileSync(lock, mark);
    const beat = (ms: number): void => fs.utimesSync(lock, ms / 1_000, ms / 1_000);
    beat(Date.now() - agoMs);
    vi.useFakeTimers({ toFake: ['setTimeout', 'setInterval', 'clearInterval'] });
    onTestFinished(() => void vi.useRealTimers());
    let outcome: string | null = null;
    const stopping = new AbortController();
    const said: string[] = [];
    const watching = { onWatch: (line: string) => said.push(line), signal: stopping.signal };
    const starts = lockFolder(folder, undefined, watching).then(
      (unlock) => {
        outcome = 'taken';
        return unlock;
      },
      (error: Error) => {
        outcome = error.message;
      },
    );
    const after = async (ms: number): Promise<string | null> => {
      await vi.advanceTimersByTimeAsync(ms);
      return outcome;
    };
    return { beat, after, starts, stopping, said, mark, holds: () => fs.readFileSync(lock, 'utf8') };
  }
  const MINUTE = 61_000;
  const HOUR = 3_600_000;

  test.each([
    ['forward', MINUTE],
    ['back', -HOUR],
  ])('by one that lives is not taken when the clock is set %s', async (_, agoMs) => {
    const { beat, after, mark, holds } = await seemsSilent(agoMs);
    expect(await after(4_900)).toBe(null);
    beat(Date.now());
    expect(await after(500)).toMatch(/999999999 of another container/);
    expect(await after(MINUTE)).not.toBe('taken');
    expect(holds()).toBe(mark);
  });

  test('is watched as long as nobody stops it, and whoever waits is told', async () => {
    const { after, stopping, said, mark, holds } = await seemsSilent(MINUTE);
    expect(await after(4_900)).toBe(null);
    expect(said).toEqual([
      expect.stringMatching(/ seems left by process 999999999 of another container .* watched for 12\.5 s/),
    ]);
    stopping.abort();
    expect(await after(500)).toMatch(/^stopped while it watched whether the holder of .*LOCK lives$/);
    expect(await after(MINUTE)).not.toBe('taken');
    expect(holds()).toBe(mark);
  });

  test.each([
    ['for a minute', MINUTE],
    ['by a clock that was an hour ahead', -HOUR],
  ])('by one that is silent %s is watched for more than two beats, then taken', async (_, agoMs) => {
    const { after, starts, mark, holds } = await seemsSilent(agoMs);
    expect([await after(10_000), holds()]).toEqual([null, mark]);
    expect(await after(2_500)).toBe('taken');
    expect(holds()).not.toBe(mark);
    (await starts)?.();
  });

  test('which has a beat as it is put aside is put back', async () => {
    const { beat, after, mark, holds } = await seemsSilent(MINUTE);
    const { renameSync } = everyFs;
    const spy = vi.spyOn(everyFs, 'renameSync').mockImplementationOnce((from, to) => {
      beat(Date.now());
      renameSync(from, to);
    });
    syncBuiltinESMExports();
    onTestFinished(() => {
      spy.mockRestore();
      syncBuiltinESMExports();
    });
    expect(await after(12_500)).toMatch(/999999999 of another container/);
    expect(holds()).toBe(mark);
  });
});

describe('all ports of a node', () => {
  test('logs and stores are kept in the home, by name, over a restart', async () => {
    const home = temporaryFolder();
    const first = await open(home);
    first.log('consensus').append(bytesOf('heard'));
    first.log('privval').append(bytesOf('signed'));
    first.store('chain').write([{ key: bytesOf('k'), value: bytesOf('v'), remove: false }]);
    expect(first.log('consensus')).toBe(first.log('consensus'));
    expect(first.store('chain')).toBe(first.store('chain'));
    expect(first.store('app').get(bytesOf('k'))).toBeUndefined();
    await first.close();
    const second = await open(home);
    expect(textsOf(second.log('consensus').read())).toEqual(['heard']);
    expect(textsOf(second.log('privval').read())).toEqual(['signed']);
    expect(textOf(second.store('chain').get(bytesOf('k'))!)).toBe('v');
  });
  test('a home in use is refused, and stays usable for the one that has it', async () => {
    const home = temporaryFolder();
    const first = await open(home);
    await expect(open(home)).rejects.toThrow(/is in use by process/);
    first.log('consensus').append(bytesOf('a'));
    await new Promise<void>((done) => first.log('consensus').sync(done));
  });
  test('a port in use is refused, and the home is free again', async () => {
    const first = await open(temporaryFolder());
    const home = temporaryFolder();
    const second = { home, seed: new Uint8Array(32), peer: PEER, listen: first.address };
    await expect(hostPorts(second)).rejects.toThrow(/the port is in use/);
    await open(home);
  });
  test('a signing log that lost what was durable stops the start', async () => {
    const home = temporaryFolder();
    const first = await open(home);
    first.log('privval').append(bytesOf('height 7, prevote'));
    await first.close();
    fs.truncateSync(join(home, 'data', 'privval.log'), 3);
    const second = await open(home);
    expect(() => second.log('privval')).toThrow(/privval\.log is damaged at byte 0/);
  });
  test('a home that cannot be made: the error names it', async () => {
    const file = join(temporaryFolder(), 'file');
    fs.writeFileSync(file, '');
    await expect(open(join(file, 'home'))).rejects.toThrow(
      /cannot make the folder .*file\/home.*a file, not a folder/,
    );
  });
  test('after close no timer fires and no letter arrives', async () => {
    const ports = await open(temporaryFolder());
    let late = 0;
    ports.clock.after(1_000_000n, () => late++);
    ports.mail.carry('a', 'b', () => late++);
    await ports.close();
    ports.mail.carry('a', 'b', () => late++);
    await sleep(20);
    expect(late).toBe(0);
  });
});

describe('mail', () => {
  test('letters without end do not starve timers', async () => {
    const mail = hostMail();
    let letters = 0;
    const forever = () => {
      letters++;
      mail.carry('a', 'b', forever);
    };
    forever();
    const lettersAt: number[] = [];
    for (let i = 0; i < 30; i++) {
      await sleep(1); // comes back only if bursts end
      lettersAt.push(letters);
    }
    mail.close();
    for (let i = 1; i < lettersAt.length; i++) expect(lettersAt[i]).toBeGreaterThan(lettersAt[i - 1] ?? 0);
  });
  test('a bug in one delivery reaches the process, and the other letters are delivered', async () => {
    const { lines, ended } = child('thrower.ts');
    await ended;
    expect(lines).toEqual(['caught: a bug', 'delivered']);
  });
});

describe('an uncaught error', () => {
  test('may cancel every timer: the process goes on', async () => {
    const { lines, ended } = child('canceller.ts');
    await ended;
    expect(lines).toEqual(['caught: a bug', 'still here']);
  });
  test('while the process ends is its end', async () => {
    const { lines, ended, process } = child('never-closed.ts');
    await ended;
    expect(process.exitCode).toBe(NODE_EXIT.bug);
    expect(lines).toEqual(['ends']);
  });
});

// Node waits for its pool of threads as it exits.
test.skipIf(process.platform === 'win32')(
  'a disk that hangs does not keep the process',
  async () => {
    const pipe = join(temporaryFolder(), 'pipe');
    execFileSync('mkfifo', [pipe]);
    const { lines, ended, process } = child('stuck-disk.ts', pipe);
    await ended;
    expect(process.signalCode).toBe('SIGKILL');
    expect(lines).toEqual(['the disk did not answer within 8000 ms']);
  },
  30_000,
);

test('wall time follows the system', () => {
  const clock = hostClock();
  for (let i = 0; i < 100; i++) {
    const difference = clock.wallNs() / 1_000_000n - BigInt(Date.now());
    expect(difference).toBeGreaterThan(-5n);
    expect(difference).toBeLessThan(5n);
  }
});
