// What one node has of its height and may be asked for, and what its peers have shown of it: votes and proposals by their place in a round,
// parts of blocks by the root that they lead to.

import type { PeerId } from '../../actors/turn.ts';
import { hexOf } from '../../protocol/bytes.ts';
import { placeOfVote } from '../../protocol/lately.ts';
import type { ConsensusMessage } from '../../protocol/messages.ts';
import type { Proposal, Vote } from '../../protocol/types.ts';
import { rootOf } from './seen.ts';

/** What can be offered: a vote or the proposal of a round, which are numbers, or a part of a block. */
export type Thing = number | string;

/** More than there are votes in a round, of the largest set. */
const PER_ROUND = 131_072;
export const voteIn = (round: number, type: Vote['type'], validatorIndex: number): Thing =>
  round * PER_ROUND + placeOfVote({ type, validatorIndex });
export const thingOf = ({ round, type, validatorIndex }: Vote): Thing => voteIn(round, type, validatorIndex);
export const proposalOf = (round: number): Thing => (round + 1) * PER_ROUND - 1;
/** By the root of all parts, hex. */
export const partOf = (root: string, index: number): Thing => `${root}/${index}`;

export function nameOf(thing: Thing): string {
  if (typeof thing === 'string') return 'a part of the block';
  return thing % PER_ROUND === PER_ROUND - 1 ? 'the proposal' : 'votes';
}

export function thingIn(message: ConsensusMessage): Thing | null {
  if (message.type === 'vote') return thingOf(message.vote);
  if (message.type === 'proposal') return proposalOf(message.proposal.round);
  const root = message.type === 'block-part' ? rootOf(message.part) : null;
  return message.type === 'block-part' && root !== null ? partOf(root, message.part.index) : null;
}

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
  /** What it has shown, of the node's height and of those that it is ahead. */
  private readonly shown = new Map<number, Set<Thing>>();

  shows(height: bigint, thing: Thing): void {
    const number = Number(height);
    const things = this.shown.get(number);
    if (things) things.add(thing);
    else this.shown.set(number, new Set([thing]));
  }

  has(height: bigint, thing: Thing): boolean {
    return this.shown.get(Number(height))?.has(thing) === true;
  }

  /** The node is at this height now. */
  movedTo(height: bigint): void {
    if (this.sentNs.size > 0) this.sentNs.clear();
    if (this.shown.size > 0) for (const old of this.shown.keys()) if (old < height) this.shown.delete(old);
  }

  stands(height: bigint, round: number, nowNs: number): void {
    if (height === this.height && round === this.round) return;
    if (height !== this.height) {
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
  }
}

/** One node: what it surely has of its height in this life, since when, and its peers. */
export class Holder {
  height = 0n;
  /** Since when it tells its peers what it has; null: not yet, at this height. */
  tellsNs: number | null = null;
  readonly things = new Map<Thing, number>();
  /** The root of the parts of each round's first proposal. */
  readonly roots = new Map<number, string>();
  readonly peers = new Map<PeerId, Peer>();

  /** Its log brings back who has shown what to earlier lives. */
  startsLife(): void {
    this.forgets();
    for (const peer of this.peers.values()) peer.isLost();
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
    this.things.clear();
    this.roots.clear();
  }

  holds(thing: Thing, nowNs: number): void {
    if (!this.things.has(thing)) this.things.set(thing, nowNs);
  }

  holdsProposal({ round, blockId }: Proposal, nowNs: number): void {
    if (this.roots.has(round)) return;
    this.roots.set(round, hexOf(blockId.parts.hash));
    this.holds(proposalOf(round), nowNs);
  }

  /** One that nobody has proposed yet it may let fall. */
  holdsPart(root: string, index: number, nowNs: number): void {
    for (const each of this.roots.values()) if (each === root) return this.holds(partOf(root, index), nowNs);
  }

  /** Since when it is to be offered to who stands in this round; null: it is not. */
  owedSince(round: number, thing: Thing, sinceNs: number): number | null {
    if (typeof thing === 'number') return Math.floor(thing / PER_ROUND) === round ? sinceNs : null;
    const proposedNs = this.things.get(proposalOf(round));
    const isProposed = proposedNs !== undefined && thing.startsWith(this.roots.get(round) ?? '-');
    return isProposed ? Math.max(sinceNs, proposedNs) : null;
  }
}
