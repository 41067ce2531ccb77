// Justified sends (SIMULATION invariant 7) and lock monotonicity (6): whatever an honest node votes, locks,
// decides or skips to, the rule of the paper that allows it is met by messages that had reached that node. Each
// rule seen at work is a label of the run.

import type { NodeEvent, PeerId } from '../../actors/turn.ts';
import { equalBytes, hexOf } from '../../protocol/bytes.ts';
import { CHANNEL_DATA, CHANNEL_VOTE } from '../../protocol/messages.ts';
import { PREVOTE, type Proposal, type Vote } from '../../protocol/types.ts';
import type { Machine } from '../machine.ts';
import type { Oracle, OracleMaker } from '../oracle.ts';
import { consensusMessage, type GhostChain } from './ghost.ts';
import { Heard, type HeardHeight } from './tally.ts';
import { addressFor, nameOf } from './votes.ts';

interface Choice {
  readonly round: number;
  readonly id: Uint8Array;
}

/** What a node has said and shown in the height that it is at. */
class Standing {
  readonly heard: Heard;
  height = 0n;
  round = 0;
  step = 0;
  /** From its precommits: a node that speaks for a value is locked on it. */
  lock: Choice | null = null;
  /** From what it publishes, in this life. */
  published: { lock: Choice | null; valid: Choice | null } = { lock: null, valid: null };
  said = new Set<string>();

  constructor(ghost: GhostChain, at: Machine) {
    this.heard = new Heard((height) => ghost.set(height), hexOf(addressFor(at)));
  }

  moveTo(height: bigint): void {
    if (height <= this.height) return;
    this.height = height;
    this.lock = null;
    this.published = { lock: null, valid: null };
    this.said = new Set();
  }
}

const STEP_PREVOTE_WAIT = 5;

export const justifiedSends =
  (ghost: GhostChain): OracleMaker =>
  (report, about): Oracle => {
    const standings = new Map<Machine, Standing>();
    const of = (at: Machine): Standing => {
      let standing = standings.get(at);
      if (!standing) {
        standing = new Standing(ghost, at);
        standings.set(at, standing);
      }
      return standing;
    };

    const prevotes = (at: Machine, node: Standing, heard: HeardHeight, vote: Vote): void => {
      const { hash } = vote.blockId;
      const { proposals } = heard.round(vote.round);
      if (hash.length === 0) return about.reached(nilPrevoteLabel(node, vote, proposals));
      const where = `prevotes ${nameOf(vote)} at ${vote.height}/${vote.round}`;
      const proposal = proposals.find(({ blockId }) => equalBytes(blockId.hash, hash));
      if (!proposal && heard.isProposer(vote.round)) return; // nobody was there to hear its own
      if (!proposal) return report(`${at.name} ${where}: it heard no such proposal`, at, vote.height);
      const { lock } = node;
      const isOther = lock !== null && !equalBytes(lock.id, hash);
      if (proposal.polRound < 0) {
        if (isOther)
          report(
            `${at.name} ${where}: it is locked on another block since round ${lock.round}`,
            at,
            vote.height,
          );
        return about.reached(lock ? 'L22 prevotes what it is locked on' : 'L22 prevotes a new proposal');
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
      about.reached(isOther ? 'L29 unlocked by a later polka' : 'L28 prevotes a proposal with its polka');
    };

    const precommits = (at: Machine, node: Standing, heard: HeardHeight, vote: Vote): void => {
      const { hash } = vote.blockId;
      const where = `precommits ${nameOf(vote)} at ${vote.height}/${vote.round}`;
      if (hash.length === 0) {
        if (!heard.isMostOfAny('prevotes', vote.round))
          report(`${at.name} ${where}: two thirds of the prevotes never reached it`, at, vote.height);
        const isNil = heard.isPolka(vote.round, hash);
        return about.reached(
          isNil ? 'L44 precommits nil on a polka for nil' : 'L61 precommits nil on timeout',
        );
      }
      if (!heard.isPolka(vote.round, hash))
        report(`${at.name} ${where}: no polka for it reached it`, at, vote.height);
      if (!node.lock || node.lock.round <= vote.round) node.lock = { round: vote.round, id: hash };
      about.reached('L36 locks and precommits');
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
      if (vote.type === PREVOTE) prevotes(at, node, heard, vote);
      else precommits(at, node, heard, vote);
    };

    const hears = (at: Machine, channel: number, bytes: Uint8Array): void => {
      if (channel !== CHANNEL_VOTE && channel !== CHANNEL_DATA) return;
      const message = consensusMessage(bytes);
      if (message?.type === 'vote') of(at).heard.at(message.vote.height)?.addVote(message.vote);
      else if (message?.type === 'proposal')
        of(at).heard.at(message.proposal.height)?.addProposal(message.proposal);
    };

    const steps = (at: Machine, { height, round, step }: Extract<NodeEvent, { type: 'step' }>): void => {
      const node = of(at);
      node.moveTo(height);
      const before = node.round;
      node.round = round;
      node.step = step;
      if (step === STEP_PREVOTE_WAIT) about.reached('L34 waits for more prevotes');
      const heard = node.heard.at(height);
      if (!heard || round === 0 || round <= before) return;
      if (heard.isThirdIn(round)) about.reached('L55 skips to a round of others');
      else if (heard.isMostOfAny('precommits', round - 1)) about.reached('L65 begins a round on timeout');
      else report(`${at.name} begins ${height}/${round}: nothing that reached it allows that`, at, height);
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
        const isPast = round < node.round || node.step > 4;
        if (isPast) about.reached('L42 learns of a valid value after it voted');
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
        about.reached(round < node.round ? 'L49 decides in a past round' : 'L49 decides in its round');
      }
      node.moveTo(height + 1n);
      node.round = 0;
    };

    return {
      name: 'justified',
      effects: ['send'],
      heard(at: Machine, _from: PeerId, payloads) {
        for (let i = 0; i < payloads.length; i++) {
          const payload = payloads[i];
          if (payload) hears(at, payload.channel, payload.bytes);
        }
      },
      leaving(at, _actor, effect) {
        if (effect.type !== 'send') return;
        for (const { channel, bytes } of effect.payloads) {
          if (channel !== CHANNEL_VOTE && channel !== CHANNEL_DATA) continue;
          const message = consensusMessage(bytes);
          if (message?.type === 'vote') {
            if (equalBytes(message.vote.validatorAddress, addressFor(at))) sends(at, message.vote);
          } else if (message?.type === 'proposal') {
            of(at).heard.at(message.proposal.height)?.addProposal(message.proposal);
            if (message.proposal.round > 0)
              about.reached(
                message.proposal.polRound < 0 ? 'L18 proposes anew' : 'L16 proposes its valid value',
              );
          }
        }
      },
      started(at) {
        of(at).published = { lock: null, valid: null };
      },
      published(at, _actor, event) {
        if (!about.isHonest(at)) return;
        if (event.type === 'step') steps(at, event);
        else if (event.type === 'locked' || event.type === 'valid') chooses(at, event);
        else if (event.type === 'committed') decides(at, event);
      },
    };
  };

/** Why somebody prevotes nil, as far as it can be seen from outside. */
function nilPrevoteLabel({ lock }: Standing, { round }: Vote, proposals: readonly Proposal[]): string {
  if (proposals.length === 0) return 'L57 prevotes nil: no proposal in time';
  const isAgainstLock = proposals.every(({ blockId }) => lock && !equalBytes(blockId.hash, lock.id));
  if (!lock || !isAgainstLock || round === 0) return 'L26 prevotes nil: the proposal is not acceptable';
  const isWithPolka = proposals.some(({ polRound }) => polRound >= 0);
  return isWithPolka ? 'L32 refuses an older polka than its lock' : 'L26 refuses another block than its lock';
}
