// Justified sends (SIMULATION invariant 7) and lock monotonicity (6): whatever an honest node votes, locks,
// decides or skips to, the rule of the paper that allows it is met by messages that had reached that node. Which
// rule that was is a label of the run (`at-work.ts`).

import type { NodeEvent, Payload, PeerId } from '../../actors/turn.ts';
import { equalBytes } from '../../protocol/bytes.ts';
import type { ConsensusMessage } from '../../protocol/messages.ts';
import { PREVOTE, type Proposal, type Vote } from '../../protocol/types.ts';
import type { Machine } from '../machine.ts';
import type { Oracle, OracleMaker, WorldAbout } from '../oracle.ts';
import { STEP } from '../steps.ts';
import { AtWork, type Choice } from './at-work.ts';
import { type GhostChain, isTrueProposal, isTrueVote } from './ghost.ts';
import { messagesIn } from './messages.ts';
import { Heard, type HeardHeight } from './tally.ts';
import { timerOf } from './timers.ts';
import { hexFor, isOwn, nameOf } from './votes.ts';

/** What a node has said and shown in the height that it is at. */
class Standing {
  readonly heard: Heard;
  readonly work: AtWork;
  height = 0n;
  round = 0;
  /** From its precommits: a node that speaks for a value is locked on it. */
  lock: Choice = null;
  /** From what it publishes, in this life. */
  published: { lock: Choice; valid: Choice } = { lock: null, valid: null };
  said = new Set<string>();
  /** What it prevoted at this height, in this life: its rules and its application allow that. */
  chosen: Uint8Array[] = [];
  /** When it came to propose in its round. */
  proposeNs: number | null = null;
  /** What it is locked on stood before it, proposed, as it came to prevote in its round. */
  isOwnProposed = false;

  constructor(ghost: GhostChain, about: WorldAbout, at: Machine) {
    const { reached, now } = about;
    this.work = new AtWork((label) => about.isHonest(at) && reached(label), now);
    this.heard = new Heard((height) => ghost.set(height), hexFor(at));
  }

  /** The lock as a vote of this round may have met it: who had nobody to hear it says a vote after later ones. */
  lockBefore(round: number): Choice {
    return this.lock && this.lock.round < round ? this.lock : null;
  }

  moveTo(height: bigint): void {
    if (height <= this.height) return;
    this.height = height;
    this.work.moveTo(height);
    this.lock = null;
    this.published = { lock: null, valid: null };
    this.said = new Set();
    this.chosen = [];
    this.proposeNs = null;
    this.isOwnProposed = false;
  }
}

export const justifiedSends =
  (ghost: GhostChain): OracleMaker =>
  (report, about): Oracle => {
    const standings = new Map<Machine, Standing>();
    const liars = new Set(
      about.machines.filter((each) => !about.isHonest(each)).map(({ member }) => member.id),
    );
    const of = (at: Machine): Standing => {
      let standing = standings.get(at);
      if (!standing) {
        standing = new Standing(ghost, about, at);
        standings.set(at, standing);
      }
      return standing;
    };

    /** L22, L28: no lock is in the way of the value that it is a lock on. False, too, when its time for a proposal may be over. */
    const isOwnProposed = (at: Machine, node: Standing, round: number): boolean => {
      const { lock, chosen, proposeNs } = node;
      if (!lock || proposeNs === null || at.heldUntilNs >= proposeNs) return false;
      if (!chosen.some((id) => equalBytes(id, lock.id))) return false; // its clock may be behind: to it the block is of the future
      const { timeoutProposeNs } = at.config.consensus;
      if (about.now() - proposeNs > Number(timeoutProposeNs) / 2) return false;
      const heard = node.heard.at(node.height);
      const [proposal, another] = heard?.round(round).proposals ?? [];
      if (!heard || !proposal || another || !equalBytes(proposal.blockId.hash, lock.id)) return false;
      const { polRound } = proposal;
      return polRound < 0 || heard.isPolka(polRound, lock.id);
    };

    const prevotes = (at: Machine, node: Standing, heard: HeardHeight, vote: Vote): void => {
      const { hash } = vote.blockId;
      const { proposals } = heard.round(vote.round);
      if (hash.length === 0) {
        if (node.isOwnProposed && vote.height === node.height && vote.round === node.round)
          report(
            `${at.name} prevotes nil at ${vote.height}/${vote.round}: the proposal is what it is locked on`,
            at,
            vote.height,
          );
        return;
      }
      const where = `prevotes ${nameOf(vote)} at ${vote.height}/${vote.round}`;
      const proposal = proposals.find(({ blockId }) => equalBytes(blockId.hash, hash));
      if (!proposal && heard.isProposer(vote.round)) return; // nobody was there to hear its own
      if (!proposal) return report(`${at.name} ${where}: it heard no such proposal`, at, vote.height);
      const lock = node.lockBefore(vote.round);
      const isOther = lock !== null && !equalBytes(lock.id, hash);
      if (proposal.polRound < 0) {
        if (isOther)
          report(
            `${at.name} ${where}: it is locked on another block since round ${lock.round}`,
            at,
            vote.height,
          );
        return;
      }
      const isFitting = proposals.some(
        ({ polRound, blockId }) =>
          polRound >= 0 &&
          polRound < vote.round &&
          equalBytes(blockId.hash, hash) &&
          heard.isPolka(polRound, hash) &&
          (!isOther || lock.round <= polRound),
      );
      if (!isFitting && isOther)
        report(
          `${at.name} ${where}: no polka as late as its lock of round ${lock.round} reached it`,
          at,
          vote.height,
        );
      else if (!isFitting && !proposals.some((each) => each.polRound < 0))
        report(
          `${at.name} ${where}: the polka of round ${proposal.polRound} never reached it`,
          at,
          vote.height,
        );
    };

    const precommits = (at: Machine, node: Standing, heard: HeardHeight, vote: Vote): void => {
      const { hash } = vote.blockId;
      const where = `precommits ${nameOf(vote)} at ${vote.height}/${vote.round}`;
      if (hash.length === 0) {
        if (!heard.isMostOfAny('prevotes', vote.round))
          report(`${at.name} ${where}: two thirds of the prevotes never reached it`, at, vote.height);
        return;
      }
      if (!heard.isPolka(vote.round, hash))
        report(`${at.name} ${where}: no polka for it reached it`, at, vote.height);
      if (!node.lock || node.lock.round <= vote.round) node.lock = { round: vote.round, id: hash };
    };

    /** L15, L37 and L42: who is locked holds a value for valid that is as late, in every life, and proposes that. */
    const proposes = (at: Machine, lock: Choice, { height, round, polRound }: Proposal): void => {
      if (!lock || round <= lock.round || polRound >= lock.round || !about.isHonest(at)) return;
      const what = polRound < 0 ? 'a new block' : `a value of round ${polRound}`;
      report(
        `${at.name} proposes ${what} at ${height}/${round}: it is locked since round ${lock.round}`,
        at,
        height,
      );
    };

    /** L34, L47: who waits for more votes has two thirds of any. */
    const waits = (at: Machine, timer: string): void => {
      const { step, height, round } = timerOf(timer);
      if ((step !== 'prevote' && step !== 'precommit') || !about.isHonest(at)) return;
      const heard = of(at).heard.at(height);
      if (!heard || heard.isMostOfAny(`${step}s`, round)) return;
      report(
        `${at.name} waits for more ${step}s at ${height}/${round}: two thirds of any never reached it`,
        at,
        height,
      );
    };

    const sends = (at: Machine, vote: Vote): void => {
      const node = of(at);
      node.moveTo(vote.height);
      const heard = node.heard.at(vote.height);
      if (!heard) return;
      heard.addVote(vote);
      const key = `${vote.round}/${vote.type}`;
      if (vote.height < node.height || node.said.has(key) || !about.isHonest(at)) return;
      node.said.add(key);
      if (vote.type === PREVOTE) {
        if (vote.blockId.hash.length > 0) node.chosen.push(vote.blockId.hash);
        node.work.prevotes(vote, heard, node.lockBefore(vote.round));
        prevotes(at, node, heard, vote);
      } else {
        node.work.precommits(vote, heard, node.lockBefore(vote.round));
        precommits(at, node, heard, vote);
      }
    };

    /** What comes from a liar may be signed by nobody. */
    const isTrue = (message: ConsensusMessage): boolean => {
      if (message.type !== 'vote' && message.type !== 'proposal') return true;
      const set = ghost.set(message.type === 'vote' ? message.vote.height : message.proposal.height);
      if (!set) return true;
      return message.type === 'vote'
        ? isTrueVote(about, set, message.vote)
        : isTrueProposal(about, set, message.proposal);
    };

    const hears = ({ heard, work }: Standing, message: ConsensusMessage): void => {
      if (message.type === 'vote') heard.at(message.vote.height)?.addVote(message.vote);
      else if (message.type === 'proposal') heard.at(message.proposal.height)?.addProposal(message.proposal);
      else if (message.type === 'block-part') work.hearsPart(message.height);
    };

    const offers = (at: Machine, proposal: Proposal): void => {
      const node = of(at);
      const heard = node.heard.at(proposal.height);
      heard?.addProposal(proposal);
      if (proposal.height !== node.height || !heard?.isProposer(proposal.round)) return;
      node.work.proposes(proposal, node.lock);
      proposes(at, node.lock, proposal);
    };

    const says = (at: Machine, payloads: readonly Payload[]): void => {
      for (const message of messagesIn(payloads))
        if (message?.type === 'proposal') offers(at, message.proposal);
        else if (message?.type === 'vote' && isOwn(at, message.vote)) sends(at, message.vote);
    };

    const steps = (at: Machine, { height, round, step }: Extract<NodeEvent, { type: 'step' }>): void => {
      const node = of(at);
      node.moveTo(height);
      const before = node.round;
      const heard = node.heard.at(height);
      node.round = round;
      if (step === STEP.propose) node.proposeNs = about.now();
      node.isOwnProposed = step === STEP.prevote && isOwnProposed(at, node, round);
      node.work.steps(heard, round, step);
      if (!heard || round === 0 || round <= before) return;
      if (!heard.isThirdIn(round) && !heard.isMostOfAny('precommits', round - 1))
        report(`${at.name} begins ${height}/${round}: nothing that reached it allows that`, at, height);
    };

    const chooses = (at: Machine, event: Extract<NodeEvent, { type: 'locked' | 'valid' }>): void => {
      const { height, round, hash } = event;
      const node = of(at);
      node.moveTo(height);
      const what = event.type === 'locked' ? 'locks' : 'holds for valid';
      const { published } = node;
      const before = event.type === 'locked' ? published.lock : published.valid;
      if (before && round < before.round)
        report(`${at.name} ${what} something of round ${round} after ${before.round}`, at, height);
      if (node.heard.at(height)?.isPolka(round, hash) === false)
        report(`${at.name} ${what} at ${height}/${round} what no polka that reached it was for`, at, height);
      if (event.type === 'locked') published.lock = { round, id: hash };
      else {
        published.valid = { round, id: hash };
        node.work.values(round);
      }
      const { lock, valid } = published;
      if (event.type === 'valid' && lock && valid && lock.round > valid.round)
        report(
          `${at.name} is locked since ${lock.round} and its valid value is of ${valid.round}`,
          at,
          height,
        );
    };

    const decides = (
      at: Machine,
      { height, round, hash }: Extract<NodeEvent, { type: 'committed' }>,
    ): void => {
      const node = of(at);
      if (at.mode === 'consensus') {
        if (node.heard.at(height)?.isDecided(round, hash) === false)
          report(
            `${at.name} decides ${height}/${round}: two thirds of the precommits never reached it`,
            at,
            height,
          );
        node.work.decides(round, hash, node.heard.at(height), node.lock);
      }
      node.moveTo(height + 1n);
      node.round = 0;
    };

    return {
      name: 'justified',
      effects: ['send', 'schedule', 'cancel'],
      heard(at: Machine, from: PeerId, payloads) {
        const node = of(at);
        const isHonest = liars.size === 0 || !liars.has(from);
        const messages = messagesIn(payloads);
        for (let i = 0; i < messages.length; i++) {
          const message = messages[i];
          if (message && (isHonest || isTrue(message))) hears(node, message);
        }
      },
      leaving(at, actor, effect) {
        if (effect.type === 'send') says(at, effect.payloads);
        else if (actor !== 'validator') return;
        else if (effect.type === 'schedule') {
          waits(at, effect.timer);
          const { heard, work } = of(at);
          work.asksFor(effect.timer, effect.afterNs, (height) => heard.at(height));
        } else if (effect.type === 'cancel') of(at).work.lets(effect.timer);
      },
      started(at) {
        const node = of(at);
        node.published = { lock: null, valid: null };
        node.chosen = [];
        node.work.restarts();
      },
      published(at, _actor, event) {
        if (!about.isHonest(at)) return;
        if (event.type === 'step') steps(at, event);
        else if (event.type === 'locked' || event.type === 'valid') chooses(at, event);
        else if (event.type === 'committed') decides(at, event);
      },
    };
  };
