// What the words of a play take is an object or it is refused: spread, a bare number or a text would be dropped without a word.

import { ScenarioError } from './play.ts';

/**
 * @param form what to write instead
 * @param isMeant false: an object of another form
 */
export function mustBe(word: string, form: string, part: unknown, isMeant = true): void {
  const isObject = typeof part === 'object' && part !== null && !Array.isArray(part);
  if (isObject && isMeant) return;
  const said = typeof part === 'object' || typeof part === 'string' ? JSON.stringify(part) : String(part);
  throw new ScenarioError(`${word}: write ${form}, not ${said}`);
}
