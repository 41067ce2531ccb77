// The two forms of a death in plays, now or at a point, and how the second becomes the first.

import type { Action } from '../scenario/play.ts';

export type Crash = Extract<Action, { do: 'crash' | 'crash-at' }>;

export const isCrash = (action: Action): action is Crash => action.do === 'crash' || action.do === 'crash-at';

/** The same death, wherever the node is. */
export function crashAtOnce({
  do: _,
  when,
  op,
  on,
  nth,
  ...stays
}: Extract<Action, { do: 'crash-at' }>): Crash {
  return { do: 'crash', ...stays };
}
