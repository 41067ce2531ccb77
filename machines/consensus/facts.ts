// The facts that the chart looks at, as bits of one number: what changed is one comparison, and each step looks only at its own.

import type { Step, Survey } from './chart.ts';

const FACT_NAMES = [
  'heightMayStart',
  'mayPropose',
  'proposalAcceptable',
  'proposalRefused',
  'reproposalAcceptable',
  'reproposalRefused',
  'proposeTimeout',
  'polkaForBlock',
  'polkaForNil',
  'prevotesAny',
  'prevoteTimeout',
  'newValidValue',
  'precommitsAny',
  'precommitTimeout',
  'decided',
  'laterRound',
  'decisionExecutable',
  'heightDone',
] as const satisfies readonly (keyof Survey)[];

export const FACT = Object.fromEntries(FACT_NAMES.map((name, bit) => [name, 1 << bit])) as Record<
  keyof Survey,
  number
>;

const bits = (...names: readonly (keyof Survey)[]): number =>
  names.reduce((mask, name) => mask | FACT[name], 0);
const ALWAYS = bits('decided', 'laterRound', 'precommitTimeout', 'precommitsAny');
const PREVOTING = ALWAYS | bits('polkaForBlock', 'polkaForNil', 'prevoteTimeout');

/** Which facts the rules of each step look at (`chart.ts`; a test walks the chart and compares). */
export const LOOKED_AT: Readonly<Record<Step, number>> = {
  newHeight: bits('decided', 'heightMayStart'),
  newRound: ALWAYS | bits('mayPropose'),
  propose:
    ALWAYS |
    bits(
      'proposalAcceptable',
      'proposalRefused',
      'reproposalAcceptable',
      'reproposalRefused',
      'proposeTimeout',
    ),
  prevote: PREVOTING | bits('prevotesAny'),
  prevoteWait: PREVOTING,
  precommit: ALWAYS | bits('newValidValue'),
  commit: bits('decisionExecutable', 'heightDone'),
};

/** Surveys by their bits, made once: two looks with the same bits are the same value. */
const surveys = new Map<number, Survey>();
export function surveyOf(mask: number): Survey {
  let survey = surveys.get(mask);
  if (!survey) {
    survey = Object.fromEntries(
      FACT_NAMES.map((name) => [name, (mask & FACT[name]) !== 0]),
    ) as unknown as Survey;
    surveys.set(mask, survey);
  }
  return survey;
}
