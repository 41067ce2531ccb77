// The oracle `dialing`: each wait after a failure is at least twice the one before, and a connection that was good makes the next a first one.

import { expect, it } from 'vitest';
import type { Effect } from '../../../../actors/turn.ts';
import { dialingOracle } from '../../../../sim/oracles/peers/dialing.ts';

const MS = 1_000_000;
type Deed = 'dials' | 'comes up' | { readonly waitsMs: number } | { readonly passesMs: number };

it.each<[string, readonly Deed[], number]>([
  ['one failure', ['dials', { waitsMs: 500 }], 0],
  ['two failures', ['dials', { waitsMs: 500 }, 'dials', { waitsMs: 1000 }], 0],
  ['two failures, and as short a wait', ['dials', { waitsMs: 500 }, 'dials', { waitsMs: 750 }], 1],
  ['a dial that was lost', ['dials', 'dials', { waitsMs: 500 }], 0],
  ['the wait for the other one, at a start', [{ waitsMs: 3000 }, 'dials', { waitsMs: 500 }], 0],
  [
    'a connection that was good',
    ['dials', { waitsMs: 500 }, 'dials', 'comes up', { passesMs: 10_000 }, { waitsMs: 500 }],
    0,
  ],
  [
    'a connection that was short, as after a failure',
    ['dials', { waitsMs: 500 }, 'dials', 'comes up', { passesMs: 1000 }, { waitsMs: 500 }],
    1,
  ],
])('a node has %s', (_, deeds, reports) => {
  const said: string[] = [];
  let count = 0;
  const v0 = {
    name: 'v0',
    index: 0,
    height: 1n,
    heldUntilNs: 0,
    halted: null,
    node: { isPaused: false },
    member: { id: 'v0' },
    config: { peers: [{ peer: 'peer' }] },
    clock: { count: () => count, slowest: 1 },
  };
  const about = { now: () => count, machines: [v0], isHonest: () => true };
  const oracle = dialingOracle((what) => void said.push(what), about as never);
  const leaves = (effect: Effect): void => oracle.leaving?.(v0 as never, 'dialer', effect);
  const sets = (waitMs: number): void =>
    leaves({ type: 'schedule', timer: 'dial:peer', afterNs: BigInt(waitMs * MS) });
  for (const deed of deeds) {
    if (deed === 'dials') {
      leaves({ type: 'dial', peer: 'peer', address: '' });
      sets(10_000);
    } else if (deed === 'comes up') leaves({ type: 'cancel', timer: 'dial:peer' });
    else if ('passesMs' in deed) count += deed.passesMs * MS;
    else sets(deed.waitsMs);
  }
  expect(said).toEqual(Array(reports).fill(expect.stringContaining('to dial a peer again')));
});
