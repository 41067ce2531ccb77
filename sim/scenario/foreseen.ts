// What a run prepares for because its play speaks of it: nodes that may stop, and whether anybody asks what messages say.

import type { RunWatch } from '../verdict.ts';
import type { WorldOptions } from '../world.ts';
import type { Scenario } from './play.ts';

/** Who is to stop by itself, or to have stopped at the end. */
export function haltingIn({ holds }: Pick<Scenario, 'holds'>): NonNullable<WorldOptions['halting']> {
  return holds.flatMap((claim): { readonly who: string; readonly because?: string }[] => {
    if ('finally' in claim && claim.finally.is === 'halted') return [{ who: claim.finally.who }];
    return 'sometime' in claim && claim.sometime.does === 'halts' ? [claim.sometime] : [];
  });
}

/** Whether anybody reads, or the play speaks of, votes, proposals, numbered blocks or evidence: messages tell. */
export function needsWords({ act, holds, liars }: Scenario, { line, backstage }: RunWatch): boolean {
  if (liars.length > 0 || line || backstage) return true;
  const text = JSON.stringify([act, holds]);
  return /"does":"(proposes|prevotes|precommits|punishes|drops)"|"block":/.test(text);
}
