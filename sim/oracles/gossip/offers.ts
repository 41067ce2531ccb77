// What a node has it offers (spec 5.11): to every peer that stands at its height and round and lacks it, again and again, for links lose
// things; what is of its own round to who is rounds behind, too; and who says that it is behind gets the votes and the block that ended its height.
// Where everybody knows everybody, others do it for a node that does not, and nothing else shows. Nobody gets back what he gave or says to have, nor
// the same too often (too-often.ts, from-behind.ts); and while a height is under way each peer hears again and again where the node stands.

import type { Payload, PeerId } from '../../../actors/turn.ts';
import type { ConsensusMessage } from '../../../protocol/messages.ts';
import type { Part, Proposal, Vote } from '../../../protocol/types.ts';
import { hexFor } from '../../addresses.ts';
import { type Machine, nameOfPeer } from '../../machine.ts';
import type { Oracle, OracleMaker, Report, WorldAbout } from '../../oracle.ts';
import { STEP } from '../../steps.ts';
import { PREVOTE } from '../canonical/numbers.ts';
import { isOwn } from '../ghost/about-votes.ts';
import { Authors } from '../ghost/authors.ts';
import { type GhostChain, isTrueProposal, isTrueVote } from '../ghost/ghost.ts';
import { GivenUp } from '../ghost/given-up.ts';
import { Greeted } from '../ghost/greeted.ts';
import {
  Holder,
  nameOf,
  type Peer,
  partOf,
  polkaOf,
  proposalOf,
  roundOf,
  type Thing,
  thingIn,
  thingOf,
  voteIn,
} from '../ghost/holdings.ts';
import { endsEnvelope, heightOf, messagesIn } from '../ghost/messages.ts';
import { saidLateNs } from '../ghost/pace.ts';
import { PerMachine } from '../ghost/per-machine.ts';
import { setOfPart } from '../ghost/seen.ts';
import { firstStored } from '../ghost/stored.ts';
import { Announced } from './announced.ts';
import { AtOnce } from './at-once.ts';
import { Decisions } from './decisions.ts';
import { FromBehind } from './from-behind.ts';
import { shows } from './showing.ts';
import { TooOften } from './too-often.ts';

/** Offers are repeated every `reofferNs`; with jitter and one that was skipped, it is never as long as so many of those, by the node's own clock. */
const OFFERS_MISSED = 4;
const OFFERED_WITHIN_LEAST_NS = 4_000_000_000;
const gossipNs = ({ config }: Machine): number => Number(config.consensus.gossipNs);
const offeredWithinNs = (at: Machine): number => {
  const everyNs = Math.max(gossipNs(at), Number(at.config.consensus.reofferNs));
  return Math.max(OFFERED_WITHIN_LEAST_NS, OFFERS_MISSED * everyNs) / at.clock.slowest;
};
/** A height that goes well is over by then, or nearly: what is sent before counts for nothing, and is not noted. */
const FIRST_NS = 1_000_000_000;
/** Who says again that it is behind means it: what it was said to have it gets as well. Sooner it may be the same word twice. */
const SAYS_AGAIN_NS = 500_000_000;
/** It is served by then. */
const SERVED_WITHIN_NS = 2_000_000_000;

export const offersOracle =
  (ghost: GhostChain): OracleMaker =>
  (report, about): Oracle => {
    const watch = new Watch(ghost, report, about);
    return {
      name: 'offers',
      effects: ['send', 'tell'],
      events: ['peer', 'mode', 'committed', 'step', 'valid'],
      started: (at) => watch.starts(at),
      published(at, _actor, event) {
        if (event.type === 'peer') watch.greets(at, event.peer, event.up);
        else if (event.type === 'committed') watch.isAt(at, event.height);
        else if (event.type === 'mode') watch.turnsTo(at, event.height);
        else if (event.type === 'valid') watch.sawPolka(at, event.height, event.round);
        else if (event.type === 'step') watch.steps(at, event.round, event.step);
      },
      heard(at, from, payloads) {
        if (about.isHonest(at)) watch.hears(at, from, payloads);
      },
      leaving(at, actor, effect) {
        if (effect.type === 'send') {
          if (actor === 'validator') watch.says(at, effect.to, effect.payloads);
        } else if (effect.type === 'tell' && actor === 'signer' && about.isHonest(at)) {
          const { message } = effect;
          if (message.type === 'signed-vote') watch.signs(at, message.vote);
          else if (message.type === 'signed-proposal') watch.signs(at, message.proposal);
        }
      },
    };
  };

/** A node says that it saw two thirds, of whatever: where liars are many it may have seen those of two values. */
function claimed(
  { height, peers }: Holder,
  to: readonly PeerId[],
  claim: Extract<ConsensusMessage, { type: 'vote-set-maj23' }>,
  now: number,
): void {
  if (claim.height !== height || claim.voteType !== PREVOTE) return;
  for (const each of to) peers.get(each)?.sentNs.set(polkaOf(claim.round), now);
}

class Watch {
  private readonly ghost: GhostChain;
  private readonly report: Report;
  private readonly about: WorldAbout;
  private readonly holders = new PerMachine(() => new Holder());
  private readonly greeted = new Greeted();
  private readonly givenUp: GivenUp;
  private readonly authors: Authors;
  private readonly atOnce: AtOnce;
  private readonly tooOften: TooOften;
  private readonly fromBehind: FromBehind;
  private readonly announced: Announced;
  private readonly decisions = new Decisions();

  constructor(ghost: GhostChain, report: Report, about: WorldAbout) {
    this.ghost = ghost;
    this.report = report;
    this.about = about;
    this.authors = new Authors(about);
    this.givenUp = new GivenUp(ghost, about);
    this.atOnce = new AtOnce(report, about);
    this.announced = new Announced(ghost, about, this.authors);
    this.tooOften = new TooOften(ghost, report, about, this.authors);
    this.fromBehind = new FromBehind(report, about);
  }

  starts(at: Machine): void {
    this.of(at).startsLife();
    this.greeted.starts(at);
    this.atOnce.starts(at);
    this.fromBehind.starts(at);
    this.announced.starts(at);
    this.decisions.starts(at);
  }

  /** A node may say so late, when it has heard a new connection already: what the peer has shown stays. */
  greets(at: Machine, peer: PeerId, isUp: boolean): void {
    this.greeted.greets(at, peer, isUp, this.about.now());
    this.fromBehind.greets(at, peer);
    const met = this.of(at).peerOf(peer);
    met.isLost();
    met.metNs = isUp ? this.about.now() : null;
    this.atOnce.forgives(at, peer);
    if (isUp && this.about.isHonest(at)) this.atOnce.meets(at, [peer]);
  }

  private of(at: Machine): Holder {
    return this.holders.of(at);
  }

  /** It goes on to the handshake, to block sync, or to consensus. */
  turnsTo(at: Machine, height: bigint): void {
    this.isAt(at, height);
    if (this.about.isHonest(at)) this.atOnce.meets(at, this.greeted.peersOf(at));
  }

  signs(at: Machine, said: Vote | Proposal): void {
    this.atOnce.signs(at, said, this.of(at).peers);
  }

  /** In this life: an old copy of a disk may take a node back. */
  isAt(at: Machine, height: bigint): void {
    this.of(at).moveTo(height + 1n);
    this.atOnce.movesOn(at);
  }

  /** What a node that was taken back was shown before, by whom, is not known. */
  private isAwake(at: Machine): boolean {
    if (at.mode !== 'consensus' || at.halted !== null || at.node?.isPaused !== false) return false;
    return this.of(at).height === at.height + 1n;
  }

  /** From its first proposal on a height is under way, and a node repeats its offers until that ends. */
  steps(at: Machine, round: number, step: number): void {
    this.atOnce.judge(at);
    const holder = this.of(at);
    holder.isIn(round, this.about.now());
    if (step >= STEP.propose) holder.tellsNs ??= this.about.now();
  }

  /** It has a value of this round for valid: its polka, too. */
  sawPolka(at: Machine, height: bigint, round: number): void {
    const holder = this.of(at);
    if (height === holder.height) holder.holds(polkaOf(round), this.about.now());
  }

  // --- what it has, and what its peers show ----------------------------------------------------------------

  hears(at: Machine, from: PeerId, payloads: readonly Payload[]): void {
    const now = this.about.now();
    const holder = this.of(at);
    const peer = holder.peerOf(from);
    // In a pause it waits, and so does what came just before it; who is not greeted yet is not heard, nor is a liar to the end.
    const isGreeted = this.isAwake(at) && this.greeted.hears(at, from, now);
    const isHeard = isGreeted && !this.givenUp.mayBe(from, payloads);
    if (!isHeard) this.loses(at, from, peer);
    const messages = messagesIn(payloads);
    for (let i = 0; i < messages.length; i++) {
      const message = messages[i];
      if (message) {
        this.announced.hears(at, from, message);
        shows(peer, holder.height, message);
        if (isHeard) this.takes(at, holder, from, message, now);
        // Of an envelope the node reads nothing behind what is no word.
      } else if (endsEnvelope(payloads[i]?.channel ?? 0)) return this.loses(at, from, peer);
    }
  }

  /** Where a peer stands is not known any more, to us: the node may know. */
  private loses(at: Machine, from: PeerId, peer: Peer): void {
    peer.isLost();
    this.atOnce.forgives(at, from);
  }

  private takes(at: Machine, holder: Holder, from: PeerId, message: ConsensusMessage, now: number): void {
    const peer = holder.peerOf(from);
    if (message.type === 'new-round-step') {
      if (message.height !== holder.height) this.atOnce.forgives(at, from);
      peer.stands(message.height, message.round, now);
      if (message.height < holder.height) this.looksBehind(at, peer, now);
      else if (message.height === holder.height) this.looksAt(at, holder, peer, now);
      return;
    }
    const height = heightOf(message);
    // Who speaks of another height may be there.
    if (height !== peer.height) this.loses(at, from, peer);
    const set = height === holder.height ? this.ghost.set(height) : undefined;
    if (!set) return;
    if (message.type === 'vote') {
      const { vote } = message;
      if (vote.round > at.round || !isTrueVote(this.about, set, vote)) return;
      const thing = thingOf(vote);
      holder.holds(thing, now);
      // Of who signs two the node may have the other one, and passes that on.
      const isOne = this.authors.isHonest(set.members[vote.validatorIndex]?.address);
      if (isOne) this.decisions.counts(at, set, vote, now);
      if (isOne && height === peer.height && this.authors.isHonestPeer(from)) peer.gaveNs.set(thing, now);
    } else if (message.type === 'proposal') {
      const { proposal } = message;
      // That of a liar it may refuse for what it promises.
      const isTaken = this.authors.isHonest(set.atRound(proposal.round)) && proposal.round <= at.round;
      if (!isTaken || !isTrueProposal(this.about, set, proposal)) return;
      holder.holdsProposal(proposal, now);
      if (height === peer.height && this.authors.isHonestPeer(from))
        peer.gaveNs.set(proposalOf(proposal.round), now);
    } else if (message.type === 'block-part') {
      const parts = setOfPart(message.part);
      if (parts === null) return;
      holder.holdsPart(parts, message.part.index, now);
      const thing = partOf(parts, message.part.index);
      const isKept = holder.things.has(thing) && height === peer.height;
      if (isKept && this.authors.isHonestPeer(from)) peer.gaveNs.set(thing, now);
    } else if (message.type === 'has-vote') this.hasVote(at, peer, from, message, now);
    else if (message.type === 'vote-set-bits' || message.type === 'new-valid-block') peer.asks(now);
  }

  /** It says that it has a vote: to the node that is as good as if it gave it. */
  private hasVote(
    at: Machine,
    peer: Peer,
    from: PeerId,
    { height, round, voteType, index }: Extract<ConsensusMessage, { type: 'has-vote' }>,
    now: number,
  ): void {
    if (height !== peer.height || round > at.round || !this.authors.isHonestPeer(from)) return;
    const voter = this.ghost.set(height)?.members[index]?.address;
    if (this.authors.isHonest(voter)) peer.gaveNs.set(voteIn(round, voteType, index), now);
  }

  private isOwnWord(at: Machine, message: ConsensusMessage): boolean {
    if (message.type === 'vote') return isOwn(at, message.vote);
    if (message.type === 'block-part') return this.isOfOwnBlock(at, message.height, message.part);
    return message.type === 'proposal' && this.hasTurn(at, message.proposal.height, message.proposal.round);
  }

  private hasTurn(at: Machine, height: bigint, round: number): boolean {
    return this.ghost.set(height)?.atRound(round) === hexFor(at);
  }

  /** A large block that it proposes fills several envelopes. */
  private isOfOwnBlock(at: Machine, height: bigint, part: Part): boolean {
    const { sets } = this.of(at);
    for (const [round, set] of sets)
      if (this.hasTurn(at, height, round) && set === setOfPart(part)) return true;
    return false;
  }

  says(at: Machine, to: readonly PeerId[], payloads: readonly Payload[]): void {
    const now = this.about.now();
    const holder = this.of(at);
    const { tellsNs } = holder;
    const isLate = tellsNs !== null && now - tellsNs > FIRST_NS;
    const messages = messagesIn(payloads);
    this.atOnce.tells(at, to, messages);
    // Who makes a block, or signs, tells everybody, whoever has it from a life before.
    const isRelay = messages.every((message) => !message || !this.isOwnWord(at, message));
    if (tellsNs !== null && now - tellsNs > OFFERED_WITHIN_LEAST_NS) this.saysWhereItStands(at, holder, now);
    for (const message of messages) {
      if (!message) continue;
      this.announced.tells(at, to, message);
      if (message.type === 'new-round-step') for (const each of to) holder.peerOf(each).toldNs = now;
      if (message.type === 'vote-set-maj23') claimed(holder, to, message, now);
      const thing = thingIn(message);
      if (thing === null) continue; // which may be 0
      const height = heightOf(message);
      const isHere = height === holder.height;
      for (const each of to) {
        const peer = holder.peers.get(each);
        if (!peer) continue;
        if (height === peer.height) peer.givenNs = now;
        if (height < holder.height) this.fromBehind.sends(at, each, message);
        if (isHere && isRelay) this.relays(at, peer, thing, now);
        if (isHere && message.type === 'vote') this.announces(at, each, peer, message.vote);
        if (!isHere || !isLate) continue;
        // Most things go once: only what goes again is looked at more closely.
        if (peer.sentNs.has(thing) && this.isAwake(at)) this.tooOften.sends(at, each, peer, message, thing);
        peer.sentNs.set(thing, now);
      }
      if (!isHere) continue;
      if (message.type === 'proposal') holder.holdsProposal(message.proposal, now);
      else if (message.type === 'block-part') holder.holds(thing, now);
      else if (message.type === 'vote' && isOwn(at, message.vote)) {
        holder.holds(thing, now);
        this.decisions.counts(at, this.ghost.set(height), message.vote, now);
      }
    }
  }

  /** What somebody gave it goes to others: nobody gets back what he sent. */
  private relays(at: Machine, peer: Peer, thing: Thing, now: number): void {
    const gaveNs = peer.gaveNs.get(thing);
    if (gaveNs === undefined || at.heldUntilNs >= gaveNs || now - gaveNs <= saidLateNs(at)) return;
    if (!this.isAwake(at) || !this.about.isHonest(at)) return;
    const whom = this.nameOf(at, peer);
    this.report(`${at.name} sends ${whom} ${nameOf(thing)} that it has from ${whom}`, at, peer.height);
  }

  private announces(at: Machine, id: PeerId, peer: Peer, vote: Vote): void {
    if (!this.isAwake(at) || !this.announced.isSilent(at, id, peer, this.of(at), vote)) return;
    const what = `sends ${this.nameOf(at, peer)} a vote of ${vote.height}/${vote.round} and has not said that it has it`;
    this.report(`${at.name} ${what}`, at, vote.height);
  }

  /** While a height is under way each peer hears again and again where the node stands. */
  private saysWhereItStands(at: Machine, holder: Holder, now: number): void {
    if (!this.isAwake(at) || !this.about.isHonest(at)) return;
    const lateNs = now - offeredWithinNs(at);
    if (Math.max(holder.tellsNs ?? now, at.heldUntilNs) >= lateNs) return;
    for (const peer of holder.peers.values()) {
      if (peer.metNs === null || Math.max(peer.metNs, peer.toldNs) >= lateNs) continue;
      const seconds = Math.round((now - peer.toldNs) / 1e9);
      this.report(
        `${at.name} has not told ${this.nameOf(at, peer)} where it stands for ${seconds} s`,
        at,
        at.height + 1n,
      );
      return;
    }
  }

  // --- what it owes ----------------------------------------------------------------------------------------

  /** A peer at its height. */
  private looksAt(at: Machine, holder: Holder, peer: Peer, now: number): void {
    const late = now - offeredWithinNs(at);
    const { tellsNs, things } = holder;
    if (tellsNs === null || Math.max(tellsNs + FIRST_NS, peer.sinceNs, at.heldUntilNs) > late) return;
    for (const [thing, sinceNs] of things) {
      const owedNs =
        holder.owedSince(peer.round, thing, sinceNs) ?? this.decisions.owedSince(at, holder, thing, sinceNs);
      if ((owedNs ?? now) > late) continue;
      if (peer.has(peer.height, thing) || (peer.sentNs.get(thing) ?? 0) > late) continue;
      const where = `${peer.height}/${roundOf(thing) ?? peer.round}`;
      const what = `does not offer ${this.nameOf(at, peer)} ${nameOf(thing)} of ${where} that it lacks`;
      this.report(`${at.name} ${what}`, at, peer.height);
      return;
    }
  }

  private looksBehind(at: Machine, peer: Peer, now: number): void {
    const { height, againNs, givenNs } = peer;
    // Within a beat of the last time it is not served again: what it was given then is for this word, too.
    const beatNs = (2 * gossipNs(at)) / at.clock.slowest;
    peer.saysItIsBehind(now, Math.max(SAYS_AGAIN_NS, beatNs));
    if (againNs === null || now - againNs < SERVED_WITHIN_NS / at.clock.slowest) return;
    if (givenNs >= againNs - beatNs || at.heldUntilNs >= againNs || height < firstStored(at)) return;
    const what = `says that it is at ${height}, and gets nothing of that from ${at.name}`;
    this.report(`${this.nameOf(at, peer)} ${what}`, at, height);
  }

  private nameOf(at: Machine, peer: Peer): string {
    for (const [id, each] of this.of(at).peers)
      if (each === peer) return nameOfPeer(this.about.machines, id) ?? 'a peer';
    return 'a peer';
  }
}
