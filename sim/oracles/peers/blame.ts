// Nobody honest is blamed: a node cuts off who broke a rule, and nobody who broke none; nor is anybody asked for what it never said to have, or
// soon after it gave what was wrong.

import { QUIET_PEER, WRONG_BLOCK } from '../../../actors/blocksync.ts';
import type { Payload, PeerId } from '../../../actors/turn.ts';
import type { Machine } from '../../machine.ts';
import type { Oracle, OracleMaker } from '../../oracle.ts';
import { PerMachine } from '../ghost/per-machine.ts';
import { AskedBlocks } from './asked-blocks.ts';

/** Who answered everything, and so long ago, is not quiet. */
const TAKEN_UP_NS = 1_000_000_000;
/** It is asked for nothing for a minute (spec 5.12); less, where the node's clock runs fast. */
const DISTRUSTED_NS = 55_000_000_000;
/** Who owes blocks is asked so often how far it is, and one answer may have passed another on its way. */
const QUESTIONS_UNANSWERED = 3;

export const blameOracle: OracleMaker = (report, about): Oracle => {
  const byId = new Map(about.machines.map((machine) => [machine.member.id, machine]));
  /** What a link has changed is no word of who sent it. */
  const changed = new WeakSet<Payload>();
  /** Peers from whom a node got such a thing, in its life and before: what it made of it may show later. */
  const garbled = new PerMachine<Set<PeerId>>(() => new Set());
  let isGarbling = false;
  const asked = new AskedBlocks();
  /** Who gave a node what was wrong, in this life, and when it found out. */
  const distrusted = new PerMachine(() => new Map<PeerId, number>());

  /** What one said to the other was changed on its way: the other may have taken it for a question. */
  const isGarbled = (at: Machine, peer: Machine): boolean =>
    isGarbling &&
    (garbled.get(at)?.has(peer.member.id) === true || garbled.get(peer)?.has(at.member.id) === true);

  const isAllAnswered = (at: Machine, peer: PeerId): boolean => {
    const answeredNs = asked.allAnsweredNs(at, peer);
    return answeredNs !== null && about.now() - Math.max(answeredNs, at.heldUntilNs) > TAKEN_UP_NS;
  };

  /** It was asked a moment ago: it may not have had the time. */
  function hadNoTime(at: Machine, peer: PeerId): boolean {
    const owing = asked.owing(at, peer);
    if (owing === null) return false;
    const { peerTimeoutNs, statusNs } = at.config.sync;
    const lasts = (sinceNs: number, ns: number) => about.now() - sinceNs < ns / at.clock.fastest;
    return (
      lasts(owing.sinceNs, Number(peerTimeoutNs)) &&
      lasts(owing.reportedNs, QUESTIONS_UNANSWERED * Number(statusNs))
    );
  }

  function asks(at: Machine, to: readonly PeerId[], payloads: readonly Payload[]): void {
    for (const { peer, height, isClaimed } of asked.asks(at, to, payloads, about.now())) {
      if (!about.isHonest(at)) continue;
      const what = `${at.name} asks ${byId.get(peer)?.name} for block ${height}`;
      if (!isClaimed) report(`${what}, which it never said to have`, at, height);
      const foundNs = distrusted.get(at)?.get(peer);
      if (foundNs === undefined || about.now() - foundNs > DISTRUSTED_NS) continue;
      const seconds = Math.round((about.now() - foundNs) / 1e9);
      report(`${what}, ${seconds} s after it gave a wrong one`, at, height);
    }
  }

  return {
    name: 'blame',
    effects: ['score', 'send'],
    started(at) {
      asked.starts(at);
      distrusted.delete(at);
    },
    corrupted(payload) {
      changed.add(payload);
      isGarbling = true;
    },
    heard(at, from, payloads) {
      if (isGarbling && payloads.some((payload) => changed.has(payload))) garbled.of(at).add(from);
      asked.hears(at, from, payloads, about.now());
    },
    leaving(at, actor, effect) {
      if (effect.type === 'send' && actor === 'blocksync') asks(at, effect.to, effect.payloads);
      if (effect.type !== 'score' || !about.isHonest(at)) return;
      if (effect.because.startsWith(WRONG_BLOCK)) distrusted.of(at).set(effect.peer, about.now());
      const peer = byId.get(effect.peer);
      if (!peer || !about.isHonest(peer) || isGarbled(at, peer)) return;
      const isPatient = !isAllAnswered(at, effect.peer) && !hadNoTime(at, effect.peer);
      if (effect.because === QUIET_PEER && isPatient) return;
      report(`${at.name} cuts off ${peer.name}, which broke no rule: ${effect.because}`, at, at.height);
    },
  };
};
