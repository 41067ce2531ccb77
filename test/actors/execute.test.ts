// What the application answers to a block and no chain can follow: the node halts before it is stored, and before Commit.

import { describe, expect, it } from 'vitest';
import { PLAIN_RESULT } from '../../machines/apps/base.ts';
import { responseKey } from '../../machines/chain/keys.ts';
import type { ExecTxResult } from '../../protocol/abci.ts';
import { hexOf } from '../../protocol/bytes.ts';
import { genesisOf } from '../protocol/rules/people.ts';
import { only, said } from './drive.ts';
import { Home } from './home.ts';

const TX = Uint8Array.of(1);

/** What the node does when the first block, of one transaction, has this result: the answer goes by value, as in a node, for bytes cannot hold it. */
function resultIs(result: Partial<ExecTxResult>) {
  const home = new Home({ genesis: genesisOf([10n]), me: 0 });
  home.txs = [TX];
  home.disk.app.silent.add('finalize-block');
  home.fire('start');
  const [tag] = home.unanswered;
  const txResults = [{ ...PLAIN_RESULT, ...result }];
  const value = { events: [], txResults, validatorUpdates: [], appHash: TX };
  const response = { type: 'finalize-block', value } as const;
  const { validator } = home;
  return validator.logic.receive(validator.state, { type: 'answer', tag: tag!, response }, validator);
}

describe('a code is a uint32 and gas an int64', () => {
  const beyond: readonly Partial<ExecTxResult>[] = [
    { code: -1 },
    { code: 2 ** 32 },
    { code: 0.5 },
    { gasWanted: 2n ** 63n },
    { gasWanted: -(2n ** 63n) - 1n },
    { gasUsed: 2n ** 63n },
    { gasUsed: -(2n ** 63n) - 1n },
  ];
  for (const result of beyond) {
    const [[field, value]] = Object.entries(result) as [[string, unknown]];
    it(`${field} ${value}: the node halts`, () => {
      const effects = resultIs(result);
      const events = only(effects, 'publish').map(({ event }) => event);
      const what = expect.stringContaining('result 1 has a code or gas that its bytes cannot hold');
      expect(events).toContainEqual({ type: 'halted', what });
      expect(said(effects)).not.toContain('tell app request');
      expect(only(effects, 'store')).toEqual([]);
    });
  }

  it('the largest of them are fine', () => {
    for (const result of [{ code: 2 ** 32 - 1 }, { gasWanted: 2n ** 63n - 1n, gasUsed: -(2n ** 63n) }]) {
      const effects = resultIs(result);
      expect(said(effects)).toEqual(['store chain durable', 'tell app request']);
      const [store] = only(effects, 'store');
      expect(store?.writes.map(({ key }) => hexOf(key))).toEqual([hexOf(responseKey(1n))]);
    }
  });
});
