// What a node tells its peers without waiting for a beat: what it has signed, to who stands at its height or one behind, and where it stands, to
// whom it meets and when it begins to take part (CometBFT AddPeer). Offers would bring all of it a little later, at every height.

import type { PeerId } from '../../../actors/turn.ts';
import type { ConsensusMessage } from '../../../protocol/messages.ts';
import type { Proposal, Vote } from '../../../protocol/types.ts';
import { type Machine, nameOfPeer } from '../../machine.ts';
import type { Report, WorldAbout } from '../../oracle.ts';
import { PREVOTE } from '../canonical/numbers.ts';
import type { Peer } from '../ghost/holdings.ts';
import { saidLateNs } from '../ghost/pace.ts';
import { Debts } from './debts.ts';

/** A turn, and those of the actors on its way. The first offers come a tenth of a second after the beginning of a height at the earliest. */
const AT_ONCE_NS = 20_000_000;

const STANDING = 'where it stands';
const nameOfOwn = (kind: string, { height, round }: Vote | Proposal): string =>
  `its ${kind} of ${height}/${round}`;
const ofVote = (vote: Vote): string => nameOfOwn(vote.type === PREVOTE ? 'prevote' : 'precommit', vote);
const ofProposal = (proposal: Proposal): string => nameOfOwn('proposal', proposal);
const PROPOSAL = 'its proposal ';
const BEHIND = ' (to who is one height behind)';

export class AtOnce {
  private readonly report: Report;
  private readonly about: WorldAbout;
  private readonly debts = new Debts(AT_ONCE_NS);
  /** The height that each life was at when it began. */
  private readonly begun = new Map<Machine, bigint>();

  constructor(report: Report, about: WorldAbout) {
    this.report = report;
    this.about = about;
  }

  starts(at: Machine): void {
    this.debts.starts(at);
    this.begun.set(at, at.height);
  }

  /** Its signer gives it this, of the height that it is at. */
  signs(at: Machine, said: Vote | Proposal, peers: ReadonlyMap<PeerId, Peer>): void {
    if (at.mode !== 'consensus' || said.height !== at.height + 1n) return;
    // It may be what a life before has signed, of a block that is gone.
    if (!('validatorIndex' in said) && this.begun.get(at) === at.height) return;
    const now = this.about.now();
    const knownNs = now - saidLateNs(at);
    const near = new Set<PeerId>();
    const behind = new Set<PeerId>();
    for (const [id, { height, sinceNs }] of peers) {
      if (sinceNs >= knownNs) continue;
      if (height === said.height) near.add(id);
      else if (height > 0n && height === said.height - 1n) behind.add(id);
    }
    const what = 'validatorIndex' in said ? ofVote(said) : ofProposal(said);
    this.debts.owes(at, what, near, now);
    this.debts.owes(at, `${what}${BEHIND}`, behind, now);
  }

  /** It meets somebody, or begins to take part with those about it. */
  meets(at: Machine, peers: Iterable<PeerId>): void {
    if (at.mode === 'consensus') this.debts.owes(at, STANDING, new Set(peers), this.about.now());
  }

  /** A height is over: what it would have proposed there nobody hears any more, nor who was behind then and is two behind now. */
  movesOn(at: Machine): void {
    this.debts.forgets(at, (what) => what.startsWith(PROPOSAL) || what.endsWith(BEHIND));
  }

  /** A peer is gone, or stands elsewhere. */
  forgives(at: Machine, peer: PeerId): void {
    this.debts.forgives(at, peer);
  }

  tells(at: Machine, to: readonly PeerId[], messages: readonly (ConsensusMessage | null)[]): void {
    if (!this.debts.areOpen(at)) return;
    for (const message of messages) {
      if (message?.type === 'vote') this.tellsOwn(at, to, ofVote(message.vote));
      else if (message?.type === 'proposal') this.tellsOwn(at, to, ofProposal(message.proposal));
      else if (message?.type === 'new-round-step') this.debts.tells(at, to, STANDING);
    }
  }

  private tellsOwn(at: Machine, to: readonly PeerId[], what: string): void {
    this.debts.tells(at, to, what);
    this.debts.tells(at, to, `${what}${BEHIND}`);
  }

  judge(at: Machine): void {
    const missed = this.debts.missed(at, this.about.now());
    if (!missed) return;
    const whom = nameOfPeer(this.about.machines, missed.peer) ?? 'a peer';
    this.report(`${at.name} does not tell ${whom} ${missed.what} at once`, at, at.height + 1n);
  }
}
