// The simulated keepers under the suites that the real ones pass.

import { must } from '../../protocol/refusal.ts';
import { verifySignature } from '../../protocol/signatures.ts';
import { Agenda } from '../../sim/agenda.ts';
import { Choices } from '../../sim/choices.ts';
import { MachineClock } from '../../sim/clock.ts';
import { Disk } from '../../sim/disk.ts';
import type { CrashHow } from '../../sim/disk-door.ts';
import { SimMail } from '../../sim/mail.ts';
import { Network } from '../../sim/network.ts';
import { ed25519Key, SimCrypto, SimSign } from '../../sim/sim-crypto.ts';
import { clockCompliance } from './clock.ts';
import { type LogCrash, logCompliance } from './log.ts';
import { mailCompliance } from './mail.ts';
import { netCompliance } from './net.ts';
import { randomCompliance } from './random.ts';
import { signCompliance } from './sign.ts';
import { type StoreCrash, storeCompliance } from './store.ts';

let seeds = 0;
const world = () => ({ agenda: new Agenda(), choices: new Choices({ seed: `compliance ${seeds++}` }) });
const nothingMore = (agenda: Agenda) => async (): Promise<void> => {
  while (agenda.next());
};
const closed = async (): Promise<void> => {};
const neverFull = (): void => must(false, 'the disk is not full');

const CRASHES: Record<LogCrash | StoreCrash, CrashHow> = {
  clean: 'clean',
  'lose-unsynced': 'lose',
  torn: 'drawn',
  'lose-unflushed': 'drawn',
};

function machine() {
  const { agenda, choices } = world();
  const disk = new Disk(agenda, choices, 'v0');
  let life = agenda.beginLife();
  let ports = disk.open(life, neverFull);
  return {
    settle: nothingMore(agenda),
    close: closed,
    ports: () => ports,
    restart: (how: LogCrash | StoreCrash) => {
      agenda.endLife(life);
      disk.crash(CRASHES[how]);
      life = agenda.beginLife();
      ports = disk.open(life, neverFull);
    },
  };
}

logCompliance('simulated disk', () => {
  const { restart, ports, ...rest } = machine();
  return {
    ...rest,
    get log() {
      return ports().log('consensus');
    },
    crash: async (how) => {
      restart(how);
      return ports().log('consensus');
    },
  };
});

storeCompliance('simulated disk', () => {
  const { restart, ports, ...rest } = machine();
  return {
    ...rest,
    get store() {
      return ports().store('chain');
    },
    crash: async (how) => {
      restart(how);
      return ports().store('chain');
    },
  };
});

for (const driftPpm of [0, 500, -500, 100_000, -100_000]) {
  clockCompliance(`simulated, ${driftPpm} ppm`, () => {
    const { agenda } = world();
    const machineClock = new MachineClock(agenda, {
      epochNs: 1_700_000_000_000_000_000n,
      skewNs: -250_000_000n,
      driftPpm,
    });
    const clock = machineClock.open(agenda.beginLife());
    return {
      clock,
      pass: async (ns) => {
        const until = machineClock.count() + Number(ns);
        while (machineClock.count() < until) agenda.runUntil(machineClock.whenCounted(until));
      },
      close: closed,
    };
  });
}

randomCompliance('a stream of choices', () => world().choices.stream('test'));

netCompliance('simulated links', (count) => {
  const { agenda, choices } = world();
  const network = new Network(agenda, choices);
  const peers = Array.from({ length: count }, (_, i) => `${i}`.repeat(40));
  for (const [i, peer] of peers.entries()) network.addHost(peer, `sim:${i}`);
  const lives = peers.map(() => agenda.beginLife());
  return {
    nodes: peers.map((peer, i) => ({ peer, address: `sim:${i}`, net: network.start(peer, lives[i]!) })),
    until: async (holds, what) => {
      while (!holds()) must(agenda.next(), `nothing more happens, and not yet: ${what}`);
    },
    settle: nothingMore(agenda),
    kill: (i) => {
      agenda.endLife(lives[i]!);
      network.crash(peers[i]!);
    },
    nowhere: 'sim:nowhere',
    close: closed,
  };
});

mailCompliance('simulated hops', () => {
  const { agenda, choices } = world();
  const mail = new SimMail(agenda, agenda.beginLife(), choices.stream('mail/v0'));
  return { mail, settle: nothingMore(agenda) };
});

const seedOf = (who: number): Uint8Array => new Uint8Array(32).fill(who + 1);

for (const memory of ['remember', 'forget'] as const) {
  const crypto = new SimCrypto(new Uint8Array(32).fill(99), memory);
  signCompliance(`sim-crypto, ${memory}`, (who) => {
    const { agenda, choices } = world();
    return {
      sign: new SimSign(agenda, agenda.beginLife(), choices.stream('sign'), crypto.key(seedOf(who))),
      settle: nothingMore(agenda),
      verify: (bytes, message, signature) => crypto.verify({ type: 'ed25519', bytes }, message, signature),
    };
  });
}
signCompliance('ed25519 in the simulator', (who) => {
  const { agenda, choices } = world();
  return {
    sign: new SimSign(agenda, agenda.beginLife(), choices.stream('sign'), ed25519Key(seedOf(who))),
    settle: nothingMore(agenda),
    verify: (bytes, message, signature) => verifySignature({ type: 'ed25519', bytes }, message, signature),
  };
});
