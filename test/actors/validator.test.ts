import { describe, expect, it } from 'vitest';
import { tellMempool } from '../../actors/validator/execute.ts';
import { hexOf } from '../../protocol/bytes.ts';
import { PRECOMMIT, PREVOTE } from '../../protocol/types.ts';
import { genesisOf } from '../protocol/rules/people.ts';
import { Home } from './home.ts';

const ALONE = genesisOf([10n]);

describe('a network of one', () => {
  it('makes heights, one after another', () => {
    const home = new Home({ genesis: ALONE, me: 0 });
    expect(home.state.mode).toBe('consensus');
    for (let height = 1n; height <= 5n; height++) {
      home.fire('start');
      expect(home.state.chain.lastBlockHeight).toBe(height);
    }
    expect(home.said.length).toBe(10);
    expect(home.halted).toBeNull();
  });
});
