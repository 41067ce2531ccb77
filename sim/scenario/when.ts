// The words around what somebody does and how somebody is: when something happens, and what must hold.

import { type Duration, msOf } from './durations.ts';
import { mustBe } from './must-be.ts';
import type { Action, Claim, Condition, Directive, StateOf } from './play.ts';

const DEED = 'v0.decides(height(3))';

// --- when --------------------------------------------------------------------------------------------------

export const at = (time: Duration, ...actions: Action[]): Directive => ({
  atMs: msOf(time, 'at'),
  actions,
});
export const after = (time: Duration, ...actions: Action[]): Directive => ({
  afterMs: msOf(time, 'after'),
  actions,
});
export const when = (condition: Condition, ...actions: Action[]): Directive => {
  mustBe('when', `when(${DEED}, ...)`, condition);
  return { when: condition, actions };
};
/** Each time that this happens, until chaos is over. */
export const whenever = (condition: Condition, ...actions: Action[]): Directive => {
  mustBe('whenever', `whenever(${DEED}, ...)`, condition);
  return { whenever: condition, actions };
};
/** When this happens, and at this time if it has not happened by then. */
export const whenOrAt = (condition: Condition, latest: Duration, ...actions: Action[]): Directive => {
  mustBe('whenOrAt', `whenOrAt(${DEED}, '60s', ...)`, condition);
  return { when: condition, latestMs: msOf(latest, 'whenOrAt'), actions };
};

// --- what must hold ----------------------------------------------------------------------------------------

export const never = (condition: Condition, during: { readonly while?: StateOf } = {}): Claim => {
  mustBe('never', `never(${DEED})`, condition);
  mustBe('never', '{ while: v0.isDown }', during);
  return { never: condition, ...during };
};
export const sometime = (condition: Condition): Claim => {
  mustBe('sometime', `sometime(${DEED})`, condition);
  return { sometime: condition };
};
export const finally_ = (state: StateOf): Claim => {
  mustBe('finally_', 'finally_(v0.isUp)', state);
  return { finally: state };
};
