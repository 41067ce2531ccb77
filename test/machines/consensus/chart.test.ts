import { expect, it } from 'vitest';
import {
  ChartStepper,
  consensusChart,
  STEP_NUMBER,
  type Step,
  type Survey,
} from '../../../machines/consensus/chart.ts';
import { FACT, LOOKED_AT } from '../../../machines/consensus/facts.ts';

interface Look {
  readonly guard: string;
  readonly target?: string;
  readonly actions: string | readonly string[];
}

/** The rules of each step as the chart's own configuration has them. */
const rulesOf = (step: string): readonly Look[] => {
  const states = consensusChart.config.states as unknown as Record<string, { on: { look: readonly Look[] } }>;
  return states[step]!.on.look;
};
const steps = Object.keys(STEP_NUMBER) as Step[];
const facts = Object.keys(FACT) as (keyof Survey)[];
const actionsOf = ({ actions }: Look): readonly string[] =>
  typeof actions === 'string' ? [actions] : actions;
const seeing = (...seen: readonly string[]): Survey =>
  Object.fromEntries(facts.map((fact) => [fact, seen.includes(fact)])) as unknown as Survey;

it('every step of the chart has a number, and the other way round', () => {
  expect(Object.keys(consensusChart.config.states ?? {}).sort()).toEqual([...steps].sort());
});

it.each(steps)('step %s: the mask of facts is what its rules look at', (step) => {
  const looked = rulesOf(step).reduce((mask, { guard }) => mask | FACT[guard as keyof Survey], 0);
  expect(LOOKED_AT[step]).toBe(looked);
});

it('every guard and every decision is used by some rule', () => {
  const rules = steps.flatMap(rulesOf);
  expect([...new Set(rules.map(({ guard }) => guard))].sort()).toEqual([...facts].sort());
  const { guards, actions } = consensusChart.implementations;
  expect([...new Set(rules.flatMap(actionsOf))].sort()).toEqual(Object.keys(actions).sort());
  expect(Object.keys(guards).sort()).toEqual([...facts].sort());
});

/** Facts that lead from the beginning to a step. */
const ways: Record<Step, readonly string[]> = {
  newHeight: [],
  newRound: ['heightMayStart'],
  propose: ['heightMayStart', 'mayPropose'],
  prevote: ['heightMayStart', 'mayPropose', 'proposeTimeout'],
  prevoteWait: ['heightMayStart', 'mayPropose', 'proposeTimeout', 'prevotesAny'],
  precommit: ['heightMayStart', 'mayPropose', 'proposeTimeout', 'polkaForNil'],
  commit: ['decided'],
};

function at(step: Step): ChartStepper {
  const chart = new ChartStepper();
  for (const fact of ways[step]) chart.look(seeing(fact));
  expect(chart.step).toBe(step);
  return chart;
}

it.each(steps)(
  'step %s: each fact alone leads where its rule says, and facts it does not look at lead nowhere',
  (step) => {
    for (const fact of facts) {
      const chart = at(step);
      const rule = rulesOf(step).find(({ guard }) => guard === fact);
      const decisions = chart.look(seeing(fact));
      expect([fact, ...decisions]).toEqual([fact, ...(rule ? actionsOf(rule) : [])]);
      expect(chart.step).toBe(rule?.target ?? step);
    }
  },
);

it.each(steps)('step %s: of many facts the first rule wins', (step) => {
  const chart = at(step);
  expect(chart.look(seeing(...facts))).toEqual(actionsOf(rulesOf(step)[0]!));
});

it('charts do not share where they stand', () => {
  const [one, other] = [at('prevote'), at('propose')];
  one.look(seeing('polkaForNil'));
  expect([one.step, other.step]).toEqual(['precommit', 'propose']);
});
