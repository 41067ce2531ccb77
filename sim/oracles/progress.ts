// What an honest node must do once it can (SIMULATION invariant 7, the other half): go on to a round in which more
// than a third speaks (L55), and bring the valid value that it knows when it proposes (L15, L42).

import { equalBytes, hexOf } from '../../protocol/bytes.ts';
import { CHANNEL_DATA, CHANNEL_VOTE } from '../../protocol/messages.ts';
import { voteSignBytes } from '../../protocol/sign-bytes.ts';
import { PREVOTE, type Proposal, type Vote } from '../../protocol/types.ts';
import type { Machine } from '../machine.ts';
import type { Oracle, OracleMaker } from '../oracle.ts';
import { consensusMessage, type GhostChain, type GhostSet, isQuorum } from './ghost.ts';
import { addressFor } from './votes.ts';

/** A turn, a look, the application's word on a block: long over by then. */
const TIME_ENOUGH_NS = 2_000_000_000;

/** What reached a node of the height that it is at, in this life. */
class Seen {
  readonly height: bigint;
  round = 0;
  /** Rounds ahead, and who speaks in them, by index. */
  readonly ahead = new Map<number, Set<number>>();
  /** The furthest round ahead of its own in which more than a third spoke, and since when. */
  skip: { readonly round: number; readonly sinceNs: number } | null = null;
  proposal: Proposal | null = null;
  readonly parts = new Set<number>();
  readonly prevotes = new Map<string, Set<number>>();
  /** The latest block that it holds whole, with its polka, of the round that it was in. */
  valid: { readonly round: number; readonly sinceNs: number } | null = null;

  constructor(height: bigint) {
    this.height = height;
  }

  enters(round: number): void {
    if (round <= this.round) return;
    this.round = round;
    this.proposal = null;
    this.parts.clear();
    this.prevotes.clear();
    if (this.skip && this.skip.round <= round) this.skip = null;
  }
}

const powerOf = (set: GhostSet, indexes: Iterable<number>): bigint => {
  let sum = 0n;
  for (const index of indexes) sum += set.members[index]?.power ?? 0n;
  return sum;
};

export const progressRules =
  (ghost: GhostChain): OracleMaker =>
  (report, about): Oracle => {
    const nodes = new Map<Machine, Seen>();
    const said = new Map<Machine, { readonly height: bigint; readonly keys: Set<string> }>();
    const of = (at: Machine): Seen => {
      let seen = nodes.get(at);
      if (!seen || seen.height !== at.height + 1n) {
        seen = new Seen(at.height + 1n);
        nodes.set(at, seen);
      }
      return seen;
    };

    const isTrue = (set: GhostSet, vote: Vote): boolean => {
      const member = set.members[vote.validatorIndex];
      return !!member && about.verify(member.key, voteSignBytes(about.chainId, vote), vote.signature);
    };

    const hearsAhead = (seen: Seen, set: GhostSet, vote: Vote): void => {
      let speakers = seen.ahead.get(vote.round);
      if (!speakers) {
        speakers = new Set();
        seen.ahead.set(vote.round, speakers);
      }
      if (speakers.has(vote.validatorIndex) || !isTrue(set, vote)) return;
      speakers.add(vote.validatorIndex);
      const isFurther = !seen.skip || seen.skip.round < vote.round;
      if (isFurther && powerOf(set, speakers) * 3n > set.total)
        seen.skip = { round: vote.round, sinceNs: about.now() };
    };

    /** The round's block is whole, and two thirds prevoted it: the node has a valid value. */
    const looks = (seen: Seen, set: GhostSet): void => {
      const { proposal } = seen;
      if (!proposal || seen.valid?.round === seen.round) return;
      if (seen.parts.size < proposal.blockId.parts.total) return;
      const voters = seen.prevotes.get(hexOf(proposal.blockId.hash)) ?? [];
      if (isQuorum(powerOf(set, voters), set.total)) seen.valid = { round: seen.round, sinceNs: about.now() };
    };

    const hears = (at: Machine, channel: number, bytes: Uint8Array): void => {
      if (channel !== CHANNEL_VOTE && channel !== CHANNEL_DATA) return;
      const message = consensusMessage(bytes);
      if (!message) return;
      const seen = of(at);
      const set = ghost.set(seen.height);
      if (!set) return;
      if (message.type === 'vote') {
        const { vote } = message;
        if (vote.height !== seen.height) return;
        if (vote.round > seen.round) hearsAhead(seen, set, vote);
        else if (vote.round === seen.round && vote.type === PREVOTE) {
          const key = hexOf(vote.blockId.hash);
          const voters = seen.prevotes.get(key) ?? new Set();
          if (!voters.has(vote.validatorIndex) && isTrue(set, vote)) voters.add(vote.validatorIndex);
          seen.prevotes.set(key, voters);
        }
      } else if (message.type === 'proposal') {
        const { proposal } = message;
        // Of an equivocating proposer it may keep the other one.
        if (proposal.height === seen.height && proposal.round === seen.round) seen.proposal ??= proposal;
      } else if (
        message.type === 'block-part' &&
        message.height === seen.height &&
        message.round === seen.round
      )
        seen.parts.add(message.part.index);
      looks(seen, set);
    };

    const enough = (sinceNs: number): boolean => about.now() - sinceNs > TIME_ENOUGH_NS;

    /** Gossip repeats a vote for those who lack it: it was cast once, in whatever life. */
    const isFirst = (at: Machine, { height, round, type }: Vote): boolean => {
      const known = said.get(at);
      const keys = known?.height === height ? known.keys : new Set<string>();
      if (known?.height !== height) said.set(at, { height, keys });
      const key = `${round}/${type}`;
      if (keys.has(key)) return false;
      keys.add(key);
      return true;
    };

    const votes = (at: Machine, vote: Vote): void => {
      if (!isFirst(at, vote)) return;
      const seen = of(at);
      const { skip } = seen;
      if (vote.height !== seen.height || !skip || vote.round >= skip.round || !enough(skip.sinceNs)) return;
      report(
        `${at.name} votes at ${vote.height}/${vote.round}, though a third has spoken in round ${skip.round}`,
        at,
        vote.height,
      );
    };

    const proposes = (at: Machine, { height, round, polRound }: Proposal): void => {
      const seen = of(at);
      const { valid } = seen;
      if (height !== seen.height || polRound >= 0 || !valid || valid.round >= round || !enough(valid.sinceNs))
        return;
      if (ghost.set(height)?.atRound(round) !== hexOf(addressFor(at))) return;
      report(
        `${at.name} proposes a new block at ${height}/${round}, though it knows of the polka of round ${valid.round}`,
        at,
        height,
      );
    };

    const isAwake = (at: Machine): boolean =>
      at.mode === 'consensus' && at.node !== null && !at.node.isPaused && about.isHonest(at);

    return {
      name: 'progress',
      effects: ['send'],
      started(at) {
        nodes.delete(at);
      },
      heard(at, _from, payloads) {
        // What comes in a pause waits, and so does what came just before it.
        if (!isAwake(at)) nodes.delete(at);
        else for (const { channel, bytes } of payloads) hears(at, channel, bytes);
      },
      published(at, _actor, event) {
        if (event.type === 'step' && event.height === at.height + 1n) of(at).enters(event.round);
      },
      leaving(at, _actor, effect) {
        if (effect.type !== 'send' || !isAwake(at)) return;
        for (const { channel, bytes } of effect.payloads) {
          if (channel !== CHANNEL_VOTE && channel !== CHANNEL_DATA) continue;
          const message = consensusMessage(bytes);
          if (message?.type === 'vote') {
            if (equalBytes(message.vote.validatorAddress, addressFor(at))) votes(at, message.vote);
          } else if (message?.type === 'proposal') proposes(at, message.proposal);
        }
      },
    };
  };
