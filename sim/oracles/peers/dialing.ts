// Who was told of a peer does not give it up: it dials, and dials again. After a connection that was good, soon.

import type { Payload, PeerId } from '../../../actors/turn.ts';
import { CHANNEL_GREETING } from '../../../machines/peers/node-info.ts';
import { type Machine, nameOfPeer } from '../../machine.ts';
import type { Oracle, OracleMaker } from '../../oracle.ts';
import { PerMachine } from '../ghost/per-machine.ts';

const SECOND = 1_000_000_000;
/** The longest wait between two dials, and the time after which one that nobody answers is lost; with half of it for jitter. */
const PATIENCE_NS = 65 * SECOND;
/** A connection that lasted so long was good: the next dial follows as after a first failure, or, where that is the other one's turn, a little later. */
const GOOD_NS = 11 * SECOND;
const SOON_NS = 7 * SECOND;
const LOOK_EVERY_NS = SECOND;

interface Dialed {
  /** Null: it is not up. */
  upNs: number | null;
  /** When it was dialed or connected last, or went; the node's start, where nothing has happened since. */
  sinceNs: number;
  isSoon: boolean;
}

class Dialing {
  readonly peers: ReadonlyMap<PeerId, Dialed>;
  lookNs = 0;

  constructor(at: Machine, nowNs: number) {
    const others = at.config.peers.filter(({ peer }) => peer !== at.member.id);
    this.peers = new Map(
      others.map(({ peer }) => [peer, { upNs: null, sinceNs: nowNs, isSoon: false } satisfies Dialed]),
    );
  }

  tries(peer: PeerId, nowNs: number): void {
    const dialed = this.peers.get(peer);
    if (dialed) Object.assign(dialed, { sinceNs: nowNs, isSoon: false });
  }

  turns(peer: PeerId, isUp: boolean, nowNs: number): void {
    const dialed = this.peers.get(peer);
    if (!dialed) return;
    const { upNs } = dialed;
    const wasGood = upNs !== null && nowNs - upNs >= GOOD_NS;
    Object.assign(dialed, { upNs: isUp ? nowNs : null, sinceNs: nowNs, isSoon: !isUp && wasGood });
  }
}

const isGreeting = (payloads: readonly Payload[]): boolean => payloads[0]?.channel === CHANNEL_GREETING;

export const dialingOracle: OracleMaker = (report, about): Oracle => {
  const nodes = new PerMachine((at) => new Dialing(at, about.now()));

  const looks = (at: Machine): void => {
    const node = nodes.of(at);
    const now = about.now();
    if (now < node.lookNs || at.node?.isPaused !== false || at.halted !== null) return;
    node.lookNs = now + LOOK_EVERY_NS;
    for (const [peer, { upNs, sinceNs, isSoon }] of node.peers) {
      const waitedNs = now - Math.max(sinceNs, at.heldUntilNs);
      const patienceNs = (isSoon ? SOON_NS : PATIENCE_NS) / at.clock.slowest;
      if (upNs !== null || waitedNs <= patienceNs) continue;
      const name = nameOfPeer(about.machines, peer) ?? 'a peer';
      report(`${at.name} has not dialed ${name} for ${Math.round(waitedNs / SECOND)} s`, at, at.height + 1n);
    }
  };

  return {
    name: 'dialing',
    effects: ['dial', 'send', 'schedule'],
    events: ['peer'],
    started: (at) => void nodes.delete(at),
    published(at, _actor, event) {
      if (event.type === 'peer') nodes.of(at).turns(event.peer, event.up, about.now());
    },
    leaving(at, _actor, effect) {
      if (!about.isHonest(at)) return;
      if (effect.type === 'dial') nodes.of(at).tries(effect.peer, about.now());
      else if (effect.type === 'schedule') looks(at);
      else if (effect.type === 'send' && isGreeting(effect.payloads))
        for (const peer of effect.to) nodes.of(at).tries(peer, about.now());
    },
  };
};
