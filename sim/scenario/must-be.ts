// What the words of a play take is an object or it is refused: spread, a bare number or a text would be dropped without a word.

import { isRefusal } from '../../protocol/refusal.ts';
import { isUncalled, uncalledText } from './checks.ts';
import { type Play, ScenarioError } from './play.ts';

/**
 * @param form what to write instead
 * @param isMeant false: an object of another form
 */
export function mustBe(word: string, form: string, part: unknown, isMeant = true): void {
  const isObject = typeof part === 'object' && part !== null && !Array.isArray(part);
  if (isObject && isMeant) return;
  const isPlain = typeof part === 'object' || typeof part === 'string';
  const said = isPlain ? JSON.stringify(part) : isUncalled(part) ? uncalledText(part) : String(part);
  throw new ScenarioError(`${word}: write ${form}, not ${said}`);
}

/** @throws ScenarioError where a play is expected and something else is given. */
export function mustBePlay(play: unknown): asserts play is Play {
  if (isRefusal(play)) throw new ScenarioError(`play: this is a refusal, and no play: ${play.because}`);
  if (typeof play === 'function')
    throw new ScenarioError(
      `play: a function that draws one is made a play by drawn('name', 'title', ${play.name || 'draw'})`,
    );
  if (typeof play !== 'object' || play === null)
    throw new ScenarioError(`play: expected scenario(...) or drawn(...), not ${String(play)}`);
}

/** Of a play that comes with us: what it draws from. */
export function mustBeStream(drawer: string, stream: unknown): void {
  if (typeof (stream as { chance?: unknown } | null | undefined)?.chance === 'function') return;
  throw new ScenarioError(
    `${drawer}: it draws from the stream of a run: give it to drawn('name', 'title', ${drawer}), which calls it`,
  );
}
