// Who was told of a peer does not give it up: it dials, and dials again. After a connection that was good, soon; else it waits, twice as long after
// each failure: who dials a dead peer without a pause keeps it busy as it comes back, and where a hundred do so it cannot begin at all.

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
/** How long it waits after the first failure, and at most. */
const FIRST_WAIT_NS = SECOND / 2;
const LONGEST_WAIT_NS = 30 * SECOND;
/** A connection that lasted so long, by the node's own clock, may have been a good one, after which failures are counted anew. */
const PERHAPS_GOOD_NS = 9 * SECOND;

const TIMER = 'dial:';

interface Dialed {
  /** Null: it is not up. */
  upNs: number | null;
  /** When it was dialed or connected last, or went; the node's start, where nothing has happened since. */
  sinceNs: number;
  isSoon: boolean;
}

/** What a node's own timers say of its dials to one peer. */
interface Waits {
  /** Of a dial that is just leaving: its next timer says when it is lost. */
  isDialing: boolean;
  /** It was dialed, and has neither failed nor come up. */
  isTried: boolean;
  /** When its connection came up, by the node's own clock; null: it is not up. */
  upCount: number | null;
  /** In a row, as many as there were for certain. */
  failures: number;
}

class Dialing {
  readonly waitsByPeer = new Map<string, Waits>();
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

  waitsOf(peer: string): Waits {
    const known = this.waitsByPeer.get(peer) ?? {
      isDialing: false,
      isTried: false,
      upCount: null,
      failures: 0,
    };
    this.waitsByPeer.set(peer, known);
    return known;
  }

  dials(peer: PeerId): void {
    Object.assign(this.waitsOf(peer), { isDialing: true, isTried: true });
  }

  /** Nobody is to be dialed who is up. */
  comesUp(peer: string, count: number): void {
    Object.assign(this.waitsOf(peer), { isTried: false, upCount: count });
  }

  /** It sets the timer of its next dial. Gives the least that it may wait for that. */
  setsTimer(peer: string, count: number): number {
    const known = this.waitsOf(peer);
    const { isDialing, isTried, upCount } = known;
    if (isDialing) {
      known.isDialing = false;
      return 0;
    }
    if (upCount !== null && count - upCount >= PERHAPS_GOOD_NS) known.failures = 0;
    else if (upCount !== null || isTried) known.failures++;
    Object.assign(known, { isTried: false, upCount: null });
    return leastWaitNs(known.failures);
  }
}

/** Twice as long after each failure. */
const leastWaitNs = (failures: number): number => {
  let waitNs = FIRST_WAIT_NS;
  for (let failure = 1; failure < failures && waitNs < LONGEST_WAIT_NS; failure++) waitNs *= 2;
  return Math.min(waitNs, LONGEST_WAIT_NS);
};

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

  const judgeWait = (at: Machine, timer: string, afterNs: bigint): void => {
    const peer = timer.slice(TIMER.length);
    const node = nodes.of(at);
    const leastNs = node.setsTimer(peer, at.clock.count());
    if (afterNs >= leastNs) return;
    const name = nameOfPeer(about.machines, peer) ?? 'a peer';
    const failures = node.waitsOf(peer).failures;
    const what = `waits ${afterNs} ns to dial ${name} again; after ${failures} failures in a row it is ${leastNs} ns`;
    report(`${at.name} ${what}`, at, at.height + 1n);
  };

  return {
    name: 'dialing',
    effects: ['dial', 'send', 'schedule', 'cancel'],
    events: ['peer'],
    started: (at) => void nodes.delete(at),
    published(at, _actor, event) {
      if (event.type === 'peer') nodes.of(at).turns(event.peer, event.up, about.now());
    },
    leaving(at, actor, effect) {
      if (!about.isHonest(at)) return;
      if (effect.type === 'dial') {
        nodes.of(at).tries(effect.peer, about.now());
        nodes.of(at).dials(effect.peer);
      } else if (effect.type === 'schedule') {
        if (actor === 'dialer') judgeWait(at, effect.timer, effect.afterNs);
        looks(at);
      } else if (effect.type === 'cancel') {
        if (actor === 'dialer') nodes.of(at).comesUp(effect.timer.slice(TIMER.length), at.clock.count());
      } else if (effect.type === 'send' && isGreeting(effect.payloads))
        for (const peer of effect.to) nodes.of(at).tries(peer, about.now());
    },
  };
};
