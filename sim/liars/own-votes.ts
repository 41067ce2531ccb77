// What vote liars share: for each vote of its own that a liar sends to a victim, what goes instead of it.

import type { Payload } from '../../actors/turn.ts';
import { hexOf } from '../../protocol/bytes.ts';
import { PREVOTE, type Vote } from '../../protocol/types.ts';
import { ownVote } from '../oracles/ghost/about-votes.ts';
import { isPromise } from '../scenario/checks.ts';
import { ScenarioError } from '../scenario/error.ts';
import { isItsPlace, type LiarKit, type Lie, Remembered } from './liar.ts';

/**
 * `instead` says once for each vote what victims hear of it (nothing at all: `[]`), or null: the truth, this
 * time and whenever the vote is repeated. It is asked only about votes that the liar's words speak of, and
 * when chance lets it lie.
 */
export function aboutOwnVotes(
  kit: LiarKit,
  what: string,
  instead: (vote: Vote, payload: Payload) => readonly Payload[] | null,
): Lie {
  if (typeof what !== 'string' || typeof instead !== 'function')
    throw new ScenarioError('aboutOwnVotes takes the kit, a name for the lie, and (vote) => payloads');
  const decided = new Remembered<readonly Payload[] | null>();
  const decide = (vote: Vote, payload: Payload): readonly Payload[] | null => {
    const { votes } = kit.words;
    if (votes !== undefined && votes !== (vote.type === PREVOTE ? 'prevotes' : 'precommits')) return null;
    if (!isItsPlace(kit.words, vote.height, vote.round) || !kit.lies()) return null;
    const said: unknown = instead(vote, payload);
    if (isPromise(said)) said.then(undefined, () => {}); // what it throws later is of no interest any more
    if (said !== null && !Array.isArray(said))
      throw new ScenarioError(`${what}: expected a list of payloads, or null for the truth`);
    if (said) kit.count(what);
    return said;
  };
  return (to, payloads) => {
    if (!kit.victims.has(to) || !payloads.some((payload) => ownVote(kit.machine, payload))) return null;
    let isLie = false;
    const said = payloads.flatMap((payload) => {
      const vote = ownVote(kit.machine, payload);
      if (!vote) return [payload];
      const key = `${vote.height}/${vote.round}/${vote.type}/${hexOf(vote.blockId.hash)}`;
      const lie = decided.get(key, () => decide(vote, payload));
      if (!lie) return [payload];
      isLie = true;
      return lie;
    });
    return isLie ? said : null;
  };
}
