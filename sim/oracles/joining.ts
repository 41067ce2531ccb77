// Who has caught up takes part: a node that asks for blocks, and has as many as the chain has, does not go on asking. While it has nobody to ask it
// cannot know, and does not take part: it would begin a height that others have decided long ago.

import type { PeerId } from '../../actors/turn.ts';
import type { Machine } from '../machine.ts';
import type { Oracle, OracleMaker } from '../oracle.ts';
import type { GhostChain } from './ghost.ts';
import { PerMachine } from './per-machine.ts';

/** Block sync looks every second, and asks again what was lost; who claims more than there is is believed for less than a minute. */
const LONG_NS = 45_000_000_000;
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
    const isAlone = (at: Machine): boolean => about.machines.length > 1 && peers.of(at).size === 0;
    const hasLiar = about.machines.some((machine) => !about.isHonest(machine));

    ghost.onBlock.push((_at, { header }) => {
      const now = about.now();
      for (const at of hasLiar ? [] : about.machines) {
        const isIdle =
          at.mode === 'sync' &&
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
    return {
      name: 'joining',
      effects: ['tell'],
      events: ['peer'],
      started(at) {
        peers.delete(at);
        hasMet.delete(at);
      },
      leaving(at, actor, effect) {
        if (effect.type !== 'tell' || actor !== 'blocksync' || effect.message.type !== 'caught-up') return;
        if (hasMet.has(at) || !about.isHonest(at)) return;
        report(`${at.name} takes part before it has met anybody`, at, at.height + 1n);
      },
      published(at, _actor, event) {
        if (event.type !== 'peer') return;
        if (event.up) {
          peers.of(at).add(event.peer);
          hasMet.add(at);
        } else peers.of(at).delete(event.peer);
        if (isAlone(at)) idle.delete(at);
      },
    };
  };
