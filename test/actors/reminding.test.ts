// What a new life's mempool is told of the blocks before it, however large they are.

import { expect, it } from 'vitest';
import type { Effect } from '../../actors/turn.ts';
import { genesisOf } from '../protocol/rules/people.ts';
import { copyDisk, Home } from './home.ts';

const MIB = 1024 * 1024;
const ALONE = genesisOf([10n]);

/** A network of one whose blocks hold these, one each; and what the mempool hears when it starts again. */
function remindedOf(txs: readonly Uint8Array[]) {
  const home = new Home({ genesis: ALONE, me: 0 });
  for (const tx of txs) {
    home.txs = [tx];
    home.fire('start');
  }
  const loads: Extract<Effect, { type: 'load' }>[] = [];
  const crash = (effect: Effect): boolean => {
    if (effect.type === 'load') loads.push(effect);
    return false;
  };
  const again = new Home({ genesis: ALONE, me: 0, disk: copyDisk(home.disk), crash });
  const told = again.told.flatMap(({ to, message }) =>
    to === 'mempool' && message.type === 'committed' ? [message as unknown as { txs: Uint8Array[] }] : [],
  );
  expect(again.state.history.header(BigInt(txs.length))?.height).toBe(BigInt(txs.length));
  again.fire('start');
  expect(again.state.chain.lastBlockHeight).toBe(BigInt(txs.length + 1));
  return { loads, told: told.map((message) => message.txs.map((tx) => tx[0])) };
}

it('small blocks are told in one message', () => {
  const { told } = remindedOf([1, 2, 3].map((i) => Uint8Array.of(i)));
  expect(told).toEqual([[1, 2, 3]]);
});

it('where the last blocks were empty it is told how far the chain is', () => {
  const home = new Home({ genesis: ALONE, me: 0 });
  for (let height = 1; height <= 70; height++) home.fire('start');
  const again = new Home({ genesis: ALONE, me: 0, disk: copyDisk(home.disk) });
  const heights = again.told.flatMap(({ to, message }) =>
    to === 'mempool' && message.type === 'committed' ? [message.height] : [],
  );
  expect(heights).toEqual([70n]);
});

it('large ones in several, and are read one by one: no turn holds them all', () => {
  const { told, loads } = remindedOf([1, 2, 3, 4, 5].map((i) => new Uint8Array(9 * MIB).fill(i)));
  expect(told).toEqual([[1, 2], [3, 4], [5]]);
  expect(loads.map(({ limit }) => limit)).toEqual(loads.map(() => 1));
});
