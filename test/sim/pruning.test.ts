// An application that lets go of blocks: the store holds what it still wants, evidence is judged by those who restart, too, and the
// chain goes on.

import { expect, it } from 'vitest';
import { KvStore } from '../../machines/apps/kvstore.ts';
import { blockKey, pastKey, responseKey, seenCommitKey } from '../../machines/chain/keys.ts';
import {
  type AbciRequest,
  type AbciResponse,
  at,
  crash,
  delay,
  everyone,
  heal,
  height,
  isolate,
  liar,
  powers,
  runScenario,
  type Scenario,
  scenario,
  txs,
  v0,
  v2,
  validators,
  when,
} from '../../sim/index.ts';
import type { World } from '../../sim/world.ts';

/** Wants the latest blocks, so many. */
const keeping = (blocks: bigint) =>
  class Forgetful extends KvStore {
    private latest = 0n;

    override answer(asked: AbciRequest): AbciResponse {
      const response = super.answer(asked);
      if (asked.type === 'finalize-block') this.latest = asked.value.height;
      if (response.type !== 'commit' || this.latest <= blocks) return response;
      return { ...response, value: { retainHeight: this.latest - blocks + 1n } };
    }
  };

const play = (blocks: bigint, more: Partial<Scenario> = {}): Scenario => {
  const Forgetful = keeping(blocks);
  return scenario('old blocks go', {
    cast: validators(4),
    app: () => new Forgetful(),
    load: txs({ perSecond: 2 }),
    ends: everyone.decides(height(14), { within: '120s' }),
    ...more,
  });
};

/** Heights up to the 14th of which v0's store has something. */
function heightsIn(world: World, key: (height: bigint) => Uint8Array): number[] {
  const { disk } = world.machine('v0');
  const heights = Array.from({ length: 14 }, (_, i) => i + 1);
  return heights.filter((each) => disk.read('chain', key(BigInt(each))) !== undefined);
}

function worldOf(scenario: Scenario): World {
  let world: World | null = null;
  const { violations } = runScenario(scenario, {
    seed: 1,
    onWorld: (made) => {
      world = made;
    },
  });
  expect(violations).toEqual([]);
  return world as unknown as World;
}

it('what the application wants no more is gone, but for what evidence may ask of it', () => {
  const world = worldOf(play(5n));
  const kept = heightsIn(world, blockKey);
  expect(kept.length).toBeLessThan(8);
  expect(kept.at(-1)).toBe(14);
  for (const key of [seenCommitKey, responseKey]) expect(heightsIn(world, key)).toEqual(kept);
  const gone = heightsIn(world, pastKey);
  expect([...gone, ...kept]).toEqual(Array.from({ length: 14 }, (_, i) => i + 1));
});

it('an application that lets go of blocks that are not there yet loses none for it', () => {
  class Hasty extends KvStore {
    override answer(asked: AbciRequest): AbciResponse {
      const response = super.answer(asked);
      return response.type === 'commit' ? { ...response, value: { retainHeight: 1_000n } } : response;
    }
  }
  const world = worldOf(play(0n, { app: () => new Hasty() }));
  expect(heightsIn(world, blockKey)).toHaveLength(14);
});

it('and that goes when evidence is too old', () => {
  const cast = { ...validators(4), evidence: { maxAgeBlocks: 6, maxAgeMs: 1 } };
  const world = worldOf(play(3n, { cast }));
  const gone = heightsIn(world, pastKey);
  expect(gone[0]).toBeGreaterThan(5);
  expect(gone.length).toBeGreaterThan(1);
});

it('also at who started again since its application asked for the last time', () => {
  const Forgetful = keeping(3n);
  class Silent extends Forgetful {
    override answer(asked: AbciRequest): AbciResponse {
      const response = super.answer(asked);
      const isLate = response.type === 'commit' && response.value.retainHeight > 6n;
      return isLate ? { type: 'commit', value: { retainHeight: 0n } } : response;
    }
  }
  const world = worldOf(
    play(3n, {
      cast: { ...validators(4), evidence: { maxAgeBlocks: 6, maxAgeMs: 1 } },
      app: () => new Silent(),
      act: [when(v0.decides(height(9)), crash('v0', { restart: '100ms' }))],
      ends: everyone.decides(height(20), { within: '120s' }),
    }),
  );
  expect(heightsIn(world, blockKey)[0]).toBe(6);
  expect(heightsIn(world, pastKey)).toEqual([]);
});

it('who was away for fewer blocks than are kept catches up', () => {
  const act = [when(v0.decides(height(2)), isolate('v2')), when(v0.decides(height(7)), heal())];
  worldOf(play(8n, { act }));
});

it('evidence of a block that is gone is judged by who restarted, as by the others', () => {
  // What v0 alone heard reaches the others seconds later; v2 has forgotten that height by then, as it restarts again and again.
  const act = [
    at('0s', delay('evidence', '4s', { from: ['v0'] })),
    ...[3, 5, 7, 9].map((each) => when(v2.decides(height(each)), crash('v2', { restart: '100ms' }))),
  ];
  const punishedAt: bigint[] = [];
  for (let seed = 1; seed <= 8; seed++) {
    const { violations } = runScenario(
      play(2n, {
        cast: powers(1, 10, 10, 10),
        liars: [liar('v3', 'double-voter', ['v0'], { times: 1 })],
        act,
      }),
      {
        seed,
        watch: {
          backstage: ({ witness }) =>
            witness.listeners.push(({ does, node, height: at }) => {
              if (does === 'punishes' && node.name === 'v2') punishedAt.push(at);
            }),
        },
      },
    );
    expect(violations).toEqual([]);
  }
  expect(punishedAt.length).toBeGreaterThanOrEqual(6); // in the others nobody hears both votes in time
});

it('of what grows old all at once so much goes with each block, and the next with the next', () => {
  const Forgetful = keeping(2n);
  class Shortening extends Forgetful {
    override answer(asked: AbciRequest): AbciResponse {
      const response = super.answer(asked);
      if (asked.type !== 'finalize-block' || response.type !== 'finalize-block') return response;
      const evidence = { maxAgeBlocks: 5n, maxAgeNs: 1n, maxBytes: 0n };
      return asked.value.height === 40n
        ? { ...response, value: { ...response.value, consensusParamUpdates: { evidence } } }
        : response;
    }
  }
  let world: World | undefined;
  const ends = everyone.decides(height(45), { within: '200s' });
  const { violations } = runScenario(play(2n, { app: () => new Shortening(), ends }), {
    seed: 1,
    onWorld: (each) => {
      world = each;
    },
  });
  expect(violations).toEqual([]);
  const left = Array.from({ length: 45 }, (_, i) => i + 1).filter(
    (each) => world?.machine('v0').disk.read('chain', pastKey(BigInt(each))) !== undefined,
  );
  expect(left.length).toBeGreaterThan(0);
  expect(Math.min(...left)).toBeGreaterThan(36);
});
