// What is durable before what (ARCHITECTURE, "A turn"): whatever an actor says or does after it asked for a sync, or for a durable write, leaves it only
// when its disk has answered. A node that lets it go earlier has said things that it does not know after a crash.

import type { ActorName } from '../../actors/turn.ts';
import type { MediumName } from '../disk-door.ts';
import type { Oracle, OracleMaker } from '../oracle.ts';
import { PerMachine } from './per-machine.ts';

/** What an actor waits for: so many records or batches, of all ever. */
interface Wait {
  readonly medium: MediumName;
  readonly upTo: number;
}

export const durableOracle: OracleMaker = (report, about): Oracle => {
  const waits = new PerMachine(() => new Map<ActorName, Wait>());
  return {
    name: 'durable',
    started: (at) => void waits.delete(at),
    leaving(at, actor, effect) {
      if (!about.isHonest(at)) return;
      const waiting = waits.of(at);
      const wait = waiting.size > 0 ? waiting.get(actor) : undefined;
      if (wait) {
        waiting.delete(actor);
        // A disk may lie: what it has answered counts, whatever a crash leaves.
        if (at.disk.counts(wait.medium).answered < wait.upTo) {
          const what = `a ${effect.type} of ${actor} leaves before what it wrote to ${wait.medium} is durable`;
          report(`${at.name}: ${what}`, at, at.height + 1n);
        }
      }
      if (effect.type === 'sync')
        waiting.set(actor, { medium: effect.log, upTo: at.disk.counts(effect.log).written });
      else if (effect.type === 'store' && effect.durable)
        waiting.set(actor, { medium: effect.store, upTo: at.disk.counts(effect.store).written + 1 });
    },
  };
};
