// Justified sends and lock monotonicity: whatever an honest node votes, locks, decides or skips to, the rule of the paper that allows it is
// met by messages that had reached that node. Which rule that was is a label of the run (`at-work.ts`).

import type { NodeEvent, Payload, PeerId } from '../../../actors/turn.ts';
import type { ConsensusMessage } from '../../../protocol/messages.ts';
import type { Proposal, Vote } from '../../../protocol/types.ts';
import type { Machine } from '../../machine.ts';
import type { Oracle, OracleMaker, Report, WorldAbout } from '../../oracle.ts';
import { STEP } from '../../steps.ts';
import { equalBlockId } from '../canonical/block-id.ts';
import { PREVOTE } from '../canonical/numbers.ts';
import { isOwn, nameOf, slotOf } from '../ghost/about-votes.ts';
import { type GhostChain, isTrueProposal, isTrueVote } from '../ghost/ghost.ts';
import { messagesIn } from '../ghost/messages.ts';
import { PerMachine } from '../ghost/per-machine.ts';
import type { HeardHeight } from '../ghost/tally.ts';
import { timerOf } from '../ghost/timers.ts';
import type { Choice } from './at-work.ts';
import { Standing } from './standing.ts';

export const justifiedSends =
  (ghost: GhostChain): OracleMaker =>
  (report, about): Oracle => {
    const judge = new Judge(ghost, report, about);
    return {
      name: 'justified',
      effects: ['send', 'schedule', 'cancel'],
      events: ['step', 'locked', 'valid', 'committed'],
      started: (at) => judge.starts(at),
      heard: (at, from, payloads) => judge.hears(at, from, payloads),
      leaving(at, actor, effect) {
        if (effect.type === 'send') judge.says(at, effect.payloads);
        else if (actor !== 'validator') return;
        else if (effect.type === 'schedule') judge.waits(at, effect.timer, effect.afterNs);
        else if (effect.type === 'cancel') judge.of(at).work.lets(effect.timer);
      },
      published(at, _actor, event) {
        if (!about.isHonest(at)) return;
        if (event.type === 'step') judge.steps(at, event);
        else if (event.type === 'locked' || event.type === 'valid') judge.chooses(at, event);
        else if (event.type === 'committed') judge.decides(at, event);
      },
    };
  };

class Judge {
  private readonly ghost: GhostChain;
  private readonly report: Report;
  private readonly about: WorldAbout;
  private readonly standings: PerMachine<Standing>;
  /** What the clock of its machine had counted when it began this life. */
  private readonly countAtBirth = new PerMachine(() => 0);
  private readonly liars: ReadonlySet<PeerId>;

  constructor(ghost: GhostChain, report: Report, about: WorldAbout) {
    this.ghost = ghost;
    this.report = report;
    this.about = about;
    this.standings = new PerMachine((at) => new Standing(ghost, about, at));
    this.liars = new Set(
      about.machines.filter((each) => !about.isHonest(each)).map(({ member }) => member.id),
    );
  }

  of(at: Machine): Standing {
    return this.standings.of(at);
  }

  // --- what it hears ---------------------------------------------------------------------------------------

  hears(at: Machine, from: PeerId, payloads: readonly Payload[]): void {
    const node = this.of(at);
    const isHonest = this.liars.size === 0 || !this.liars.has(from);
    const messages = messagesIn(payloads);
    for (let i = 0; i < messages.length; i++) {
      const message = messages[i];
      if (message && (isHonest || this.isTrue(message))) this.takes(node, message);
    }
  }

  /** What comes from a liar may be signed by nobody. */
  private isTrue(message: ConsensusMessage): boolean {
    if (message.type !== 'vote' && message.type !== 'proposal') return true;
    const { about, ghost } = this;
    const set = ghost.set(message.type === 'vote' ? message.vote.height : message.proposal.height);
    if (!set) return true;
    return message.type === 'vote'
      ? isTrueVote(about, set, message.vote)
      : isTrueProposal(about, set, message.proposal);
  }

  private takes({ heard, work }: Standing, message: ConsensusMessage): void {
    if (message.type === 'vote') heard.at(message.vote.height)?.addVote(message.vote);
    else if (message.type === 'proposal') heard.at(message.proposal.height)?.addProposal(message.proposal);
    else if (message.type === 'block-part') {
      work.hearsPart(message.height);
      heard.at(message.height)?.addPart(message.part);
    }
  }

  // --- what it says ----------------------------------------------------------------------------------------

  starts(at: Machine): void {
    this.of(at).startsLife();
    this.countAtBirth.set(at, at.clock.count());
  }

  says(at: Machine, payloads: readonly Payload[]): void {
    const isHonest = this.about.isHonest(at);
    for (const message of messagesIn(payloads)) {
      if (message?.type === 'proposal') this.offers(at, message.proposal);
      else if (message?.type === 'block-part') this.of(at).heard.at(message.height)?.addPart(message.part);
      else if (message?.type !== 'vote') this.claims(at, message);
      else if (isOwn(at, message.vote)) this.votes(at, message.vote);
      if (isHonest && (message?.type === 'vote' || message?.type === 'block-part'))
        this.of(at).claims.sends(message);
    }
  }

  private claims(at: Machine, message: ConsensusMessage | null): void {
    if (!message || !this.about.isHonest(at)) return;
    const { claims, heard } = this.of(at);
    const lifeNs = at.clock.count() - (this.countAtBirth.get(at) ?? 0);
    const what = claims.falsehoodIn(message, (height) => heard.at(height), lifeNs);
    if (what)
      this.report(`${at.name} says ${what}: nothing that reached it makes that true`, at, at.height + 1n);
  }

  private offers(at: Machine, proposal: Proposal): void {
    const node = this.of(at);
    const heard = node.heard.at(proposal.height);
    heard?.addProposal(proposal);
    if (proposal.height !== node.height || !heard?.isProposer(proposal.round)) return;
    node.work.proposes(proposal, node.lock);
    this.proposes(at, node.lock, proposal, heard);
  }

  /** L15, L37 and L42: who is locked holds a value for valid that is as late, in every life, and proposes that. A value is valid by its polka. */
  private proposes(
    at: Machine,
    lock: Choice,
    { height, round, polRound, blockId }: Proposal,
    heard: HeardHeight,
  ): void {
    if (polRound >= 0 && this.about.isHonest(at) && !heard.isPolka(polRound, blockId))
      this.report(
        `${at.name} proposes a value of round ${polRound} at ${height}/${round}: its polka never reached it`,
        at,
        height,
      );
    if (!lock || round <= lock.round || polRound >= lock.round || !this.about.isHonest(at)) return;
    const what = polRound < 0 ? 'a new block' : `a value of round ${polRound}`;
    this.report(
      `${at.name} proposes ${what} at ${height}/${round}: it is locked since round ${lock.round}`,
      at,
      height,
    );
  }

  private votes(at: Machine, vote: Vote): void {
    const node = this.of(at);
    node.moveTo(vote.height);
    const heard = node.heard.at(vote.height);
    if (!heard) return;
    heard.addVote(vote);
    const key = slotOf(vote);
    if (vote.height < node.height || node.said.has(key) || !this.about.isHonest(at)) return;
    node.said.add(key);
    const lock = node.lockBefore(vote.round);
    if (vote.type === PREVOTE) {
      if (vote.blockId.hash.length > 0) node.chosen.push(vote.blockId);
      node.work.prevotes(vote, heard, lock);
      this.prevotes(at, node, heard, vote);
    } else {
      node.work.precommits(vote, heard, lock);
      this.precommits(at, node, heard, vote);
    }
  }

  private prevotes(at: Machine, node: Standing, heard: HeardHeight, vote: Vote): void {
    const wrong = (what: string): void => this.report(`${at.name} ${what}`, at, vote.height);
    const { blockId: id } = vote;
    const { proposals } = heard.round(vote.round);
    if (id.hash.length === 0) {
      if (node.isOwnProposed && vote.height === node.height && vote.round === node.round)
        wrong(`prevotes nil at ${vote.height}/${vote.round}: the proposal is what it is locked on`);
      return;
    }
    const where = (): string => `prevotes ${nameOf(vote)} at ${vote.height}/${vote.round}`;
    const proposal = proposals.find(({ blockId }) => equalBlockId(blockId, id));
    if (!proposal && heard.isProposer(vote.round)) return; // nobody was there to hear its own
    if (!proposal) return wrong(`${where()}: it heard no such proposal`);
    const lock = node.lockBefore(vote.round);
    const isOther = lock !== null && !equalBlockId(lock.id, id);
    if (proposal.polRound < 0) {
      if (isOther) wrong(`${where()}: it is locked on another block since round ${lock.round}`);
      return;
    }
    const isFitting = proposals.some(
      ({ polRound, blockId }) =>
        polRound >= 0 &&
        polRound < vote.round &&
        equalBlockId(blockId, id) &&
        heard.isPolka(polRound, id) &&
        (!isOther || lock.round <= polRound),
    );
    if (isFitting) return;
    if (isOther) wrong(`${where()}: no polka as late as its lock of round ${lock.round} reached it`);
    else if (!proposals.some((each) => each.polRound < 0))
      wrong(`${where()}: the polka of round ${proposal.polRound} never reached it`);
  }

  private precommits(at: Machine, node: Standing, heard: HeardHeight, vote: Vote): void {
    const { blockId: id } = vote;
    const where = (): string => `${at.name} precommits ${nameOf(vote)} at ${vote.height}/${vote.round}`;
    if (id.hash.length === 0) {
      if (!heard.isMostOfAny('prevotes', vote.round))
        this.report(`${where()}: two thirds of the prevotes never reached it`, at, vote.height);
      return;
    }
    if (!heard.isPolka(vote.round, id))
      this.report(`${where()}: no polka for it reached it`, at, vote.height);
    if (!node.lock || node.lock.round <= vote.round) node.lock = { round: vote.round, id };
  }

  // --- what it does ----------------------------------------------------------------------------------------

  /** L34, L47: who waits for more votes has two thirds of any. */
  waits(at: Machine, timer: string, afterNs: bigint): void {
    const { heard, work } = this.of(at);
    const { step, height, round } = timerOf(timer);
    const isForVotes = (step === 'prevote' || step === 'precommit') && this.about.isHonest(at);
    if (isForVotes && heard.at(height)?.isMostOfAny(`${step}s`, round) === false)
      this.report(
        `${at.name} waits for more ${step}s at ${height}/${round}: two thirds of any never reached it`,
        at,
        height,
      );
    work.asksFor(timer, afterNs, (each) => heard.at(each));
  }

  steps(at: Machine, { height, round, step }: Extract<NodeEvent, { type: 'step' }>): void {
    const node = this.of(at);
    node.moveTo(height);
    const before = node.round;
    const heard = node.heard.at(height);
    node.round = round;
    node.claims.stands(height, round, step);
    if (step === STEP.propose) node.proposeNs = this.about.now();
    node.isOwnProposed = step === STEP.prevote && this.isOwnProposed(at, node, round);
    node.work.steps(heard, round, step);
    if (!heard || round === 0 || round <= before) return;
    if (!heard.isThirdIn(round) && !heard.isMostOfAny('precommits', round - 1))
      this.report(`${at.name} begins ${height}/${round}: nothing that reached it allows that`, at, height);
  }

  /** L22, L28: no lock is in the way of the value that it is a lock on. False, too, when its time for a proposal may be over. */
  private isOwnProposed(at: Machine, node: Standing, round: number): boolean {
    const { lock, chosen, proposeNs } = node;
    if (!lock || proposeNs === null || at.heldUntilNs >= proposeNs) return false;
    if (!chosen.some((id) => equalBlockId(id, lock.id))) return false; // its clock may be behind: to it the block is of the future
    const { timeoutProposeNs } = at.config.consensus;
    if (this.about.now() - proposeNs > Number(timeoutProposeNs) / 2) return false;
    const heard = node.heard.at(node.height);
    const [proposal, another] = heard?.round(round).proposals ?? [];
    if (!heard || !proposal || another || !equalBlockId(proposal.blockId, lock.id)) return false;
    const { polRound } = proposal;
    return polRound < 0 || heard.isPolka(polRound, lock.id);
  }

  chooses(at: Machine, event: Extract<NodeEvent, { type: 'locked' | 'valid' }>): void {
    const { height, round, hash } = event;
    const wrong = (what: string): void => this.report(`${at.name} ${what}`, at, height);
    const node = this.of(at);
    node.moveTo(height);
    const what = event.type === 'locked' ? 'locks' : 'holds for valid';
    const { published } = node;
    const before = event.type === 'locked' ? published.lock : published.valid;
    if (before !== null && round < before) wrong(`${what} something of round ${round} after ${before}`);
    if (node.heard.at(height)?.isMostForHash('prevotes', round, hash) === false)
      wrong(`${what} at ${height}/${round} what no polka that reached it was for`);
    node.published = { ...published, [event.type === 'locked' ? 'lock' : 'valid']: round };
    if (event.type === 'locked') return;
    node.work.values(round);
    const { lock } = published;
    if (lock !== null && lock > round) wrong(`is locked since ${lock} and its valid value is of ${round}`);
  }

  decides(at: Machine, { height, round, hash }: Extract<NodeEvent, { type: 'committed' }>): void {
    const node = this.of(at);
    if (at.mode === 'consensus') {
      if (node.heard.at(height)?.isMostForHash('precommits', round, hash) === false)
        this.report(
          `${at.name} decides ${height}/${round}: two thirds of the precommits never reached it`,
          at,
          height,
        );
      node.work.decides(round, hash, node.heard.at(height), node.lock);
    }
    node.moveTo(height + 1n);
    node.claims.decides(height, round);
    node.round = 0;
  }
}
