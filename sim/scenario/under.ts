// What a play is under a seed: the scenario that is performed, as data.

import { Choices, type Stream } from '../choices.ts';
import { mustBeOptions } from '../run-options.ts';
import { mustBePlay } from './must-be.ts';
import { tried } from './own.ts';
import { type DrawnPlay, type Ending, isDrawn, type Play, type Scenario } from './play.ts';
import { completed } from './usual.ts';
import { ScenarioError } from './words.ts';

/** Virtual time that each height beyond the play's own is given: some rounds of it. */
const HEIGHT_MORE_MS = 30_000;

function drawnBy({ draw }: DrawnPlay, stream: Stream): Scenario {
  const scenario: unknown = tried('draw', 'it threw', () => draw(stream));
  if (typeof scenario !== 'object' || scenario === null)
    throw new ScenarioError('draw: expected a scenario from it, as scenario(...) makes one');
  return scenario as Scenario;
}

export function scenarioOf(play: Play, choices: Choices): Scenario {
  return completed(isDrawn(play) ? drawnBy(play, choices.stream(`play/${play.name}`)) : play);
}

/**
 * What a seed of a drawn play came to, and of `heights` at least.
 * @throws ScenarioError when the play, the seed or the number is none.
 */
export function scenarioUnder(play: Play, seed: string | number | bigint, heights?: number): Scenario {
  mustBePlay(play);
  mustBeOptions({ seed, ...(heights !== undefined && { heights }) });
  return longer(scenarioOf(play, new Choices({ seed }, 'forget')), heights);
}

/** Other plays end when nothing more comes, or with their fork. */
export const countsHeights = (ends: Ending): ends is Extract<Ending, { readonly afterwards?: number }> =>
  ends.who !== 'nobody' && ends.who !== 'fork';

/** The last of so many heights: some chains begin later. */
export const lastOf = ({ cast }: Scenario, heights: number | undefined): number | undefined =>
  heights === undefined ? undefined : (cast.initialHeight ?? 1) - 1 + heights;

/** Of so many heights at least, where it counts them. */
export function longer(scenario: Scenario, heights: number | undefined): Scenario {
  const { ends } = scenario;
  const decides = lastOf(scenario, heights);
  if (decides === undefined || !countsHeights(ends) || decides <= ends.decides) return scenario;
  const withinMs = ends.withinMs + (decides - ends.decides) * HEIGHT_MORE_MS;
  return { ...scenario, ends: { ...ends, decides, withinMs } };
}
