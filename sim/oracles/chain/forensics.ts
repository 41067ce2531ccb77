// Who broke the chain: from all that honest nodes said and heard at the height where it forked, the
// validators that double-signed or forgot a lock. Own arithmetic; nothing of the product's rules.

import type { Payload } from '../../../actors/turn.ts';
import { hexOf } from '../../../protocol/bytes.ts';
import type { Vote } from '../../../protocol/types.ts';
import type { Oracle, OracleMaker } from '../../oracle.ts';
import { equalBlockId } from '../canonical/block-id.ts';
import { voteSignBytes } from '../canonical/bytes.ts';
import { CHANNEL_VOTE, PRECOMMIT, PREVOTE } from '../canonical/numbers.ts';
import { type GhostChain, type GhostSet, isQuorum } from '../ghost/ghost.ts';
import { consensusMessage } from '../ghost/messages.ts';

/** One validator, and the two votes of its own that no honest one signs. */
export interface Guilty {
  /** Hex. */
  readonly address: string;
  readonly power: bigint;
  readonly why: string;
}

export interface Findings {
  /** Hashes of the blocks that more than two thirds precommitted in one round, in hex. */
  readonly decided: readonly string[];
  readonly guilty: readonly Guilty[];
  readonly total: bigint;
}

/**
 * What is claimed: who signed two votes for one round and step is guilty, on the strength of its two
 * signatures. Who precommitted a block and voted for another in a later round is guilty unless two thirds
 * prevoted that other one in between: a polka that no honest node heard of would clear it, so of amnesia
 * this is as sure as the logs are complete. Whoever fell silent is never named.
 */
export class Forensics {
  private readonly ghost: GhostChain;
  private readonly height: bigint;
  /** By address; each vote once, whoever heard it. */
  private readonly votes = new Map<string, Vote[]>();

  constructor(ghost: GhostChain, height: bigint) {
    this.ghost = ghost;
    this.height = height;
  }

  asOracle: OracleMaker = (_report, about): Oracle => {
    const read = (payloads: readonly Payload[]): void => {
      for (const payload of payloads) {
        const message = payload.channel === CHANNEL_VOTE ? consensusMessage(payload) : null;
        if (message?.type !== 'vote' || message.vote.height !== this.height) continue;
        this.file(message.vote, (vote, { key }) =>
          about.verify(key, voteSignBytes(about.chainId, vote), vote.signature),
        );
      }
    };
    return {
      name: 'forensics',
      effects: ['send'],
      heard: (at, _from, payloads) => about.isHonest(at) && read(payloads),
      leaving: (at, _actor, effect) => {
        if (effect.type === 'send' && about.isHonest(at)) read(effect.payloads);
      },
    };
  };

  /** A vote that its validator did not sign accuses nobody. */
  private file(vote: Vote, isSigned: (vote: Vote, member: GhostSet['members'][number]) => boolean): void {
    const address = hexOf(vote.validatorAddress);
    const known = this.votes.get(address) ?? [];
    if (known.some((each) => isSamePlace(each, vote) && isSameValue(each, vote))) return;
    const member = this.ghost.set(this.height)?.members.find((each) => each.address === address);
    if (!member || !isSigned(vote, member)) return;
    this.votes.set(address, [...known, vote]);
  }

  examine(): Findings {
    const set = this.ghost.set(this.height);
    if (!set) return { decided: [], guilty: [], total: 0n };
    const guilty = set.members.flatMap(({ address, power }): Guilty[] => {
      const why = this.doubleVote(address) ?? this.forgottenLock(address, set);
      return why === null ? [] : [{ address, power, why }];
    });
    return { decided: this.decided(set), guilty, total: set.total };
  }

  private decided(set: GhostSet): string[] {
    const decided = new Set<string>();
    for (const vote of [...this.votes.values()].flat()) {
      if (vote.type === PRECOMMIT && !isNil(vote) && this.isMost(vote, vote.round, set))
        decided.add(hexOf(vote.blockId.hash));
    }
    return [...decided];
  }

  /** More than two thirds voted as this one, in that round. */
  private isMost(vote: Vote, round: number, set: GhostSet): boolean {
    let sum = 0n;
    for (const [address, votes] of this.votes)
      if (votes.some((each) => isSamePlace(each, { ...vote, round }) && isSameValue(each, vote)))
        sum += set.powerOf(address);
    return isQuorum(sum, set.total);
  }

  private doubleVote(address: string): string | null {
    const votes = this.votes.get(address) ?? [];
    for (const [i, a] of votes.entries()) {
      const b = votes.slice(i + 1).find((each) => isSamePlace(each, a));
      if (b) return `${deed(a)} and ${nameOf(b)} in round ${a.round}`;
    }
    return null;
  }

  private forgottenLock(address: string, set: GhostSet): string | null {
    const votes = (this.votes.get(address) ?? []).filter((vote) => !isNil(vote));
    for (const locked of votes) {
      if (locked.type !== PRECOMMIT) continue;
      const later = votes.find(
        (vote) => vote.round > locked.round && !isSameValue(vote, locked) && !this.isFreed(locked, vote, set),
      );
      if (later) return `${deed(locked)} in round ${locked.round} and ${deed(later)} in round ${later.round}`;
    }
    return null;
  }

  /**
   * Two thirds prevoted the other block since it locked; a precommit follows the prevotes of its own round.
   */
  private isFreed(locked: Vote, later: Vote, set: GhostSet): boolean {
    const until = later.type === PRECOMMIT ? later.round : later.round - 1;
    for (let round = locked.round; round <= until; round++)
      if (this.isMost({ ...later, type: PREVOTE }, round, set)) return true;
    return false;
  }
}

const isNil = ({ blockId }: Vote): boolean => blockId.hash.length === 0;
const nameOf = (vote: Vote): string => (isNil(vote) ? 'nil' : hexOf(vote.blockId.hash).slice(0, 12));
const deed = (vote: Vote): string => `${vote.type === PREVOTE ? 'prevoted' : 'precommitted'} ${nameOf(vote)}`;
const isSamePlace = (a: Vote, b: Vote): boolean => a.type === b.type && a.round === b.round;
const isSameValue = (a: Vote, b: Vote): boolean => equalBlockId(a.blockId, b.blockId);
