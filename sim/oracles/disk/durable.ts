// What is durable before what (ARCHITECTURE, "A turn"): whatever an actor says or does after it asked for a sync, or for a durable write, leaves it only
// when its disk has answered. A node that lets it go earlier has said things that it does not know after a crash. And what an application answers to
// Commit it has written: blocks go by that answer.

import type { ActorName, Effect } from '../../../actors/turn.ts';
import type { MediumName } from '../../disk-door.ts';
import type { Machine } from '../../machine.ts';
import type { Oracle, OracleMaker } from '../../oracle.ts';
import { PerMachine } from '../ghost/per-machine.ts';

/** What an actor waits for: so many records or batches, of all ever. One for good: a map of one entry that comes and goes is made anew each time. */
class Wait {
  /** Null: it waits for nothing. */
  medium: MediumName | null = null;
  upTo = 0;
}

export const durableOracle: OracleMaker = (report, about): Oracle => {
  /** By who waits, and how many do. */
  const waits = new PerMachine(() => ({ by: new Map<ActorName, Wait>(), open: 0 }));
  const waitsFor = (at: Machine, actor: ActorName, medium: MediumName, upTo: number): void => {
    const waiting = waits.of(at);
    let wait = waiting.by.get(actor);
    if (!wait) {
      wait = new Wait();
      waiting.by.set(actor, wait);
    }
    waiting.open++;
    wait.medium = medium;
    wait.upTo = upTo;
  };
  /** Whose application has answered Commit, and nothing since. */
  const committed = new PerMachine(() => ({ is: false }));
  const ofApplication = (at: Machine, effect: Effect): void => {
    const last = committed.of(at);
    if (effect.type === 'tell')
      last.is = effect.message.type === 'answer' && effect.message.response.type === 'commit';
    else if (effect.type === 'store' && last.is)
      report(
        `${at.name}: an application has answered Commit before it wrote what it is about`,
        at,
        at.height + 1n,
      );
  };
  return {
    name: 'durable',
    started(at) {
      waits.delete(at);
      committed.delete(at);
    },
    leaving(at, actor, effect) {
      if (!about.isHonest(at)) return;
      if (actor === 'app') ofApplication(at, effect);
      const waiting = waits.of(at);
      const wait = waiting.open > 0 ? waiting.by.get(actor) : undefined;
      if (wait && wait.medium !== null) {
        const { medium, upTo } = wait;
        wait.medium = null;
        waiting.open--;
        // A disk may lie: what it has answered counts, whatever a crash leaves.
        if (at.disk.counts(medium).answered < upTo) {
          const what = `a ${effect.type} of ${actor} leaves before what it wrote to ${medium} is durable`;
          report(`${at.name}: ${what}`, at, at.height + 1n);
        }
      }
      if (effect.type === 'sync') waitsFor(at, actor, effect.log, at.disk.counts(effect.log).written);
      else if (effect.type === 'store' && effect.durable)
        waitsFor(at, actor, effect.store, at.disk.counts(effect.store).written + 1);
    },
  };
};
