// A world knows how far each of its machines is, whatever it was doing when it died.

import { expect, it } from 'vitest';
import type { ValidatorState } from '../../actors/validator/state.ts';
import { makeCast } from '../../sim/cast.ts';
import { Choices } from '../../sim/choices.ts';
import { runScenario } from '../../sim/run.ts';
import { crash, height, isolate, nobody, scenario, v0, validators, when } from '../../sim/scenario/words.ts';
import { World } from '../../sim/world.ts';

it.each([1, 2, 3, 4, 5, 6])('and dies after write %i of a height', (nth) => {
  let world: World | null = null;
  const play = scenario('the last word is lost', {
    cast: validators(4),
    act: [
      when(
        v0.decides(height(2)),
        crash('v0', { how: 'clean', restart: '0s', point: { op: 'write', when: 'after', on: 'chain', nth } }),
      ),
      // Alone it commits nothing more, and says so of nothing.
      when({ who: 'v0', does: 'crashes' }, isolate('v0')),
    ],
    ends: nobody.decidesBeyond(height(90), { for: '20s' }),
  });
  runScenario(play, {
    seed: 1,
    onWorld: (made) => {
      world = made;
    },
  });
  const machine = (world as World | null)?.machine('v0');
  expect(machine?.crashes).toBe(1);
  expect(machine?.height).toBe(machine?.node?.peek<ValidatorState>('validator')?.chain.lastBlockHeight);
});

it('runs until a time: what is due by then happens, and nothing later', () => {
  const cast = makeCast({ powers: [10n] });
  const world = new World({ cast, choices: new Choices({ seed: '1' }), crypto: 'sim', memo: true });
  const happened: number[] = [];
  for (const time of [5, 6, 7]) world.agenda.at(time, () => happened.push(time));
  expect(world.run(() => false, 6)).toBe(false);
  expect([happened, world.agenda.now]).toEqual([[5, 6], 6]);
  expect(world.run(() => happened.length === 3, 7)).toBe(true);
  expect(world.run(() => false, 9)).toBe(false);
  expect(world.agenda.now).toBe(7);
});
