// What an inspector sees of an actor: its chart, and where in it the actor stands.

import { expect, it } from 'vitest';
import type { Turn } from '../../../actors/turn.ts';
import { Cell } from '../../../runtime/kernel/cell.ts';
import { makeCast } from '../../../sim/cast.ts';
import { Choices } from '../../../sim/choices.ts';
import { World } from '../../../sim/world.ts';
import { scripted } from './world.ts';

const owner = { resume: () => {}, bug: () => {} };

it('a snapshot has the value of the chart as it is when somebody looks', () => {
  const logic = { ...scripted('a', () => []), look: ({ heard }: { heard: string[] }) => heard.length };
  const cell = new Cell(logic, { heard: [] }, {} as Turn, owner);
  expect(cell.snapshot).toMatchObject({ status: 'active', value: 0 });
  cell.receive({ type: 'go', n: 1n } as never);
  expect(cell.snapshot).toMatchObject({ status: 'active', value: 1 });
});

it('a validator shows the chart of consensus, and its step in it', () => {
  const cast = makeCast({ powers: [10n] });
  const world = new World({ cast, choices: new Choices({ seed: '1' }), crypto: 'sim' });
  world.startAll();
  const v0 = world.machine('v0');
  world.run(() => v0.height === 1n, 60e9);
  const { cells } = v0.node as unknown as { cells: ReadonlyMap<string, Cell> };
  const validator = cells.get('validator') as Cell;
  const { states } = validator.logic.config as { states: object };
  const { value } = validator.snapshot as { value: string };
  expect(Object.keys(states)).toContain(value);
  expect(Object.keys(states)).toContain('prevoteWait');
});
