// Vote uniqueness and the lock: what honest keys sign is said once and never taken back (SIMULATION invariants 4 and 5).

import { hexOf } from '../../protocol/bytes.ts';
import { addressOf } from '../../protocol/keys.ts';
import { PRECOMMIT, PREVOTE, type Proposal, type Vote } from '../../protocol/types.ts';
import type { Machine } from '../machine.ts';
import type { Oracle, OracleMaker } from '../oracle.ts';
import { consensusMessage, type GhostChain, isQuorum } from './ghost.ts';

const nameOf = (vote: Vote): string =>
  vote.blockId.hash.length === 0 ? 'nil' : hexOf(vote.blockId.hash).slice(0, 12);

/** Calls back for each vote or proposal that a machine sends under its own key, once per payload and receiver list. */
export function* ownWords(
  at: Machine,
  payloads: readonly { readonly bytes: Uint8Array; readonly channel: number }[],
): Generator<{ vote: Vote } | { proposal: Proposal }> {
  const key = at.member.publicKey;
  if (!key) return;
  for (const { channel, bytes } of payloads) {
    if (channel !== 0x21 && channel !== 0x22) continue;
    const message = consensusMessage(bytes);
    if (message?.type === 'vote') {
      if (sameBytes(message.vote.validatorAddress, addressFor(at))) yield { vote: message.vote };
    } else if (message?.type === 'proposal') yield { proposal: message.proposal };
  }
}

const addresses = new WeakMap<Machine, Uint8Array>();
export function addressFor(at: Machine): Uint8Array {
  let address = addresses.get(at);
  if (!address) {
    address = at.member.publicKey ? addressOf(at.member.publicKey) : new Uint8Array(0);
    addresses.set(at, address);
  }
  return address;
}

function sameBytes(a: Uint8Array, b: Uint8Array): boolean {
  if (a.length !== b.length) return false;
  for (let i = 0; i < a.length; i++) if (a[i] !== b[i]) return false;
  return true;
}

/** Heights whose votes are remembered: evidence of a double signature needs both, and nodes restart within minutes. */
const HEIGHTS_REMEMBERED = 64n;

/** 4. An honest key never signs two different votes for one height, round and step, over its whole life, crashes included. */
export const voteUniqueness: OracleMaker = (report, about): Oracle => {
  const signed = new Map<Machine, Map<bigint, Map<string, Vote>>>();
  const check = (at: Machine, vote: Vote): void => {
    let heights = signed.get(at);
    if (!heights) {
      heights = new Map();
      signed.set(at, heights);
    }
    let votes = heights.get(vote.height);
    if (!votes) {
      votes = new Map();
      heights.set(vote.height, votes);
      heights.delete(vote.height - HEIGHTS_REMEMBERED);
    }
    const key = `${vote.round}/${vote.type}`;
    const before = votes.get(key);
    if (!before) votes.set(key, vote);
    else if (before !== vote && !sameBytes(before.signature, vote.signature)) {
      const step = vote.type === PREVOTE ? 'prevote' : 'precommit';
      const both = `${nameOf(before)} at ${before.timeNs} and ${nameOf(vote)} at ${vote.timeNs}`;
      report(`${at.name} signed two ${step}s for ${vote.height}/${vote.round}: ${both}`, at, vote.height);
    }
  };
  return {
    name: 'vote-uniqueness',
    effects: ['send'],
    leaving(at, _actor, effect) {
      if (effect.type !== 'send' || !about.isHonest(at)) return;
      for (const word of ownWords(at, effect.payloads)) if ('vote' in word) check(at, word.vote);
    },
  };
};

interface Seen {
  /** Power that prevoted each id, by round: `round/id` -> (address -> power). */
  readonly prevotes: Map<string, Map<string, bigint>>;
  readonly precommits: Map<string, Map<string, bigint>>;
}

/**
 * 5. Who precommitted a value prevotes another later only when two thirds prevoted that one in between; and after two thirds precommitted
 * a value, no two thirds ever prevote another.
 */
export const lockLemma =
  (ghost: GhostChain): OracleMaker =>
  (report, about): Oracle => {
    const heights = new Map<bigint, Seen>();
    const locks = new Map<Machine, { height: bigint; round: number; id: string }>();
    const seenAt = (height: bigint): Seen => {
      let seen = heights.get(height);
      if (!seen) {
        seen = { prevotes: new Map(), precommits: new Map() };
        heights.set(height, seen);
        heights.delete(height - 8n);
      }
      return seen;
    };
    const count = (votes: Map<string, Map<string, bigint>>, key: string, vote: Vote): void => {
      const who = hexOf(vote.validatorAddress);
      const power = ghost.set(vote.height)?.powerOf(who) ?? 0n;
      let voters = votes.get(key);
      if (!voters) {
        voters = new Map();
        votes.set(key, voters);
      }
      voters.set(who, power);
    };
    const isPolka = (seen: Seen, height: bigint, round: number, id: string): boolean => {
      const voters = seen.prevotes.get(`${round}/${id}`);
      const total = ghost.set(height)?.total;
      if (!voters || total === undefined) return false;
      let sum = 0n;
      for (const power of voters.values()) sum += power;
      return isQuorum(sum, total);
    };
    const judge = (at: Machine, vote: Vote, seen: Seen): void => {
      const lock = locks.get(at);
      if (!lock || lock.height !== vote.height || vote.round <= lock.round) return;
      const id = hexOf(vote.blockId.hash);
      if (id === '' || id === lock.id) return;
      for (let round = lock.round; round < vote.round; round++)
        if (isPolka(seen, vote.height, round, id)) return;
      report(
        `${at.name} precommitted ${lock.id.slice(0, 12)} at ${vote.height}/${lock.round} and prevotes ${nameOf(vote)} ` +
          `at round ${vote.round}, though no two thirds prevoted that in between`,
        at,
        vote.height,
      );
    };
    return {
      name: 'lock',
      effects: ['send'],
      leaving(at, _actor, effect) {
        if (effect.type !== 'send') return;
        for (const word of ownWords(at, effect.payloads)) {
          if (!('vote' in word)) continue;
          const { vote } = word;
          const seen = seenAt(vote.height);
          const key = `${vote.round}/${hexOf(vote.blockId.hash)}`;
          if (vote.type === PREVOTE) {
            if (about.isHonest(at)) judge(at, vote, seen);
            count(seen.prevotes, key, vote);
          } else if (vote.type === PRECOMMIT) {
            count(seen.precommits, key, vote);
            const lock = locks.get(at);
            const isNewer =
              !lock || lock.height < vote.height || (lock.height === vote.height && lock.round < vote.round);
            if (vote.blockId.hash.length > 0 && isNewer) {
              locks.set(at, { height: vote.height, round: vote.round, id: hexOf(vote.blockId.hash) });
            }
          }
        }
      },
    };
  };
