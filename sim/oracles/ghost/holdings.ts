// What one node has of its height and may be asked for, and what its peers have shown of it: votes, proposals and polkas by their place in a
// round, parts of blocks by the set that they belong to.

import type { PeerId } from '../../../actors/turn.ts';
import { placeOfVote } from '../../../protocol/lately.ts';
import type { ConsensusMessage } from '../../../protocol/messages.ts';
import type { Proposal, Vote } from '../../../protocol/types.ts';
import { setOfPart, setOfParts } from './seen.ts';

/** What can be offered: a vote, the proposal or the polka of a round, which are numbers, or a part of a block. */
export type Thing = number | string;

/** More than there are votes in a round, of the largest set. */
const PER_ROUND = 131_072;
export const voteIn = (round: number, type: Vote['type'], validatorIndex: number): Thing =>
  round * PER_ROUND + placeOfVote({ type, validatorIndex });
export const thingOf = ({ round, type, validatorIndex }: Vote): Thing => voteIn(round, type, validatorIndex);
export const proposalOf = (round: number): Thing => (round + 1) * PER_ROUND - 1;
/** Two thirds of the prevotes of a round for one value: who saw them claims that. */
export const polkaOf = (round: number): Thing => (round + 1) * PER_ROUND - 2;
const isPolka = (thing: Thing): boolean => typeof thing === 'number' && thing % PER_ROUND === PER_ROUND - 2;
/** By the set of all parts. */
export const partOf = (set: string, index: number): Thing => `${set}/${index}`;
/** What a line changed on its way was a part that the sender has, of some block. */
export const SOME_SET = '*';
const setOf = (part: string): string => part.slice(0, part.lastIndexOf('/'));
const indexOf = (part: string): number => Number(part.slice(part.lastIndexOf('/') + 1));

/** Of other sets than these. */
function dropParts(things: Map<Thing, number>, kept: ReadonlySet<string>): void {
  for (const thing of things.keys())
    if (typeof thing === 'string' && !kept.has(setOf(thing))) things.delete(thing);
}

/** So much goes with one offer: of larger blocks and sets the rest waits for another, and a link that loses may make that last. */
const PARTS_OWED = 64;
const VOTES_END = 2 * 256;

/** Of a vote or a proposal; null: a part may be of several. */
export const roundOf = (thing: Thing): number | null =>
  typeof thing === 'number' ? Math.floor(thing / PER_ROUND) : null;

export function nameOf(thing: Thing): string {
  if (typeof thing === 'string') return 'a part of the block';
  if (isPolka(thing)) return 'the claim of a polka';
  return thing % PER_ROUND === PER_ROUND - 1 ? 'the proposal' : 'votes';
}

export function thingIn(message: ConsensusMessage): Thing | null {
  if (message.type === 'vote') return thingOf(message.vote);
  if (message.type === 'proposal') return proposalOf(message.proposal.round);
  const set = message.type === 'block-part' ? setOfPart(message.part) : null;
  return message.type === 'block-part' && set !== null ? partOf(set, message.part.index) : null;
}

/** After the first time: as a peer comes to the height, as the time comes to offer it again, as it asks while that is on its way, and twice more. */
export const SENT_FREELY = 5;

/** Who lies may show something of every height. */
const HEIGHTS_SHOWN_MAX = 64;

/** A peer as a node knows it, from what it said. */
export class Peer {
  /** Where it stands; 0: nobody knows. */
  height = 0n;
  round = 0;
  /** Since when it says so, and nothing else. */
  sinceNs = 0;
  /** When it said that to a node which was further, and when it said it again. */
  behindNs: number | null = null;
  againNs: number | null = null;
  /** When it was given a vote or a part of where it stands. */
  givenNs = 0;
  /** When it was sent something of the node's height. */
  readonly sentNs = new Map<Thing, number>();
  /** When it gave the node something of that height, while it stood there: the node knows that it has it. */
  readonly gaveNs = new Map<Thing, number>();
  /** When it was sent the same of that height, the last few times, by the node's clock; what it says in between begins that anew. */
  private readonly sends = new Map<Thing, number[]>();
  /** Envelopes that asked since something was sent to it last, and when the last of them came. */
  private asked = 0;
  private askedNs = 0;
  /** Since when it is greeted; null: it is not. */
  metNs: number | null = null;
  /** When it was told last where the node stands. */
  toldNs = 0;
  /** What it has shown, of the node's height and of those that it is ahead. */
  private readonly shown = new Map<number, Set<Thing>>();

  shows(height: bigint, thing: Thing): void {
    const number = Number(height);
    const things = this.shown.get(number);
    if (things) return void things.add(thing);
    this.shown.set(number, new Set([thing]));
    if (this.shown.size <= HEIGHTS_SHOWN_MAX) return;
    for (const oldest of this.shown.keys()) return void this.shown.delete(oldest);
  }

  has(height: bigint, thing: Thing): boolean {
    const shown = this.shown.get(Number(height));
    if (!shown) return false;
    return shown.has(thing) || (typeof thing === 'string' && shown.has(partOf(SOME_SET, indexOf(thing))));
  }

  /** The node is at this height now. */
  movedTo(height: bigint): void {
    if (this.sentNs.size > 0) this.sentNs.clear();
    this.beginsAnew();
    if (this.shown.size === 0) return;
    const number = Number(height);
    for (const old of this.shown.keys()) if (old < number) this.shown.delete(old);
  }

  /** It is sent this once more. Gives how often that is since when, by the node's clock; null: not too often. */
  isSent(thing: Thing, count: number): { readonly times: number; readonly sinceNs: number } | null {
    const times = this.sends.get(thing) ?? [];
    this.sends.set(thing, times);
    times.push(count);
    const freely = SENT_FREELY + Math.max(0, this.asked - 1);
    const first = times.length > freely ? times.shift() : undefined;
    return first === undefined ? null : { times: freely + 1, sinceNs: count - first };
  }

  stands(height: bigint, round: number, nowNs: number): void {
    if (height === this.height && round === this.round) return;
    this.asked = 0;
    this.sends.clear();
    if (height !== this.height) {
      this.beginsAnew();
      this.behindNs = null;
      this.againNs = null;
      this.givenNs = 0;
    }
    this.height = height;
    this.round = round;
    this.sinceNs = nowNs;
  }

  /** Before `againNs` have passed it has not said so again. */
  saysItIsBehind(nowNs: number, againNs: number): void {
    this.behindNs ??= nowNs;
    if (nowNs - this.behindNs > againNs) this.againNs ??= nowNs;
  }

  isLost(): void {
    this.height = 0n;
    this.beginsAnew();
  }

  /** It says what it has: what it gave may be sent to it. Each envelope that says so is answered, and when a line goes again several come at once. */
  asks(nowNs: number): void {
    const before = this.sends.size > 0 ? 0 : this.asked;
    const isSameEnvelope = nowNs === this.askedNs && before > 0;
    this.beginsAnew();
    this.asked = isSameEnvelope ? before : before + 1;
    this.askedNs = nowNs;
  }

  private beginsAnew(): void {
    this.asked = 0;
    if (this.gaveNs.size > 0) this.gaveNs.clear();
    if (this.sends.size > 0) this.sends.clear();
  }
}

/** One node: what it surely has of its height in this life, since when, and its peers. */
export class Holder {
  height = 0n;
  /** The round that it is in, and since when. */
  private round = 0;
  roundNs = 0;
  /** Since when it tells its peers what it has; null: not yet, at this height. */
  tellsNs: number | null = null;
  readonly things = new Map<Thing, number>();
  /** The parts of each round's first proposal. */
  readonly sets = new Map<number, string>();
  readonly peers = new Map<PeerId, Peer>();

  /** Its log brings back who has shown what to earlier lives. */
  startsLife(): void {
    this.forgets();
    for (const peer of this.peers.values()) {
      peer.isLost();
      peer.metNs = null;
    }
  }

  moveTo(height: bigint): void {
    if (height === this.height) return;
    this.height = height;
    this.forgets();
    for (const peer of this.peers.values()) peer.movedTo(height);
  }

  peerOf(id: PeerId): Peer {
    let peer = this.peers.get(id);
    if (!peer) {
      peer = new Peer();
      this.peers.set(id, peer);
    }
    return peer;
  }

  private forgets(): void {
    this.tellsNs = null;
    this.round = 0;
    if (this.things.size > 0) this.things.clear();
    if (this.sets.size > 0) this.sets.clear();
  }

  isIn(round: number, nowNs: number): void {
    if (round === this.round) return;
    this.round = round;
    this.roundNs = nowNs;
    // What only rounds before the last have proposed it may let go.
    for (const each of this.sets.keys()) if (each < round - 1) this.sets.delete(each);
    const kept = new Set(this.sets.values());
    dropParts(this.things, kept);
    for (const peer of this.peers.values()) dropParts(peer.gaveNs, kept);
  }

  holds(thing: Thing, nowNs: number): void {
    if (!this.things.has(thing)) this.things.set(thing, nowNs);
  }

  holdsProposal({ round, blockId }: Proposal, nowNs: number): void {
    if (round < this.round - 1 || this.sets.has(round)) return;
    this.sets.set(round, setOfParts(blockId.parts));
    this.holds(proposalOf(round), nowNs);
  }

  /** One that nobody has proposed yet it may let fall. */
  holdsPart(set: string, index: number, nowNs: number): void {
    for (const each of this.sets.values()) if (each === set) return this.holds(partOf(set, index), nowNs);
  }

  /**
   * Since when it is to be offered to who stands in this round; null: it is not. Who is rounds behind is to hear what is said in the node's own,
   * too: a third of that brings it there (L55).
   */
  owedSince(round: number, thing: Thing, sinceNs: number): number | null {
    if (isPolka(thing)) return this.polkaOwedSince(round, thing, sinceNs);
    const owedNs = this.owedIn(round, thing, sinceNs);
    if (owedNs !== null || round >= this.round) return owedNs;
    const ownNs = this.owedIn(this.round, thing, sinceNs);
    return ownNs === null ? null : Math.max(ownNs, this.roundNs);
  }

  /** That of the round under way, to who is in it. */
  private polkaOwedSince(round: number, polka: Thing, sinceNs: number): number | null {
    return round === this.round && polka === polkaOf(round) ? Math.max(sinceNs, this.roundNs) : null;
  }

  /** As one of this round. */
  owedIn(round: number, thing: Thing, sinceNs: number): number | null {
    if (typeof thing === 'number') {
      const place = thing - round * PER_ROUND;
      if (place < 0 || place >= PER_ROUND) return null;
      return place < VOTES_END || place === PER_ROUND - 1 ? sinceNs : null;
    }
    if (indexOf(thing) >= PARTS_OWED) return null;
    const proposedNs = this.things.get(proposalOf(round));
    const isProposed = proposedNs !== undefined && thing.startsWith(this.sets.get(round) ?? '-');
    return isProposed ? Math.max(sinceNs, proposedNs) : null;
  }
}
