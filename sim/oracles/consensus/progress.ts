// What an honest node must do once it can: a rule of the paper whose guard is met by what reached the node is carried out at once, and not
// when a timeout does its work for it.

import type { AppMail } from '../../../actors/mail.ts';
import type { NodeEvent, Payload, PeerId } from '../../../actors/turn.ts';
import { equalBytes } from '../../../protocol/bytes.ts';
import type { ConsensusMessage } from '../../../protocol/messages.ts';
import type { Proposal, Vote } from '../../../protocol/types.ts';
import { hexFor } from '../../addresses.ts';
import type { Machine } from '../../machine.ts';
import type { Oracle, OracleMaker, Report, WorldAbout } from '../../oracle.ts';
import { STEP } from '../../steps.ts';
import { BLOCK_PART_BYTES, PRECOMMIT, PREVOTE } from '../canonical/numbers.ts';
import { blockBytesMax } from '../chain/room.ts';
import { isOwn, nameOf } from '../ghost/about-votes.ts';
import { Authors } from '../ghost/authors.ts';
import { EarlyWords, isKept } from '../ghost/early-words.ts';
import { areFewLiars } from '../ghost/few-liars.ts';
import { FirstWords } from '../ghost/first-words.ts';
import { type GhostChain, isTrueProposal, isTrueVote } from '../ghost/ghost.ts';
import { GivenUp } from '../ghost/given-up.ts';
import { Greeted } from '../ghost/greeted.ts';
import { endsEnvelope, heightOf, messagesIn } from '../ghost/messages.ts';
import { Seen } from '../ghost/seen.ts';
import { type NamedTimer, timerOf } from '../ghost/timers.ts';

const MS = 1_000_000;
/** A turn, a look, the application's word on a block: long over by then. */
const TIME_ENOUGH_NS = 2_000 * MS;
/**
 * On a good disk, and from a good signer, a vote is out within a few flushes of 0.3 ms and hops of 0.02 ms. The shortest timeout that anybody is
 * given is 200 ms, so who needed one instead of the rule is told from who was prompt.
 */
const PROMPT_NS = 60 * MS;
const GOOD_FLUSH_NS = MS;

const isGood = ({ disk, signing }: Machine): boolean =>
  disk.settings.flush.maxNs <= GOOD_FLUSH_NS && signing.maxNs <= GOOD_FLUSH_NS;

/** A slow application may be busy with other blocks before it judges this one: two, and those that earlier rounds left. */
const judgedWithinNs = ({ answering }: Machine, round: number): number => (3 + round) * answering.blocksNs;

export const progressRules =
  (ghost: GhostChain): OracleMaker =>
  (report, about): Oracle => {
    const watch = new Watch(ghost, report, about);
    return {
      name: 'progress',
      effects: ['send', 'schedule', 'tell'],
      events: ['peer', 'step', 'locked'],
      started: (at) => watch.starts(at),
      heard(at, from, payloads) {
        if (watch.isAwake(at)) return watch.hears(at, from, payloads);
        // What comes in a pause waits, and so does what came just before it.
        watch.forget(at);
        watch.overhears(at, from, payloads);
      },
      published(at, _actor, event) {
        if (event.type === 'peer') watch.greeted.greets(at, event.peer, event.up, about.now());
        else if (event.type === 'step' && event.height === at.height + 1n)
          watch.steps(at, event.round, event.step);
        else if (event.type === 'locked') watch.locks(at, event);
      },
      leaving(at, actor, effect) {
        if (actor !== 'validator' || !watch.isAwake(at)) return;
        if (effect.type === 'schedule') return watch.waits(at, timerOf(effect.timer));
        if (effect.type === 'tell') return watch.asks(at, effect.message as AppMail);
        if (effect.type !== 'send') return;
        for (const message of messagesIn(effect.payloads))
          if (message?.type === 'proposal') watch.proposes(at, message.proposal);
          else if (message?.type === 'vote' && isOwn(at, message.vote)) watch.votes(at, message.vote);
      },
    };
  };

type Locked = Extract<NodeEvent, { type: 'locked' }>;

class Watch {
  private readonly ghost: GhostChain;
  private readonly report: Report;
  private readonly about: WorldAbout;
  private readonly nodes = new Map<Machine, Seen>();
  /** Of the height that each node is at, and of the next one. */
  private readonly words = new Map<Machine, FirstWords[]>();
  /** The last lock that each node spoke of, in any life. */
  private readonly lastLocks = new Map<Machine, Locked>();
  /** What came to each node for the height that it is not at yet. */
  private readonly early = new Map<Machine, EarlyWords>();
  private readonly authors: Authors;
  private readonly givenUp: GivenUp;
  readonly greeted = new Greeted();

  constructor(ghost: GhostChain, report: Report, about: WorldAbout) {
    this.ghost = ghost;
    this.report = report;
    this.about = about;
    this.authors = new Authors(about);
    this.givenUp = new GivenUp(ghost, about);
  }

  isAwake(at: Machine): boolean {
    return at.mode === 'consensus' && at.node !== null && !at.node.isPaused && this.about.isHonest(at);
  }

  forget(at: Machine): void {
    this.nodes.delete(at);
    this.early.delete(at);
  }

  starts(at: Machine): void {
    this.forget(at);
    this.greeted.starts(at);
  }

  /** Null: who votes at its height is not known. */
  private of(at: Machine): Seen | null {
    const height = at.height + 1n;
    const known = this.nodes.get(at);
    if (known?.height === height) return known;
    const set = this.ghost.set(height);
    if (!set) return null;
    const seen = new Seen(this.wordsTo(at, height), set);
    this.nodes.set(at, seen);
    this.hearsWhatWasEarly(at, seen);
    return seen;
  }

  /** As the height begins, what was kept for it is heard. Who went away meanwhile took it along. */
  private hearsWhatWasEarly(at: Machine, seen: Seen): void {
    const early = this.early.get(at);
    if (!early) return;
    this.early.delete(at);
    if (early.height !== seen.height) return;
    for (const { from, message, atNs } of early.words)
      if (this.greeted.hears(at, from, atNs)) this.takes(at, seen, from, message);
  }

  private earlyTo(at: Machine, height: bigint): EarlyWords {
    let early = this.early.get(at);
    if (early?.height !== height) {
      early = new EarlyWords(height);
      this.early.set(at, early);
    }
    return early;
  }

  private wordsTo(at: Machine, height: bigint): FirstWords {
    const known = this.words.get(at)?.filter((each) => each.height > at.height) ?? [];
    let words = known.find((each) => each.height === height);
    if (!words) {
      words = new FirstWords(height);
      this.words.set(at, [...known, words]);
    }
    return words;
  }

  // --- what it hears ---------------------------------------------------------------------------------------

  hears(at: Machine, from: PeerId, payloads: readonly Payload[]): void {
    const seen = this.of(at);
    const isHeard = this.greeted.hears(at, from, this.about.now()) && !this.givenUp.mayBe(from, payloads);
    if (!seen || !isHeard) return this.overhears(at, from, payloads);
    const messages = messagesIn(payloads);
    for (let i = 0; i < messages.length; i++) {
      const message = messages[i];
      if (message) {
        this.takes(at, seen, from, message);
        this.keeps(at, seen, from, message, payloads[i] as Payload);
      }
      // Of an envelope the node reads nothing behind what is no word.
      else if (endsEnvelope(payloads[i]?.channel ?? 0)) return;
    }
  }

  /** It may take this up: as soon as it is greeted, when its pause ends; as much of it as it reads. */
  overhears(at: Machine, from: PeerId, payloads: readonly Payload[]): void {
    for (const message of messagesIn(payloads)) {
      if (!message) continue;
      this.mayTake(at, from, message);
      if (isKept(message) && heightOf(message) === at.height + 2n)
        this.earlyTo(at, at.height + 2n).isUnsureOf(from);
    }
  }

  /** A word for the next height. An honest sender says nothing false that would spoil the rest. */
  private keeps(at: Machine, seen: Seen, from: PeerId, message: ConsensusMessage, { bytes }: Payload): void {
    const next = seen.height + 1n;
    if (!isKept(message) || heightOf(message) !== next || !this.authors.isHonestPeer(from)) return;
    this.earlyTo(at, next).comes({ from, message, atNs: this.about.now() }, bytes.length);
  }

  /** What is of the next height it keeps for then. */
  private mayTake(at: Machine, from: PeerId, message: ConsensusMessage): void {
    const said =
      message.type === 'proposal' ? message.proposal : message.type === 'vote' ? message.vote : null;
    if (!said || said.height <= at.height || said.height > at.height + 2n) return;
    const set = this.ghost.set(said.height);
    if (!set) return;
    if (message.type === 'proposal') {
      if (isTrueProposal(this.about, set, message.proposal))
        this.wordsTo(at, said.height).proposed(message.proposal);
    } else if (message.type === 'vote' && isTrueVote(this.about, set, message.vote)) {
      const words = this.wordsTo(at, said.height);
      words.voted(message.vote);
      const round = said.height === at.height + 1n ? at.round : 0;
      if (said.round > round + 1) words.opens(from);
    }
  }

  private takes(at: Machine, seen: Seen, from: PeerId, message: ConsensusMessage): void {
    const now = this.about.now();
    if (message.type === 'vote') {
      const { vote } = message;
      if (vote.height !== seen.height) return this.mayTake(at, from, message);
      const isAhead = vote.round > seen.round && seen.isNewAhead(vote);
      const isNew = seen.isNewVote(vote);
      if (!(isAhead || isNew) || !isTrueVote(this.about, seen.set, vote)) return;
      if (isAhead || vote.round > seen.round + 1) seen.speaksAhead(vote, from, now);
      if (isNew) seen.voted(vote, now);
    } else if (message.type === 'proposal') {
      const { proposal } = message;
      if (proposal.height !== seen.height) return this.mayTake(at, from, message);
      if (proposal.round < seen.round || !isTrueProposal(this.about, seen.set, proposal)) return;
      if (this.isFitting(proposal)) seen.proposed(proposal, now);
      else this.wordsTo(at, proposal.height).proposed(proposal);
    } else if (message.type === 'block-part') {
      if (message.height === seen.height && message.round >= seen.round)
        seen.part(message.part, message.round, now);
    }
  }

  /** Another one the node refuses, whoever signed it: it names a polka that is not before it, or more parts than a block may have. */
  private isFitting({ height, round, polRound, blockId }: Proposal): boolean {
    const most = blockBytesMax(this.ghost.params(height)?.block.maxBytes ?? -1n);
    return polRound < round && BigInt(blockId.parts.total - 1) * BigInt(BLOCK_PART_BYTES) < most;
  }

  // --- what it does ----------------------------------------------------------------------------------------

  private isLongSince(sinceNs: number, nowNs = this.about.now()): boolean {
    return nowNs - sinceNs > TIME_ENOUGH_NS;
  }

  /** How late it is in ms, when it could have acted at the last of these; null: it is not, or it was held back. */
  private lateMs(at: Machine, ...since: readonly (number | null)[]): number | null {
    if (!isGood(at)) return null;
    let last = at.heldUntilNs;
    for (const each of since) {
      if (each === null) return null;
      last = Math.max(last, each);
    }
    const late = this.about.now() - last;
    return late > PROMPT_NS ? Math.round(late / MS) : null;
  }

  steps(at: Machine, round: number, step: number): void {
    const seen = this.of(at);
    if (!seen) return;
    if (this.isAwake(at)) this.judgeStep(at, seen, round, step);
    const now = this.about.now();
    seen.enters(round, now - (isGood(at) ? PROMPT_NS : TIME_ENOUGH_NS), now);
    if (step >= STEP.newRound) {
      seen.begunNs ??= now;
      seen.roundNs ??= now;
    }
    if (step === STEP.propose) seen.proposeNs ??= now;
    if (step === STEP.prevote) seen.comesToPrevote(now);
  }

  private judge(at: Machine, what: string, ...since: readonly (number | null)[]): void {
    const late = this.lateMs(at, ...since);
    if (late !== null) this.report(`${at.name} at ${what} since ${late} ms`, at, at.height + 1n);
  }

  /** A timer of votes is set as soon as two thirds have cast them (L34, L47). */
  waits(at: Machine, timer: NamedTimer): void {
    const type = timer.step === 'prevote' ? PREVOTE : timer.step === 'precommit' ? PRECOMMIT : null;
    if (type === null || timer.height !== at.height + 1n) return;
    const seen = this.of(at);
    if (!seen || timer.round !== seen.round) return;
    const place = `${timer.height}/${timer.round}`;
    const most = seen.mostNs(type);
    if (type === PRECOMMIT)
      this.judge(at, `${place} could have waited for precommits (L47)`, most, seen.roundNs);
    else this.judge(at, `${place} could have waited for prevotes (L34)`, most, seen.roundNs, seen.prevoteNs);
  }

  /** Nobody needs to judge what comes to a height that is decided. */
  asks(at: Machine, mail: AppMail): void {
    if (mail.type !== 'request' || mail.request.type !== 'process-proposal') return;
    const { height } = mail.request.value;
    const seen = this.of(at);
    if (seen?.height === height && seen.decidedNs !== null)
      this.judge(
        at,
        `${height} asks about a proposal, and could have taken the decision (L49)`,
        seen.decidedNs,
      );
  }

  private judgeStep(at: Machine, seen: Seen, round: number, step: number): void {
    const { skip, skipBefore, height } = seen;
    const judge = (what: string, ...since: readonly (number | null)[]): void =>
      this.judge(at, `${height}/${round} ${what}`, ...since);
    if (step === STEP.commit) return judge('could have taken the decision (L49)', seen.decidedNs);
    if (round > seen.round) {
      if (skip && round <= skip.round)
        judge(`could have begun round ${skip.round} (L55)`, skip.sinceNs, seen.begunNs);
      if (skipBefore)
        judge(`could have begun round ${skipBefore.round} (L55)`, skipBefore.sinceNs, seen.begunNs);
      return;
    }
    // Votes are cast at these steps, and may leave much later, when there is somebody to hear them.
    if (step !== STEP.prevote && step !== STEP.precommit) return;
    if (skip && this.isLongSince(skip.sinceNs))
      this.report(
        `${at.name} votes at ${height}/${round}, though a third has spoken in round ${skip.round}`,
        at,
        height,
      );
    if (step === STEP.prevote) {
      if (at.answering.blocksNs === 0)
        judge('could have judged the proposal (L22, L28)', seen.wholeNs, seen.proposeNs);
      seen.isOwed = this.isOwed(at, seen);
    } else judge('could have precommitted nil, as two thirds prevoted (L44)', seen.nilNs, seen.prevoteNs);
  }

  /**
   * L28: the proposal stands there whole, with a polka that is as late as any lock, and its time is not over. Two thirds found the block right,
   * and among them somebody honest.
   */
  private isOwed(at: Machine, { proposal, wholeNs, proposeNs, set, height }: Seen): boolean {
    if (!proposal || wholeNs === null || proposal.polRound < 0) return false;
    if (proposeNs === null || at.heldUntilNs >= proposeNs) return false;
    if (this.about.now() - proposeNs > Number(at.config.consensus.timeoutProposeNs) / 2) return false;
    const lock = this.lastLocks.get(at);
    const isFree = lock?.height !== height || lock.round <= proposal.polRound;
    return (isFree || equalBytes(lock.hash, proposal.blockId.hash)) && areFewLiars(set, this.about);
  }

  locks(at: Machine, event: Locked): void {
    this.lastLocks.set(at, event);
  }

  votes(at: Machine, vote: Vote): void {
    const seen = this.of(at);
    if (seen?.height !== vote.height || vote.round !== seen.round) return;
    seen.voted(vote, this.about.now());
    if (vote.type !== PREVOTE || !seen.isOwed || vote.blockId.hash.length > 0) return;
    const { height, round } = vote;
    const what = `prevotes ${nameOf(vote)} at ${height}/${round}, though the proposal comes with its polka and no later lock is in the way`;
    this.report(`${at.name} ${what} (L28)`, at, height);
  }

  proposes(at: Machine, { height, round, polRound }: Proposal): void {
    const seen = this.of(at);
    const valid = seen?.valid;
    if (height !== seen?.height || !valid || polRound >= valid.round || valid.round >= round) return;
    // What it proposes it chose as the round began; that is long ago only where an application is slow to make a block.
    const chosenNs = (at.answering.blocksNs > 0 ? seen.proposeNs : null) ?? this.about.now();
    const validNs = valid.sinceNs + judgedWithinNs(at, round);
    if (!this.isLongSince(validNs, chosenNs) || seen.set.atRound(round) !== hexFor(at)) return;
    const what = polRound < 0 ? 'a new block' : `the value of round ${polRound}`;
    this.report(
      `${at.name} proposes ${what} at ${height}/${round}, though it knows of the polka of round ${valid.round}`,
      at,
      height,
    );
  }
}
