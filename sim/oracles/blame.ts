// Nobody honest is blamed: a node cuts off who broke a rule, and nobody who broke none.

import type { Payload, PeerId } from '../../actors/turn.ts';
import type { Machine } from '../machine.ts';
import type { Oracle, OracleMaker } from '../oracle.ts';
import { PerMachine } from './per-machine.ts';

/** Said of who is slow, dead or behind a bad line: no rule is broken. */
const QUIET = 'blocks asked for do not come';

export const blameOracle: OracleMaker = (report, about): Oracle => {
  const byId = new Map(about.machines.map((machine) => [machine.member.id, machine]));
  /** What a link has changed is no word of who sent it. */
  const changed = new WeakSet<Payload>();
  /** Peers from whom a node got such a thing, in its life and before: what it made of it may show later. */
  const garbled = new PerMachine<Set<PeerId>>(() => new Set());
  let isGarbling = false;

  const isGarbled = (at: Machine, peer: PeerId): boolean =>
    isGarbling && (garbled.get(at)?.has(peer) ?? false);

  return {
    name: 'blame',
    effects: ['score'],
    corrupted(payload) {
      changed.add(payload);
      isGarbling = true;
    },
    heard(at, from, payloads) {
      if (isGarbling && payloads.some((payload) => changed.has(payload))) garbled.of(at).add(from);
    },
    leaving(at, _actor, effect) {
      if (effect.type !== 'score' || effect.because === QUIET || !about.isHonest(at)) return;
      const peer = byId.get(effect.peer);
      if (!peer || !about.isHonest(peer) || isGarbled(at, effect.peer)) return;
      report(`${at.name} cuts off ${peer.name}, which broke no rule: ${effect.because}`, at, at.height);
    },
  };
};
