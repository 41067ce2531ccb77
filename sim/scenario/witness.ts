// Sees what happens in a world and says it in the words of plays: who locks, prevotes, decides, punishes; and
// which block is which.

import type { Effect, NodeEvent, PeerId } from '../../actors/turn.ts';
import { equalBytes, hexOf } from '../../protocol/bytes.ts';
import { evidenceListHash } from '../../protocol/hashes.ts';
import { isRefusal } from '../../protocol/refusal.ts';
import { type Block, type BlockId, EMPTY_BYTES, type Evidence } from '../../protocol/types.ts';
import { decodeBlock } from '../../protocol/wire/index.ts';
import { hexFor } from '../addresses.ts';
import type { Machine } from '../machine.ts';
import type { Oracle } from '../oracle.ts';
import { CHANNEL_DATA, PREVOTE } from '../oracles/canonical/numbers.ts';
import { ownVote } from '../oracles/ghost/about-votes.ts';
import type { GhostChain } from '../oracles/ghost/ghost.ts';
import { consensusMessage } from '../oracles/ghost/messages.ts';
import { PerMachine } from '../oracles/ghost/per-machine.ts';
import type { BlockNumber, Condition, Deed, StateOf } from './play.ts';
import { STEP_NAMES } from './play.ts';

export interface Happening {
  readonly node: Machine;
  readonly does: Deed;
  readonly height: bigint;
  readonly round: number;
  /** Hash of the block it is about; empty: nil; null: about no block. */
  readonly hash: Uint8Array | null;
  readonly step: number;
  /** Hex address of who is punished; name of who is dropped. */
  readonly against: string;
  /** Of evidence, where somebody is punished. */
  readonly pieces: number;
  /** Why it is dropped, or halts. */
  readonly because: string;
  /** The node itself did not say it: its liar did. */
  readonly isLie: boolean;
}

/** Heights whose proposals are remembered by number: who is further behind than that decides blocks that have none. */
const HEIGHTS_REMEMBERED = 64n;
const BLOCK_FAMILY = 'b'.charCodeAt(0);
const BLOCK_KEY_BYTES = 9;

/** Heights whose votes are told apart from their repetition: stragglers are told again what was said long ago. */
const HEIGHTS_SAID = 64n;

/** What one node has said, of its last heights. */
class Said {
  private height = 0n;
  private readonly byHeight = new Map<bigint, Set<string>>();

  isFirst(height: bigint, what: string): boolean {
    if (height > this.height) {
      this.height = height;
      for (const old of this.byHeight.keys()) if (old + HEIGHTS_SAID <= height) this.byHeight.delete(old);
    }
    if (height + HEIGHTS_SAID <= this.height) return false;
    const said = this.byHeight.get(height) ?? new Set();
    this.byHeight.set(height, said);
    if (said.has(what)) return false;
    said.add(what);
    return true;
  }
}

interface Lock {
  readonly height: bigint;
  readonly hash: Uint8Array;
}

export class Witness {
  /** Told of every happening, in order. */
  readonly listeners: ((happening: Happening) => void)[] = [];
  /** Told when a state may have become another one, and nothing happened that a play can name. */
  readonly quietly: (() => void)[] = [];
  /** Votes and proposals are looked into only when somebody asks: it costs a tenth of a run. */
  private readonly needsWords: boolean;
  private readonly ghost: GhostChain;
  private readonly proposals = new Map<bigint, { readonly id: BlockId; readonly round: number }[]>();
  private readonly said = new PerMachine(() => new Said());
  private readonly locks = new Map<Machine, Lock>();
  private readonly punished = new Map<Machine, Set<string>>();
  private heightMax: bigint;
  /** The block that was stored last: most nodes store the same. */
  private storedLast = EMPTY_BYTES;
  /** The same, if there is evidence in it. */
  private accuses: Block | null = null;
  /** Whether a link of this machine is cut: the network's to say. */
  isCutOff: (machine: Machine) => boolean = () => false;
  /** What plays call a peer: the world's to say. */
  nameOfPeer: (peer: PeerId) => string = (peer) => peer;
  /** What leaves now is what liars made of it. */
  hearsLies = false;

  constructor(ghost: GhostChain, needsWords: boolean) {
    this.ghost = ghost;
    this.heightMax = ghost.genesis.initialHeight - 1n;
    this.needsWords = needsWords;
  }

  /** Watches as an oracle does, and never complains. */
  asOracle(): Oracle {
    return {
      name: 'witness',
      effects: ['store', 'score', 'send'],
      events: ['step', 'locked', 'valid', 'committed', 'mode', 'halted'],
      published: (at, _actor, event) => this.published(at, event),
      ...(this.needsWords && { leaving: (at, _actor, effect) => this.leaving(at, effect) }),
      started: (at) => this.tell(at, 'starts', at.height, 0),
      crashed: (at) => {
        this.locks.delete(at);
        this.tell(at, 'crashes', at.height, at.round);
      },
    };
  }

  private tell(
    node: Machine,
    does: Deed,
    height: bigint,
    round: number,
    more: { hash?: Uint8Array; step?: number; against?: string; pieces?: number; because?: string } = {},
  ): void {
    if (this.listeners.length === 0) return;
    const { hash = null, step = 0, against = '', pieces = 0, because = '' } = more;
    const isLie = this.hearsLies;
    const happening = { node, does, height, round, hash, step, against, pieces, because, isLie };
    for (const listener of this.listeners) listener(happening);
  }

  private published(at: Machine, event: NodeEvent): void {
    switch (event.type) {
      case 'step':
        return this.tell(at, 'enters', event.height, event.round, { step: event.step });
      case 'locked':
        this.locks.set(at, { height: event.height, hash: event.hash });
        return this.tell(at, 'locks', event.height, event.round, { hash: event.hash });
      case 'valid':
        return this.tell(at, 'values', event.height, event.round, { hash: event.hash });
      case 'committed':
        if (event.height > this.heightMax) this.heightMax = event.height;
        this.proposals.delete(event.height - HEIGHTS_REMEMBERED);
        return this.tell(at, 'decides', event.height, event.round, { hash: event.hash });
      case 'mode':
        if (event.mode === 'consensus') this.tell(at, 'joins', at.height, 0);
        else for (const changed of this.quietly) changed();
        return;
      case 'halted':
        return this.tell(at, 'halts', at.height, at.round, { because: event.what });
      default:
    }
  }

  private leaving(at: Machine, effect: Effect): void {
    if (effect.type === 'store' && effect.store === 'chain') this.storing(at, effect);
    if (effect.type === 'score' && effect.drop) {
      const { peer, because } = effect;
      this.tell(at, 'drops', at.height, at.round, { against: this.nameOfPeer(peer), because });
    }
    if (effect.type !== 'send') return;
    for (const payload of effect.payloads) {
      const vote = ownVote(at, payload);
      if (vote) {
        const does = vote.type === PREVOTE ? 'prevotes' : 'precommits';
        if (!this.said.of(at).isFirst(vote.height, `${vote.round}/${vote.type}/${hexOf(vote.blockId.hash)}`))
          continue;
        this.tell(at, does, vote.height, vote.round, { hash: vote.blockId.hash });
      } else if (payload.channel === CHANNEL_DATA) {
        const message = consensusMessage(payload);
        if (message?.type !== 'proposal') continue;
        const { proposal } = message;
        this.propose(proposal.height, proposal.round, proposal.blockId);
        // Gossip repeats the proposals of others: only its own turn counts.
        if (!this.isProposer(at, proposal.height, proposal.round)) continue;
        if (!this.said.of(at).isFirst(proposal.height, `${proposal.round}/${hexOf(proposal.blockId.hash)}`))
          continue;
        this.tell(at, 'proposes', proposal.height, proposal.round, { hash: proposal.blockId.hash });
      }
    }
  }

  private isProposer(at: Machine, height: bigint, round: number): boolean {
    return this.ghost.set(height)?.atRound(round) === hexFor(at);
  }

  private storing(at: Machine, effect: Extract<Effect, { type: 'store' }>): void {
    for (const { key, value } of effect.writes) {
      if (key[0] !== BLOCK_FAMILY || key.length !== BLOCK_KEY_BYTES || value.length === 0) continue;
      if (!equalBytes(value, this.storedLast)) {
        const block = decodeBlock(value);
        this.storedLast = value;
        this.accuses = isRefusal(block) || block.evidence.length === 0 ? null : block;
      }
      if (this.accuses) this.punish(at, this.accuses.header.height, this.accuses.evidence);
    }
  }

  /** Each of the accused once, however much the block has against it. */
  private punish(at: Machine, height: bigint, list: readonly Evidence[]): void {
    let known = this.punished.get(at);
    if (!known) {
      known = new Set();
      this.punished.set(at, known);
    }
    const accused = new Map<string, number>();
    for (const evidence of list) {
      const id = hexOf(evidenceListHash([evidence]));
      if (known.has(id)) continue;
      known.add(id);
      for (const against of accusedBy(evidence)) accused.set(against, (accused.get(against) ?? 0) + 1);
    }
    for (const [against, pieces] of accused) this.tell(at, 'punishes', height, 0, { against, pieces });
  }

  private propose(height: bigint, round: number, id: BlockId): void {
    let list = this.proposals.get(height);
    if (!list) {
      list = [];
      this.proposals.set(height, list);
    }
    if (!list.some((each) => each.round === round && equalBytes(each.id.hash, id.hash)))
      list.push({ id, round });
  }

  /** All that was proposed in this round, first one first. */
  proposedAt(height: bigint, round: number): readonly BlockId[] {
    return (this.proposals.get(height) ?? []).filter((each) => each.round === round).map(({ id }) => id);
  }

  /** Counted from 1; 0: nobody has proposed it. */
  numberOf(height: bigint, hash: Uint8Array): number {
    const seen: string[] = [];
    for (const { id } of this.proposals.get(height) ?? []) {
      const name = hexOf(id.hash);
      if (!seen.includes(name)) seen.push(name);
    }
    return seen.indexOf(hexOf(hash)) + 1;
  }

  private isBlock(number: BlockNumber, height: bigint, hash: Uint8Array | null): boolean {
    if (hash === null) return false;
    return number === 'nil' ? hash.length === 0 : hash.length > 0 && this.numberOf(height, hash) === number;
  }

  /** `who` apart: the caller knows what anyone and everyone mean. */
  matches(happening: Happening, condition: Condition, addressByName: (name: string) => string): boolean {
    const { does, height, round, block, step, against, because } = condition;
    if (happening.does !== does) return false;
    if (height !== undefined) {
      const isThere =
        does === 'decides' ? happening.height >= BigInt(height) : happening.height === BigInt(height);
      if (!isThere) return false;
    }
    if (round !== undefined && happening.round !== round) return false;
    if (step !== undefined && happening.step !== STEP_NAMES[step]) return false;
    const accused = against !== undefined && does !== 'drops' ? addressByName(against) : against;
    if (accused !== undefined && happening.against !== accused) return false;
    if (because !== undefined && !happening.because.includes(because)) return false;
    return block === undefined || this.isBlock(block, happening.height, happening.hash);
  }

  /** In the set of two heights ahead, which holds all that has been decided so far. */
  private powerOf(machine: Machine): bigint {
    const set = this.ghost.set(this.heightMax + 2n) ?? this.ghost.set(this.heightMax + 1n);
    return set?.powerOf(hexFor(machine)) ?? 0n;
  }

  isSo(state: StateOf, machine: Machine): boolean {
    switch (state.is) {
      case 'up':
        return machine.isUp;
      case 'down':
        return !machine.isUp && machine.lives > 0; // before its first life it is not there at all
      case 'syncing':
        return machine.mode === 'sync';
      case 'in-consensus':
        return machine.mode === 'consensus';
      case 'cut-off':
        return this.isCutOff(machine);
      case 'halted':
        return machine.halted !== null;
      case 'of-power':
        return this.powerOf(machine) === BigInt(state.power);
      case 'weaker-than':
        return this.powerOf(machine) < BigInt(state.power);
      case 'locked-on': {
        const lock = this.locks.get(machine);
        if (!lock || lock.height !== machine.height + 1n) return false;
        return this.isBlock(state.block, lock.height, lock.hash);
      }
    }
  }
}

/** Their addresses. */
const accusedBy = (evidence: Evidence): string[] =>
  evidence.kind === 'duplicate-vote'
    ? [hexOf(evidence.voteA.validatorAddress)]
    : evidence.byzantineValidators.map(({ address }) => hexOf(address));
