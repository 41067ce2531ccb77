// What no oracle may say: runs in which nothing is wrong, of nodes whose operator, application, clock or liar is out of the ordinary.

import { describe, expect, it, test } from 'vitest';
import type { Payload } from '../../../actors/turn.ts';
import { KvStore } from '../../../machines/apps/kvstore.ts';
import { type AbciRequest, type AbciResponse, CHECK_TX_NEW } from '../../../protocol/abci.ts';
import { PartSet } from '../../../protocol/part-set.ts';
import { PRECOMMIT, type Vote } from '../../../protocol/types.ts';
import { encodeBlock } from '../../../protocol/wire/index.ts';
import {
  aboutOwnVotes,
  anyone,
  at,
  backUp,
  crash,
  delay,
  drop,
  everyone,
  heal,
  height,
  isolate,
  type Liar,
  after as later,
  liar,
  node,
  partition,
  putBack,
  removeLog,
  restart,
  runScenario,
  type Scenario,
  scenario,
  signedVote,
  submit,
  these,
  txs,
  validators,
  when,
} from '../../../sim/index.ts';
import { aboutOwnBlocks } from '../../../sim/liars/own-blocks.ts';

const MS = 1_000_000n;

function holds(play: Scenario, ...seeds: number[]): void {
  for (const seed of seeds) expect(runScenario(play, { seed }).violations).toEqual([]);
}

describe('a mempool', () => {
  it('that keeps what is invalid in its cache asks about it once', () => {
    const again = at('1500ms', submit('v0', 'a=b=c'));
    const play = scenario('an invalid transaction comes twice', {
      cast: validators(4),
      act: [at('1s', submit('v0', 'a=b=c')), again],
      settings: { mempool: { keepInvalidTxsInCache: true } },
      ends: everyone.decides(height(4), { within: '60s' }),
    });
    holds(play, 1, 2);
  });

  it('may know a transaction for longer than a thousand blocks', () => {
    const play = scenario('again much later', {
      cast: validators(1),
      act: [
        at('1s', submit('v0', 'a=b')),
        when(anyone.decides(height(1_100))),
        later('5ms', submit('v0', 'a=b')),
      ],
      settings: { consensus: { timeoutCommitNs: 10n * MS } },
      ends: everyone.decides(height(1_110), { within: '1000s' }),
    });
    holds(play, 1);
  });

  it('without a cache takes a transaction again that is in a block', () => {
    const play = scenario('nothing is remembered', {
      cast: validators(1),
      act: [at('1s', submit('v0', 'a=b')), when(anyone.decides(height(4)), submit('v0', 'a=b'))],
      settings: { mempool: { cacheSize: 0 } },
      ends: everyone.decides(height(8), { within: '60s' }),
    });
    holds(play, 1, 2);
  });

  /** A block may take 1,000 gas, as the application says when the chain begins; a transaction that begins with b wants more. */
  class Gas extends KvStore {
    override answer(request: AbciRequest): AbciResponse {
      const answer = super.answer(request);
      if (answer.type === 'init-chain') {
        const block = { maxBytes: 3_000_000n, maxGas: 1_000n };
        return { ...answer, value: { ...answer.value, consensusParams: { block } } };
      }
      if (answer.type !== 'check-tx' || request.type !== 'check-tx' || answer.value.code !== 0) return answer;
      const isNew = request.value.type === CHECK_TX_NEW;
      const gasWanted = isNew && request.value.tx[0] === 'b'.charCodeAt(0) ? 5_000n : 1n;
      return { ...answer, value: { ...answer.value, gasWanted } };
    }
  }

  it('refuses what wants more gas than the application lets a block have: before the first block, and in each life', () => {
    const slow = { consensus: { timeoutCommitNs: 4_000n * MS } };
    const play = scenario('a greedy transaction, three times', {
      cast: validators(4),
      app: () => new Gas(),
      act: [
        at('1s', submit('v0', 'b=1')),
        when(node('v0').decides(height(3)), submit('v0', 'b=2')),
        when(node('v0').decides(height(8)), crash('v0')),
        later('100ms', restart('v0')),
        later('200ms', submit('v0', 'b=3')),
      ],
      settings: slow,
      ends: everyone.decides(height(14), { within: '200s' }),
    });
    holds(play, 1, 2, 3);
  });
});

test('with an interval there are empty blocks even where none are to be', () => {
  const play = scenario('no empty blocks, or one each five seconds', {
    cast: validators(4),
    settings: { consensus: { createEmptyBlocks: false, createEmptyBlocksIntervalNs: 5_000n * MS } },
    ends: everyone.decides(height(5), { within: '60s' }),
  });
  holds(play, 1, 2);
});

describe('offers', () => {
  it('are not due of the round of a life before', () => {
    const play = scenario('a node forgets that it was in round 2', {
      cast: validators(4),
      act: [
        at(
          '0s',
          drop('proposals', { height: 1, round: 0 }),
          drop('proposals', { height: 1, round: 1 }),
          drop('proposals', { height: 1, round: 2, to: ['v2', 'v3'] }),
        ),
        when(
          node('v1').enters('propose', { height: 1, round: 2 }),
          crash('v1', { how: 'lose' }),
          removeLog('v1'),
        ),
        later('50ms', restart('v1')),
        later('2s', isolate('v0'), isolate('v3')),
        later('20s', heal()),
      ],
      liveness: 'waived',
      settings: { consensus: { timeoutCommitNs: 3_000n * MS } },
      ends: everyone.decides(height(2), { within: '90s' }),
    });
    holds(play, 1);
  });

  it('come when the clock of the node says so', () => {
    const play = scenario('a clock runs at a fifth of its speed', {
      cast: { ...validators(4), clocks: { v1: { driftPpm: -800_000 } } },
      act: [
        at('0s', partition(['v0', 'v1']), drop('prevotes', { from: ['v1'], to: ['v0'] })),
        at('40s', heal()),
      ],
      liveness: 'waived',
      ends: these('v0').decides(height(2), { within: '90s' }),
    });
    holds(play, 1, 2);
  });

  /** The root of the parts is true; their number is not, so that every part is refused. */
  const falseNumber =
    (more: number): Liar =>
    (kit) =>
      aboutOwnBlocks(kit, 'lie: a false number of parts', (block) => {
        const { total, hash } = PartSet.whole(encodeBlock(block)).header;
        return total + more < 1 ? null : { block, parts: { total: total + more, hash } };
      });

  it('of a block are not due, nor is it judged, where its parts are said to be one more or one less', () => {
    const play = (more: number): Scenario =>
      scenario('a false number of parts', {
        cast: validators(4),
        liars: [liar('v2', falseNumber(more), ['v0', 'v1', 'v3'])],
        load: txs({ perBlock: 3, count: 30, size: 44_000 }),
        settings: { consensus: { timeoutProposeNs: 15_000n * MS } },
        liveness: 'waived',
        ends: these('v0', 'v1').decides(height(8), { within: '300s' }),
      });
    for (const more of [1, -1]) {
      holds(play(more), 1, 2);
      expect(runScenario(play(more), { seed: 1 }).faults).toHaveProperty('lie: a false number of parts');
    }
  });
});

describe('a double vote', () => {
  it('is forgotten with an old disk', () => {
    const onlyFrom = { from: ['v1'], height: 3, by: ['v3'] } as const;
    const play = scenario('evidence goes with the disk', {
      cast: validators(4),
      liars: [liar('v3', 'double-voter', ['v1'], { fromHeight: 3, toHeight: 3 })],
      act: [
        at(
          '0s',
          drop('evidence', { from: ['v1'] }),
          drop('prevotes', onlyFrom),
          drop('precommits', onlyFrom),
        ),
        when(node('v1').decides(height(2)), backUp('v1')),
        when(node('v1').decides(height(3))),
        later(
          '150ms',
          crash('v1', { how: 'clean' }),
          putBack('v1', 'consensus', 'chain', 'app'),
          restart('v1'),
        ),
      ],
      ends: everyone.decides(height(16), { within: '100s' }),
    });
    holds(play, 1, 2, 3, 4, 5, 6);
  });

  it('goes unpunished where a block has no room for evidence', () => {
    class NoRoom extends KvStore {
      override answer(request: AbciRequest): AbciResponse {
        const answer = super.answer(request);
        if (answer.type !== 'init-chain') return answer;
        const evidence = { maxAgeBlocks: 100_000n, maxAgeNs: 172_800_000n * MS, maxBytes: 300n };
        return { ...answer, value: { ...answer.value, consensusParams: { evidence } } };
      }
    }
    const play = scenario('no room for evidence', {
      cast: validators(4),
      app: () => new NoRoom(),
      liars: [liar('v3', 'double-voter', ['v0', 'v1'], { times: 1 })],
      ends: everyone.decides(height(20), { within: '100s' }),
    });
    holds(play, 1, 2, 3);
  });
});

test('who precommits twice may be absent from the block that it precommits last', () => {
  const other = new Uint8Array(32).fill(7);
  const isAbout5 = ({ type, height, blockId }: Vote): boolean =>
    type === PRECOMMIT && height === 5n && blockId.hash.length > 0;
  /** First for a block that is not there, and when height 5 is over for what was decided. */
  const twoBlocks: Liar = (kit) => {
    let kept: Payload | null = null;
    const lie = aboutOwnVotes(kit, 'lie: another block', (vote, payload) => {
      if (!isAbout5(vote)) return null;
      kept = payload;
      return [signedVote(kit, { ...vote, blockId: { hash: other, parts: { total: 1, hash: other } } })];
    });
    return (to, payloads) => {
      const told = lie(to, payloads);
      const isDue = kept !== null && kit.victims.has(to) && kit.machine.height >= 5n;
      if (told || !isDue || kept === null) return told;
      const late = kept;
      kept = null;
      return [...payloads, late];
    };
  };
  const slow = (name: 'v0' | 'v2') => delay('precommits', '1900ms', { height: 5, by: [name], to: ['v1'] });
  const play = scenario('a second precommit between two heights', {
    cast: validators(4),
    liars: [liar('v3', twoBlocks, ['v1'])],
    act: [at('0s', slow('v2'), slow('v0')), at('8s', submit('v3', 'a=b'))],
    liveness: 'waived',
    ends: these('v0', 'v1', 'v2').decides(height(8), { within: '100s' }),
  });
  holds(play, 1, 2, 3, 4, 5);
});
