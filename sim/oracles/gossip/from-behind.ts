// Who says that it is behind is given the block that it lacks, and again when it says so again, at a pace: some thirty bytes may not bring it mebibytes
// each time, whoever it is.

import type { PeerId } from '../../../actors/turn.ts';
import type { ConsensusMessage } from '../../../protocol/messages.ts';
import { type Machine, nameOfPeer } from '../../machine.ts';
import type { Report, WorldAbout } from '../../oracle.ts';
import { saidLateNs } from '../ghost/pace.ts';
import { PerMachine } from '../ghost/per-machine.ts';

/**
 * A block in one beat: once for what it says of where it stands, or twice, where it says that it is nearer then, and with the offer of that beat. It may
 * have questions beside, as often as it is answered, and a beat of those may end as ours begins.
 */
const TIMES_MAX = 24;
/** Of that time: ticks come a little earlier or later. */
const OFTEN = 0.8;
/** On a slow disk several answers leave together. */
const PROMPT_NS = 20_000_000;

interface Given {
  readonly height: bigint;
  /** By the giver's clock. */
  readonly sinceNs: number;
  times: number;
}

export class FromBehind {
  private readonly report: Report;
  private readonly about: WorldAbout;
  private readonly given = new PerMachine(() => new Map<PeerId, Given>());

  constructor(report: Report, about: WorldAbout) {
    this.report = report;
    this.about = about;
  }

  starts(at: Machine): void {
    this.given.delete(at);
  }

  /** Another connection: what went through the one before may be lost. */
  greets(at: Machine, peer: PeerId): void {
    this.given.get(at)?.delete(peer);
  }

  /** It sends a peer something of a height that is behind it. The first part stands for the block. */
  sends(at: Machine, peer: PeerId, message: ConsensusMessage): void {
    if (message.type !== 'block-part' || message.part.index > 0) return;
    const { height } = message;
    const now = at.clock.count();
    const beatNs = Number(at.config.consensus.gossipNs);
    const given = this.given.of(at);
    const last = given.get(peer);
    if (last?.height !== height || now - last.sinceNs >= beatNs * OFTEN)
      return void given.set(peer, { height, sinceNs: now, times: 1 });
    if (++last.times !== TIMES_MAX + 1 || !this.about.isHonest(at)) return;
    if (this.about.now() - at.heldUntilNs < beatNs || saidLateNs(at) > PROMPT_NS) return;
    const whom = nameOfPeer(this.about.machines, peer) ?? 'a peer';
    const what = `the block of ${height} ${last.times} times in ${now - last.sinceNs} ns`;
    this.report(`${at.name} sends ${whom} ${what}; the time to serve it again is ${beatNs} ns`, at, height);
  }
}
