// Where a play lets nodes die, each dies: also those who come there within the same moment.

import { expect, it } from 'vitest';
import { Agenda } from '../../sim/agenda.ts';
import type { Machine } from '../../sim/machine.ts';
import { CrashPoints } from '../../sim/scenario/crash-points.ts';
import type { World } from '../../sim/world.ts';

const SEND = { type: 'send', to: [], payloads: [] } as const;

it('two that reach theirs a moment apart die both, at their next effect or soon after', () => {
  const agenda = new Agenda();
  const world = { agenda, crashHere: null } as unknown as World;
  const struck: string[] = [];
  const points = new CrashPoints(world, ({ name }) => void struck.push(`${name} ${agenda.now}`));
  const [v0, v1] = ['v0', 'v1'].map((name) => ({ name, disk: { watch: null } }) as unknown as Machine);
  for (const machine of [v0, v1] as [Machine, Machine])
    points.arm(machine, { node: machine.name as 'v0', op: 'send', when: 'after', nth: 1, how: 'clean' });
  const leaves = (machine: Machine | undefined): boolean =>
    world.crashHere?.(machine as Machine, 'validator', SEND) === true;
  agenda.at(1_000, () => expect(leaves(v0)).toBe(false));
  agenda.at(1_500, () => expect(leaves(v1)).toBe(false));
  agenda.at(1_800, () => expect(leaves(v1)).toBe(true));
  while (agenda.nextAt() < Infinity) agenda.next();
  expect(struck).toEqual(['v1 1800', 'v0 2000']);
  expect(points.unreached.size).toBe(0);
});
