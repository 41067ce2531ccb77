// Vote uniqueness and the lock: what honest keys sign is said once and never taken back.

import { equalBytes, hexOf, settled } from '../../../protocol/bytes.ts';
import type { BlockId, Vote } from '../../../protocol/types.ts';
import type { Machine } from '../../machine.ts';
import type { Oracle, OracleMaker } from '../../oracle.ts';
import { equalBlockId } from '../canonical/block-id.ts';
import { PRECOMMIT, PREVOTE } from '../canonical/numbers.ts';
import { isOwn, nameBeside, nameOf, nameOfId, slotOf } from '../ghost/about-votes.ts';
import { type GhostChain, isQuorum } from '../ghost/ghost.ts';
import { messagesIn } from '../ghost/messages.ts';
import { PerMachine } from '../ghost/per-machine.ts';

/** Heights whose votes are remembered: evidence of a double signature needs both, and nodes restart within minutes. */
const HEIGHTS_REMEMBERED = 64;

/** What is remembered of a vote, without the buffers that it came in: at 100 validators those are 3 MB a height. */
interface SignedVote {
  readonly id: Uint8Array;
  readonly timeNs: bigint;
  readonly signature: Uint8Array;
}

/** An honest key never signs two different votes for one height, round and step, over its whole life, crashes included. */
export const voteUniqueness: OracleMaker = (report, about): Oracle => {
  /** By height, then by round and step. */
  const signed = new PerMachine(() => new Map<number, Map<number, SignedVote>>());
  const check = (at: Machine, vote: Vote): void => {
    const heights = signed.of(at);
    const height = Number(vote.height); // a bigint is slow as a key
    let votes = heights.get(height);
    if (!votes) {
      votes = new Map();
      heights.set(height, votes);
      heights.delete(height - HEIGHTS_REMEMBERED);
    }
    const slot = slotOf(vote);
    const before = votes.get(slot);
    if (!before) {
      const { blockId, timeNs, signature } = vote;
      votes.set(slot, { id: settled(blockId.hash), timeNs, signature: settled(signature) });
    } else if (!equalBytes(before.signature, vote.signature)) {
      const step = vote.type === PREVOTE ? 'prevote' : 'precommit';
      const both = `${nameOfId(before.id)} at ${before.timeNs} and ${nameOf(vote)} at ${vote.timeNs}`;
      report(`${at.name} signed two ${step}s for ${vote.height}/${vote.round}: ${both}`, at, vote.height);
    }
  };
  return {
    name: 'vote-uniqueness',
    effects: ['send', 'trim'],
    leaving(at, _actor, effect) {
      if (!about.isHonest(at)) return;
      if (effect.type === 'trim' && effect.log === 'privval' && effect.keep < 1)
        report(`${at.name} lets go of what it signed last, and may contradict it`, at, at.height + 1n);
      if (effect.type !== 'send') return;
      for (const message of messagesIn(effect.payloads))
        if (message?.type === 'vote' && isOwn(at, message.vote)) check(at, message.vote);
    },
  };
};

interface Lock {
  readonly height: bigint;
  readonly round: number;
  readonly id: BlockId;
}

/** Heights whose prevotes are kept: who is further behind prevotes for what is decided already. */
const HEIGHTS_KEPT = 8;

/** Who precommitted a value prevotes another later only when two thirds prevoted that one in between. */
export const lockLemma =
  (ghost: GhostChain): OracleMaker =>
  (report, about): Oracle => {
    const prevotes = new Map<number, Vote[]>();
    const locks = new Map<Machine, Lock>();
    const prevotesAt = (at: bigint): Vote[] => {
      const height = Number(at);
      let cast = prevotes.get(height);
      if (!cast) {
        cast = [];
        prevotes.set(height, cast);
        prevotes.delete(height - HEIGHTS_KEPT);
      }
      return cast;
    };
    const isPolka = (height: bigint, round: number, id: BlockId): boolean => {
      const set = ghost.set(height);
      if (!set) return false;
      const voters = new Map<string, bigint>();
      for (const vote of prevotesAt(height)) {
        if (vote.round !== round || !equalBlockId(vote.blockId, id)) continue;
        const who = hexOf(vote.validatorAddress);
        voters.set(who, set.powerOf(who));
      }
      let sum = 0n;
      for (const power of voters.values()) sum += power;
      return isQuorum(sum, set.total);
    };
    const judge = (at: Machine, vote: Vote): void => {
      const lock = locks.get(at);
      if (!lock || lock.height !== vote.height || vote.round <= lock.round) return;
      const id = vote.blockId;
      if (id.hash.length === 0 || equalBlockId(id, lock.id)) return;
      for (let round = lock.round; round < vote.round; round++) if (isPolka(vote.height, round, id)) return;
      report(
        `${at.name} precommitted ${nameBeside(lock.id, id)} at ${vote.height}/${lock.round} and prevotes ${nameBeside(id, lock.id)} ` +
          `at round ${vote.round}, though no two thirds prevoted that in between`,
        at,
        vote.height,
      );
    };
    const saw = (at: Machine, vote: Vote): void => {
      if (vote.type === PREVOTE) {
        if (about.isHonest(at)) judge(at, vote);
        prevotesAt(vote.height).push(vote);
      } else if (vote.type === PRECOMMIT && vote.blockId.hash.length > 0) {
        const lock = locks.get(at);
        const isNewer =
          !lock || lock.height < vote.height || (lock.height === vote.height && lock.round < vote.round);
        if (isNewer) locks.set(at, { height: vote.height, round: vote.round, id: vote.blockId });
      }
    };
    return {
      name: 'lock',
      effects: ['send'],
      leaving(at, _actor, effect) {
        if (effect.type !== 'send') return;
        for (const message of messagesIn(effect.payloads))
          if (message?.type === 'vote' && isOwn(at, message.vote)) saw(at, message.vote);
      },
    };
  };
