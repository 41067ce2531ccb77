// Hygiene: no honest node halts, but where the play promises that, and timers stay few, also those that a node keeps in mind. That no actor throws, and no mail is for nobody, the world sees itself (`world.ts`).

import type { Oracle, OracleMaker } from '../../oracle.ts';

/** A node's timers: a handful per actor and peer; more is a leak. */
const TIMERS_BASE_MAX = 64;
const TIMERS_PER_PEER_MAX = 8;
/** It keeps those that are to come due, and in a pause some that would have. */
const TIMERS_KEPT_BESIDE = 16;

export const hygiene: OracleMaker = (report, about): Oracle => ({
  name: 'hygiene',
  events: ['halted', 'committed'],
  published(at, _actor, event) {
    if (event.type === 'halted' && about.isHonest(at) && !about.mayHalt(at, event.what))
      report(`${at.name} halted: ${event.what}`, at, at.height);
    if (event.type !== 'committed') return;
    const { timersPending } = at.clock;
    const kept = at.node?.timersKept() ?? 0;
    if (kept > timersPending + TIMERS_KEPT_BESIDE)
      report(
        `${at.name} keeps ${kept} timers in mind, and ${timersPending} are to come due`,
        at,
        event.height,
      );
    const limit = TIMERS_BASE_MAX + TIMERS_PER_PEER_MAX * about.machines.length;
    if (timersPending > limit) {
      report(`${at.name} has ${timersPending} timers pending; ${limit} are plenty`, at, event.height);
    }
  },
});
