// Who has caught up takes part: a node that asks for blocks, and has as many as the chain has, does not go on asking. While it has nobody to ask it
// cannot know, and does not take part: it would begin a height that others have decided long ago. Nor does it before somebody has said how many
// there are, or while somebody has more than it has, however long it was alone before.

import type { Payload, PeerId } from '../../../actors/turn.ts';
import { honestPeers } from '../../addresses.ts';
import type { Machine } from '../../machine.ts';
import type { Oracle, OracleMaker } from '../../oracle.ts';
import type { GhostChain } from '../ghost/ghost.ts';
import { Greeted } from '../ghost/greeted.ts';
import { PerMachine } from '../ghost/per-machine.ts';
import { TipClaims } from './tip-claims.ts';

/** Block sync looks every second, and asks again what was lost; who claims more than there is is believed for less than a minute. */
const LONG_NS = 45_000_000_000;
/** Block sync ends within a block of what is claimed: that block needs the commit of the next. It ends while the validator applies one. */
const LEFT_TO_CONSENSUS = 2n;
/** It asks how many there are every few seconds. */
const BEHIND_MAX = 12n;

export const joiningOracle =
  (ghost: GhostChain): OracleMaker =>
  (report, about): Oracle => {
    /** Since when it asks for what there is not. */
    const idle = new Map<Machine, { readonly life: number; readonly sinceNs: number }>();
    /** Whom each is connected to. */
    const peers = new PerMachine(() => new Set<PeerId>());
    /** Who was connected to somebody, in this life. */
    const hasMet = new Set<Machine>();
    const claims = new TipClaims();
    const greeted = new Greeted();
    const honest = honestPeers(about);
    /** What a link has changed is no word of who sent it. */
    const changed = new WeakSet<Payload>();
    const isAlone = (at: Machine): boolean => about.machines.length > 1 && peers.of(at).size === 0;
    const hasLiar = about.machines.some((machine) => !about.isHonest(machine));

    ghost.onBlock.push((_at, { header }) => {
      const now = about.now();
      for (const at of hasLiar ? [] : about.machines) {
        const isIdle =
          at.mode === 'sync' &&
          at.answering.blocksNs === 0 && // a slow one need not gain on the chain
          at.node?.isPaused === false &&
          at.height + BEHIND_MAX >= header.height &&
          !isAlone(at);
        const known = idle.get(at);
        if (!isIdle) idle.delete(at);
        else if (known?.life !== at.lives || at.heldUntilNs > known.sinceNs)
          idle.set(at, { life: at.lives, sinceNs: now });
        else if (now - known.sinceNs > LONG_NS) {
          const seconds = Math.round((now - known.sinceNs) / 1e9);
          report(`${at.name} has caught up for ${seconds} s and does not take part`, at, header.height);
        }
      }
    });
    const takesPart = (at: Machine): void => {
      if (!hasMet.has(at)) report(`${at.name} takes part before it has met anybody`, at, at.height + 1n);
      else if (claims.isUntold(at, about.now()))
        report(`${at.name} takes part, and nobody has said how many blocks there are`, at, at.height + 1n);
      const few = claims.heardTooFew(at);
      if (few) {
        const what = `takes part before its first look, and ${few.heard} of its ${few.of} peers have said how far they are`;
        report(`${at.name} ${what}`, at, at.height + 1n);
      }
      const highest = claims.highest(at, about.now());
      if (highest === null || highest <= at.height + LEFT_TO_CONSENSUS) return;
      const what = `ends block sync at ${at.height}, and a peer says that it has ${highest}`;
      report(`${at.name} ${what}`, at, at.height + 1n);
    };

    return {
      name: 'joining',
      effects: ['tell', 'score'],
      events: ['peer', 'mode'],
      started(at) {
        peers.delete(at);
        hasMet.delete(at);
        claims.starts(at);
        greeted.starts(at);
      },
      corrupted(payload) {
        changed.add(payload);
      },
      heard(at, from, payloads) {
        if (at.mode !== 'consensus') claims.mayBeTold(at, from, payloads, about.now());
        if (at.mode !== 'sync') return;
        if (!honest.has(from) || payloads.some((payload) => changed.has(payload))) claims.distrusts(at, from);
        else if (greeted.hears(at, from, about.now())) claims.hears(at, from, payloads, about.now());
      },
      leaving(at, actor, effect) {
        if (effect.type === 'score') claims.distrusts(at, effect.peer);
        if (effect.type !== 'tell' || actor !== 'blocksync' || effect.message.type !== 'caught-up') return;
        if (about.isHonest(at)) takesPart(at);
      },
      published(at, _actor, event) {
        if (event.type === 'mode' && event.mode === 'sync') claims.begins(at, about.now());
        if (event.type !== 'peer') return;
        greeted.greets(at, event.peer, event.up, about.now());
        if (event.up) {
          if (!hasMet.has(at)) claims.meets(at, about.now());
          peers.of(at).add(event.peer);
          hasMet.add(at);
        } else {
          peers.of(at).delete(event.peer);
          claims.goes(at, event.peer);
        }
        if (isAlone(at)) idle.delete(at);
      },
    };
  };
