import { describe, expect, it } from 'vitest';
import { DEFAULT_CONSENSUS } from '../../machines/consensus/config.ts';
import { utf8Encode } from '../../protocol/platform/node.ts';
import { makeCast } from '../../sim/cast.ts';
import { Choices } from '../../sim/choices.ts';
import { World } from '../../sim/world.ts';

const SECOND = 1e9;

describe('without empty blocks', () => {
  it('a node that missed the last height before the silence gets it when the cut heals', () => {
    const world = new World({
      cast: makeCast({ powers: [10n, 10n, 10n, 10n] }),
      choices: new Choices({ seed: '1' }, 'forget'),
      crypto: 'sim',
      settings: { consensus: { ...DEFAULT_CONSENSUS, createEmptyBlocks: false } },
    });
    const [first, ...others] = world.machines;
    const last = others.at(-1)!;
    const later = (seconds: number): number => world.agenda.now + seconds * SECOND;
    const everybody = (height: bigint) => () => world.machines.every((machine) => machine.height >= height);
    world.startAll();
    expect(world.run(everybody(1n), later(60))).toBe(true);
    world.run(() => false, later(30));
    const { sent } = world.network.counters;
    world.run(() => false, later(30));
    // A word a second to each of three peers, and nothing else.
    expect(world.network.counters.sent - sent).toBeLessThanOrEqual(4 * 3 * 31);
    const idleAt = first!.height;
    expect(new Set(world.machines.map(({ height }) => height))).toEqual(new Set([idleAt]));
    world.network.partition([[last.member.id]]);
    world.submit(first!, utf8Encode('a=1'));
    world.run(() => false, later(30));
    expect([first!.height > idleAt, last.height]).toEqual([true, idleAt]);
    const reached = first!.height;
    world.network.heal();
    expect(world.run(everybody(reached), later(10))).toBe(true);
    expect(first!.height).toBe(reached); // no block was made for it
  });
});
