// What happened in a run, as data for those who look at it afterwards: what nodes did, what the play did to them, and which proposals,
// parts and votes reached whom when. Of each node, the last heights that it worked on.

import type { Payload } from '../actors/turn.ts';
import { hexOf } from '../protocol/bytes.ts';
import { PREVOTE, type Vote } from '../protocol/types.ts';
import { hexFor } from './addresses.ts';
import type { Machine } from './machine.ts';
import { type GhostChain, type GhostSet, isTrueVote } from './oracles/ghost/ghost.ts';
import { consensusMessage, isOfConsensus } from './oracles/ghost/messages.ts';
import { runScenario } from './run.ts';
import type { RunOptions } from './run-options.ts';
import type { Action, Deed, LiarWords, NodeName, Play } from './scenario/play.ts';
import type { Happening } from './scenario/witness.ts';
import { lineOf } from './story.ts';
import type { Backstage, Verdict } from './verdict.ts';
import type { World } from './world.ts';

/** What a message of consensus is, as message rules call it. */
export type WordKind = 'proposals' | 'parts' | 'prevotes' | 'precommits';

/** A proposal, a part or a vote that reached a node for the first time. */
export interface Heard {
  readonly atNs: number;
  readonly to: NodeName;
  readonly kind: WordKind;
  readonly height: number;
  readonly round: number;
  /** Whose vote; empty: no vote. */
  readonly by: NodeName | '';
  /** Hash of the block that a vote is for, empty for nil; of a proposal's block; a part's number. */
  readonly about: string;
}

/** Something that a node did. */
export interface Deeds {
  readonly atNs: number;
  readonly node: NodeName;
  readonly does: Deed;
  readonly height: number;
  readonly round: number;
  /** Hash of the block, empty for nil; null: it is about no block. */
  readonly about: string | null;
  readonly step: number;
  /** In the words of stories; null: not worth a line. */
  readonly line: string | null;
}

export interface Performed {
  readonly atNs: number;
  readonly action: Action;
}

const HEIGHTS_KEPT = 8;

export class Chronicle {
  heard: Heard[] = [];
  deeds: Deeds[] = [];
  readonly performed: Performed[] = [];
  names: readonly NodeName[] = [];
  /** Of the validators of the genesis, in order. */
  powers: readonly bigint[] = [];
  liars: readonly LiarWords[] = [];
  private world: World | null = null;
  private ghost: GhostChain | null = null;
  private readonly nameByAddress = new Map<string, NodeName>();
  private readonly nameByPeer = new Map<string, NodeName>();
  private readonly known = new Set<string>();
  /** Up to which height nothing is kept, by node. */
  private readonly forgotten = new Map<NodeName, number>();

  /** Takes its place before the run begins. */
  readonly begin = ({ play, world, ghost, stage, witness }: Backstage): void => {
    this.liars = play.liars;
    this.powers = world.machines.map(({ member }) => member.power).filter((power) => power > 0n);
    this.world = world;
    this.ghost = ghost;
    this.names = world.machines.map(({ name }) => name as NodeName);
    for (const machine of world.machines) {
      const name = machine.name as NodeName;
      this.nameByPeer.set(machine.member.id, name);
      if (machine.member.publicKey) this.nameByAddress.set(hexFor(machine), name);
    }
    world.network.carrier.arrivals.push((_from, to, payloads) => this.arrived(to, payloads));
    stage.watchers.push({ acts: (action) => this.act(action) });
    witness.listeners.push((happening) => this.see(happening));
  };

  /** The machines as the run left them. */
  get machines(): readonly Machine[] {
    return this.world?.machines ?? [];
  }

  /** The validators of a height, while it is remembered. */
  set(height: number): GhostSet | undefined {
    return this.ghost?.set(BigInt(height));
  }

  nameOf(address: string): NodeName | '' {
    return this.nameByAddress.get(address) ?? '';
  }

  private get now(): number {
    return this.world?.agenda.now ?? 0;
  }

  private act(action: Action): void {
    this.performed.push({ atNs: this.now, action });
  }

  private see(happening: Happening): void {
    const { node, does, round, hash, step } = happening;
    const height = Number(happening.height);
    const about = hash && hexOf(hash);
    this.deeds.push({
      atNs: this.now,
      node: node.name as NodeName,
      does,
      height,
      round,
      about,
      step,
      line: lineOf(happening, (address) => this.nameOf(address) || null),
    });
    if (does === 'decides') this.forget(node.name as NodeName, height - HEIGHTS_KEPT);
  }

  /** In one go for many heights: it looks at everything. */
  private forget(node: NodeName, height: number): void {
    if (height < (this.forgotten.get(node) ?? 0) + HEIGHTS_KEPT) return;
    this.forgotten.set(node, height);
    this.heard = this.heard.filter((each) => each.to !== node || each.height > height);
    this.deeds = this.deeds.filter((each) => each.node !== node || each.height > height);
    this.known.clear();
    for (const each of this.heard) this.known.add(keyOf(each));
  }

  private arrived(peer: string, payloads: readonly Payload[]): void {
    const to = this.nameByPeer.get(peer);
    if (to === undefined) return;
    for (const payload of payloads) {
      if (!isOfConsensus(payload.channel)) continue;
      const word = this.wordOf(payload);
      if (!word || word.height <= (this.forgotten.get(to) ?? 0)) continue;
      const heard: Heard = { atNs: this.now, to, ...word };
      const key = keyOf(heard);
      if (this.known.has(key)) continue;
      this.known.add(key);
      this.heard.push(heard);
    }
  }

  /** Anybody may put a name on a vote. */
  private isTrue(vote: Vote): boolean {
    const set = this.set(Number(vote.height));
    return set !== undefined && this.world !== null && isTrueVote(this.world, set, vote);
  }

  private wordOf(payload: Payload): Omit<Heard, 'atNs' | 'to'> | null {
    const message = consensusMessage(payload);
    if (message?.type === 'vote') {
      const { type, height, round, validatorAddress, blockId } = message.vote;
      const kind = type === PREVOTE ? 'prevotes' : 'precommits';
      const by = this.isTrue(message.vote) ? this.nameOf(hexOf(validatorAddress)) : '';
      return { kind, height: Number(height), round, by, about: hexOf(blockId.hash) };
    }
    if (message?.type === 'proposal') {
      const { height, round, blockId } = message.proposal;
      return { kind: 'proposals', height: Number(height), round, by: '', about: hexOf(blockId.hash) };
    }
    if (message?.type !== 'block-part') return null;
    const { height, round, part } = message;
    return { kind: 'parts', height: Number(height), round, by: '', about: String(part.index) };
  }
}

const keyOf = ({ to, kind, height, round, by, about }: Heard): string =>
  `${to} ${kind} ${height} ${round} ${by} ${about}`;

/** Performs a play, and writes down what happens. */
export function chronicled(
  play: Play,
  options: Omit<RunOptions, 'watch' | 'onWorld'>,
): { readonly verdict: Verdict; readonly chronicle: Chronicle } {
  const chronicle = new Chronicle();
  const verdict = runScenario(play, {
    ...options,
    watch: { backstage: chronicle.begin },
  });
  return { verdict, chronicle };
}
