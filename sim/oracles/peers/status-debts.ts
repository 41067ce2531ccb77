// Who gets to know what it has, when its handshake is over, tells every peer that it has met before: those have asked, and were not answered. They
// would ask again some seconds later.

import type { PeerId } from '../../../actors/turn.ts';
import { type Machine, nameOfPeer } from '../../machine.ts';
import type { Report, WorldAbout } from '../../oracle.ts';
import type { Greeted } from '../ghost/greeted.ts';
import { saidLateNs } from '../ghost/pace.ts';
import { PerMachine } from '../ghost/per-machine.ts';

/** A letter from its validator, and a turn; beside what a disk takes. */
const AT_ONCE_NS = 20_000_000;

interface Debt {
  readonly sinceNs: number;
  readonly peers: Set<PeerId>;
}

export class StatusDebts {
  private readonly report: Report;
  private readonly about: WorldAbout;
  private readonly greeted: Greeted;
  private readonly open = new PerMachine<Debt | null>(() => null);

  constructor(report: Report, about: WorldAbout, greeted: Greeted) {
    this.report = report;
    this.about = about;
    this.greeted = greeted;
  }

  starts(at: Machine): void {
    this.open.delete(at);
  }

  /** Its handshake is over. */
  opens(at: Machine): void {
    const now = this.about.now();
    const peers = new Set<PeerId>();
    for (const peer of this.greeted.peersOf(at)) if (this.greeted.hears(at, peer, now)) peers.add(peer);
    if (peers.size > 0) this.open.set(at, { sinceNs: now, peers });
  }

  /** It is told, or gone. */
  settles(at: Machine, peers: readonly PeerId[]): void {
    const debt = this.open.get(at);
    if (debt) for (const peer of peers) debt.peers.delete(peer);
  }

  /** What is due by now is asked for once. */
  judge(at: Machine): void {
    const debt = this.open.get(at);
    if (!debt || this.about.now() - debt.sinceNs <= AT_ONCE_NS + saidLateNs(at)) return;
    this.open.delete(at);
    const [peer] = debt.peers;
    if (peer === undefined || at.heldUntilNs >= debt.sinceNs || at.halted !== null) return;
    if (at.node?.isPaused !== false) return;
    const whom = nameOfPeer(this.about.machines, peer) ?? 'a peer';
    this.report(`${at.name} does not tell ${whom} what it has when it knows that`, at, at.height + 1n);
  }
}
