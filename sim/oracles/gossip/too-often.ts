// What may have been lost is offered again, and not before the time for that (`reofferNs`): nobody is sent the same again and again.

import type { PeerId } from '../../../actors/turn.ts';
import { hexOf } from '../../../protocol/bytes.ts';
import type { ConsensusMessage } from '../../../protocol/messages.ts';
import { type Machine, nameOfPeer } from '../../machine.ts';
import type { Report, WorldAbout } from '../../oracle.ts';
import { STEP } from '../../steps.ts';
import type { Authors } from '../ghost/authors.ts';
import type { GhostChain } from '../ghost/ghost.ts';
import { nameOf, type Peer, type Thing } from '../ghost/holdings.ts';
import { saidLateNs } from '../ghost/pace.ts';

/** Of that time: ticks come a little earlier or later. */
const OFTEN = 0.8;
/** On a slow disk answers to several questions leave together. */
const PROMPT_NS = 20_000_000;

export class TooOften {
  private readonly ghost: GhostChain;
  private readonly report: Report;
  private readonly about: WorldAbout;
  private readonly authors: Authors;

  constructor(ghost: GhostChain, report: Report, about: WorldAbout, authors: Authors) {
    this.ghost = ghost;
    this.report = report;
    this.about = about;
    this.authors = authors;
  }

  /** It sends a peer something of its own height once more. Who waits for the block of a decision asks, and says, more often. */
  sends(at: Machine, id: PeerId, peer: Peer, message: ConsensusMessage, thing: Thing): void {
    const sent = peer.isSent(thing, at.clock.count());
    if (sent === null) return;
    const { times, sinceNs } = sent;
    if (!this.about.isHonest(at) || !this.authors.isHonestPeer(id) || !this.isOfOne(message)) return;
    const { gossipNs, reofferNs } = at.config.consensus;
    const everyNs = Number((reofferNs / gossipNs || 1n) * gossipNs);
    if (sinceNs >= everyNs * OFTEN || at.step === STEP.commit) return;
    if (this.about.now() - at.heldUntilNs < everyNs || saidLateNs(at) > PROMPT_NS) return;
    const whom = nameOfPeer(this.about.machines, id) ?? 'a peer';
    const often = `again ${times} times in ${sinceNs} ns; the time to offer again is ${everyNs} ns`;
    this.report(`${at.name} sends ${whom} ${nameOf(thing)} ${often}`, at, at.height + 1n);
  }

  /** There is but one such word. */
  private isOfOne(message: ConsensusMessage): boolean {
    if (message.type === 'vote') return this.authors.isHonest(hexOf(message.vote.validatorAddress));
    if (message.type !== 'proposal') return true;
    const { height, round } = message.proposal;
    return this.authors.isHonest(this.ghost.set(height)?.atRound(round));
  }
}
