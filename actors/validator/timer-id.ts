// The names of the timers of a height: `step height round`, so that what an earlier one meant is told from what a later one means.

import type { TimeoutStep } from '../../machines/consensus/config.ts';

/** `start`: timeout_commit is over; `empty`: create_empty_blocks_interval is; or the timeout of a step. */
export type TimerStep = TimeoutStep | 'start' | 'empty';

export interface StepTimer {
  readonly step: TimerStep;
  readonly height: bigint;
  readonly round: number;
}

export const timerIdOf = ({ step, height, round }: StepTimer): string => `${step} ${height} ${round}`;

/** Null: a timer of another kind. */
export function stepTimerOf(id: string): StepTimer | null {
  const [step, height, round] = id.split(' ');
  if (height === undefined || round === undefined) return null;
  return { step: step as TimerStep, height: BigInt(height), round: Number(round) };
}
