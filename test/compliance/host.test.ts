// The keepers of runtime/host before the suites that the simulated ones take too.

import * as fs from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { verifySignature } from '../../protocol/signatures.ts';
import { hostClock } from '../../runtime/host/clock.ts';
import { openLog } from '../../runtime/host/disk/log.ts';
import { openStore } from '../../runtime/host/disk/store.ts';
import { hostMail } from '../../runtime/host/mail.ts';
import { openNet } from '../../runtime/host/net/net.ts';
import { hostRandom } from '../../runtime/host/random.ts';
import { signKeeper } from '../../runtime/host/sign.ts';
import { clockCompliance } from './clock.ts';
import { type LogWorld, logCompliance } from './log.ts';
import { mailCompliance } from './mail.ts';
import { type NetWorld, netCompliance } from './net.ts';
import { randomCompliance } from './random.ts';
import { signCompliance } from './sign.ts';
import { type StoreWorld, storeCompliance } from './store.ts';

const temporaryFolder = () => fs.mkdtempSync(join(tmpdir(), 'rehearsal-compliance-'));

/**
 * A crash is a copy of the files as they are now, cut as the disk might have cut them; the old life is
 * closed aside.
 */
function logWorld(): LogWorld {
  const folder = temporaryFolder();
  let life = 0;
  let path = join(folder, 'life-0.log');
  let log = openLog(path);
  return {
    get log() {
      return log;
    },
    settle: () => new Promise((done) => log.sync(done)),
    async crash(how) {
      const next = join(folder, `life-${++life}.log`);
      if (how === 'clean') {
        await log.close();
        fs.copyFileSync(path, next);
        fs.copyFileSync(`${path}.synced`, `${next}.synced`);
      } else {
        const written = fs.readFileSync(path);
        const marked = fs.existsSync(`${path}.synced`);
        const synced = marked ? Number(fs.readFileSync(`${path}.synced`).readBigUInt64LE()) : written.length;
        await log.close();
        // What follows in the file was on its way to the disk: for a torn end any cut of it will do.
        const all = fs.readFileSync(path);
        const grew = written.equals(all.subarray(0, written.length));
        const whole = grew ? all : written; // else it was rewritten by a trim
        const torn = synced + ((life * 2_654_435_761) % (whole.length - synced + 1));
        fs.writeFileSync(next, whole.subarray(0, how === 'torn' && marked ? torn : synced));
        if (marked) {
          const mark = Buffer.alloc(8);
          mark.writeBigUInt64LE(BigInt(synced));
          fs.writeFileSync(`${next}.synced`, mark);
        }
      }
      path = next;
      log = openLog(path);
      return log;
    },
    async close() {
      await log.close();
      fs.rmSync(folder, { recursive: true });
    },
  };
}
logCompliance('file', logWorld);

/**
 * A crash is a copy of the database as it is now: what lmdb has not been given, or has not flushed, is
 * lost.
 */
function storeWorld(): StoreWorld {
  const folder = temporaryFolder();
  let life = 0;
  let path = join(folder, 'life-0');
  let store = openStore(path);
  return {
    get store() {
      return store;
    },
    settle: () => new Promise((done) => store.write([], done)),
    async crash(how) {
      const next = join(folder, `life-${++life}`);
      if (how === 'clean') await store.close();
      fs.mkdirSync(next);
      fs.copyFileSync(join(path, 'data.mdb'), join(next, 'data.mdb'));
      if (how !== 'clean') await store.close();
      path = next;
      store = openStore(path);
      return store;
    },
    async close() {
      await store.close();
      fs.rmSync(folder, { recursive: true });
    },
  };
}
storeCompliance('lmdb', storeWorld);

clockCompliance('machine', () => {
  const clock = hostClock();
  return { clock, pass: (ns) => sleep(Number(ns / 1_000_000n) + 5), close: async () => clock.close() };
});

randomCompliance('system', hostRandom);

signCompliance('key in memory', (who) => ({
  sign: signKeeper(new Uint8Array(32).fill(who + 1)),
  settle: () => new Promise((done) => setImmediate(done)),
  verify: (key, message, signature) => verifySignature({ type: 'ed25519', bytes: key }, message, signature),
}));

mailCompliance('queue', () => {
  const mail = hostMail();
  return {
    mail,
    settle: async () => {
      while (mail.waiting > 0) await sleep(1);
    },
  };
});

async function netWorld(count: number): Promise<NetWorld> {
  const nodes = await Promise.all(
    Array.from({ length: count }, async (_, i) => {
      const peer = `${i + 1}`.repeat(40);
      const net = await openNet({ peer, listen: 'ws://127.0.0.1:0' });
      return { peer, net, address: net.address };
    }),
  );
  return {
    nodes,
    nowhere: 'ws://127.0.0.1:1',
    settle: () => sleep(80),
    async until(holds, what) {
      const end = performance.now() + 10_000;
      while (!holds()) {
        if (performance.now() > end) throw new Error(`not within 10 s: ${what}`);
        await sleep(2);
      }
    },
    kill: (i) => void nodes[i]!.net.shutdown(),
    close: async () => void (await Promise.all(nodes.map(({ net }) => net.shutdown()))),
  };
}
netCompliance('ws', netWorld);
