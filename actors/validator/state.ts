// What one validator actor owns: its chain, its consensus, its peers, its asks to other actors, and the effects of the turn under way.

import { History } from '../../machines/chain/history.ts';
import { Asking } from '../../machines/consensus/asking.ts';
import { Consensus } from '../../machines/consensus/consensus.ts';
import type { Finished } from '../../machines/consensus/gossip.ts';
import type { PeerView } from '../../machines/consensus/peer-view.ts';
import { Ticking } from '../../machines/consensus/ticking.ts';
import { EvidencePool } from '../../machines/evidence/pool.ts';
import { EvidenceTold } from '../../machines/evidence/telling.ts';
import type { AbciRequest, ResponseFinalizeBlock } from '../../protocol/abci.ts';
import type { ConsensusMessage } from '../../protocol/messages.ts';
import type { EvidenceFacts } from '../../protocol/rules/evidence.ts';
import type { Block, BlockId, ChainState, Commit, Evidence, TimeNs, VoteType } from '../../protocol/types.ts';
import {
  type Effect,
  type LocalMessage,
  type NodeEvent,
  type Payload,
  type PeerId,
  type Turn,
  tagAfter,
  type Which,
} from '../turn.ts';
import type { ValidatorConfig } from './config.ts';
import type { Followed } from './shared.ts';
import { type StepTimer, timerIdOf } from './timer-id.ts';

/** A decided block on its way into the state. */
export interface Execution {
  readonly id: BlockId;
  readonly block: Block;
  readonly round: number;
  readonly commit: Commit;
  /** Who gets to know when it is done. */
  readonly source: 'consensus' | 'sync' | 'handshake';
  /** What the application made of it; null: it has not answered. */
  answer: Answer | null;
}

/** An answer that the chain can follow, and where it leads. */
export interface Answer {
  readonly response: ResponseFinalizeBlock;
  readonly followed: Followed;
}

/** `voters`: the validators of the height before, whose votes the block carries. */
export type Read = 'block' | 'commit' | 'response' | 'voters';

/** Store and application on their way to one height. */
export interface Handshake {
  stage: 'info' | 'init-chain' | 'reading' | 'replaying' | 'committing' | 'applying' | 'done';
  appHeight: bigint;
  appHash: Uint8Array;
  /** What is being read for one height, and the answers so far. */
  read: {
    readonly height: bigint;
    /** The answers come in the order asked. */
    readonly due: Read[];
    readonly found: { [R in Read]?: Uint8Array };
  } | null;
  /** The seen commit of the last block, for the height after it. */
  lastCommit: Commit | null;
  response: ResponseFinalizeBlock | null;
  /** Of the block that the application executes again. */
  txs: number;
  whenDone: (v: ValidatorState) => void;
}

/** Of our past: what evidence needs and memory does not hold. */
export interface Missing {
  readonly what: 'block' | 'validators';
  readonly height: bigint;
}

/** What one turn, or a few in a row, may still read. */
export interface Budget {
  readonly blocks: number;
  readonly bytes: number;
}

/** Blocks that the application lets go of, on their way out of the store. */
export class Pruning {
  /** The first block that the application still wants. */
  retain = 0n;
  /** One read of a kind at a time. */
  isPruning = false;
  isForgetting = false;
  /** Nothing that outlived its block is older. */
  oldest: { readonly height: bigint; readonly timeNs: TimeNs } = { height: 0n, timeNs: 0n };
}

/** What an answer of the application is for. */
export type Ask =
  | { readonly for: 'handshake' }
  | { readonly for: 'prepare'; readonly height: bigint; readonly round: number }
  | { readonly for: 'process'; readonly height: bigint; readonly blockId: BlockId }
  | { readonly for: 'finalize' | 'commit' };

/** A proposal of ours in the making: its transactions reaped, then prepared. */
export interface Proposing {
  readonly height: bigint;
  readonly round: number;
  readonly evidence: readonly Evidence[];
  readonly bytesMax: bigint;
  /** What decided the height before, as our block will carry it: set when the transactions are here. */
  lastCommit: Commit | null;
}

/** Transactions of blocks, and the code with which each was executed (0: it succeeded). */
export interface Outcomes {
  readonly txs: readonly Uint8Array[];
  readonly codes: readonly number[];
}

/** Why something is read from the store. */
export type Reading =
  | { readonly for: 'handshake' }
  | { readonly for: 'recent-block'; readonly untold: Outcomes; readonly bytes: number }
  | {
      readonly for: 'recent-results';
      readonly height: bigint;
      readonly txs: readonly Uint8Array[];
      readonly untold: Outcomes;
      readonly bytes: number;
    }
  | { readonly for: 'peer'; readonly peer: PeerId; readonly height: bigint }
  | { readonly for: 'evidence'; readonly height: bigint; readonly isPast: boolean }
  | { readonly for: 'evidence-validators'; readonly height: bigint }
  | { readonly for: 'pruning'; readonly left: Budget }
  | { readonly for: 'forgetting' };

export type Mode = 'handshake' | 'sync' | 'consensus' | 'halted';

/** What was asked and not answered yet, by tag: a handful, so a list is faster than a map. */
class Pending<T> {
  private readonly open: { readonly tag: number; readonly what: T }[] = [];

  add(tag: number, what: T): void {
    this.open.push({ tag, what });
  }

  take(tag: number): T | undefined {
    const at = this.open.findIndex((each) => each.tag === tag);
    if (at < 0) return undefined;
    const { what } = this.open[at] as { what: T };
    const last = this.open.pop() as (typeof this.open)[number];
    if (at < this.open.length) this.open[at] = last;
    return what;
  }
}

/** A bad line may change a few messages of an envelope, so one that is wrong proves no malice; but each false signature costs as much to verify as a true one. */
const WRONG_PER_TURN_MAX = 8;

export class ValidatorState {
  readonly config: ValidatorConfig;
  readonly consensus: Consensus;
  readonly evidencePool = new EvidencePool();
  readonly history = new History();
  readonly views = new Map<PeerId, PeerView>();
  /** The last words of those who are no peers yet. */
  readonly early = new Map<PeerId, readonly Payload[]>();
  mode: Mode = 'handshake';
  chain: ChainState;
  /** Heights in the block store; 0, 0 when empty. */
  store = { base: 0n, height: 0n };
  handshake: Handshake | null = null;
  execution: Execution | null = null;
  proposing: Proposing | null = null;
  /** Answers that the mempool owes us: those to reaps of rounds that we have left come first. */
  reapsDue = 0;
  finished: Finished | null = null;
  /** Messages for the next height, heard while we finish this one. */
  future: { readonly peer: PeerId; readonly payload: Payload; readonly message: ConsensusMessage }[] = [];
  /** How much of it each peer sent. */
  readonly futureOf = new Map<PeerId, { messages: number; bytes: number }>();
  /** The log after the last ended height, replayed when consensus begins. */
  logTail: readonly Uint8Array[] = [];
  /** What the signer signed last, until consensus begins. */
  signedTail: readonly Uint8Array[] = [];
  isReplaying = false;
  /** What recovery would have said; asked of the signer once the log is replayed. */
  unsaid: { readonly type: VoteType; readonly round: number; readonly blockId: BlockId }[] = [];
  /** The round that it would have proposed in. */
  unproposed: number | null = null;
  /** A timer id per kind that runs now, so that a stale one is cancelled; null: none. */
  readonly timers = new Map<string, string | null>();
  readonly ticking = new Ticking();
  readonly asking = new Asking();
  startedNs = 0n;
  /** When the last height was decided, on the monotonic clock. */
  commitNs = 0n;
  /** Whether block sync applied anything in this life: then the log is not replayed (spec 5.12). */
  synced = false;
  /** The mempool said that it has transactions before consensus had begun: it says so once per height. */
  txsWaiting = false;
  /** A block of block sync whose evidence waits for a block of our own store. */
  fetched: { readonly height: bigint; readonly block: Uint8Array; readonly commit: Uint8Array } | null = null;
  /** Evidence of a peer that waits for something of our own store. */
  accusation: { readonly peer: PeerId; readonly evidence: Evidence; readonly waitsFor: Missing } | null =
    null;
  readonly evidenceTold = new EvidenceTold();
  readonly pruning = new Pruning();
  /** Of each peer that has said where it stands, whether that is behind us: so the mempool was told. */
  readonly laggards = new Map<PeerId, boolean>();

  turn!: Turn;
  private effects: Effect[] = [];
  private readonly asks = new Pending<Ask>();
  private readonly readings = new Pending<Reading>();
  private tag = 0;
  /** How much of what each peer said was wrong, in this turn. */
  private readonly scores = new Map<PeerId, number>();

  constructor(config: ValidatorConfig, chain: ChainState) {
    this.config = config;
    this.chain = chain;
    this.consensus = new Consensus(config.consensus, config.key?.address ?? null);
  }

  // --- effects of this turn ----------------------------------------------------------------------------------------

  begin(turn: Turn): void {
    this.turn = turn;
    this.effects = [];
    if (this.scores.size > 0) this.scores.clear();
  }

  end(): readonly Effect[] {
    return this.effects;
  }

  does(effect: Effect): void {
    this.effects.push(effect);
  }

  tell(to: string, message: LocalMessage): void {
    this.effects.push({ type: 'tell', to, message });
  }

  publish(event: NodeEvent): void {
    this.effects.push({ type: 'publish', event });
  }

  warn(what: string): void {
    this.publish({ type: 'warning', what });
  }

  score(peer: PeerId, because: string): void {
    this.scores.set(peer, (this.scores.get(peer) ?? 0) + 1);
    this.effects.push({ type: 'score', peer, because, drop: true });
  }

  /** More of what it said in this turn was wrong than a bad line explains: the rest is not looked at. */
  isGivenUp(peer: PeerId): boolean {
    return (this.scores.get(peer) ?? 0) >= WRONG_PER_TURN_MAX;
  }

  ask(ask: Ask, request: AbciRequest): void {
    const tag = this.nextTag();
    this.asks.add(tag, ask);
    this.tell('app', { type: 'request', from: 'validator', tag, request });
  }

  private nextTag(): number {
    this.tag = tagAfter(this.tag);
    return this.tag;
  }

  answered(tag: number): Ask | undefined {
    return this.asks.take(tag);
  }

  load(reading: Reading, from: Uint8Array, to: Uint8Array, limit: number, which: Which = 'first'): void {
    const tag = this.nextTag();
    this.readings.add(tag, reading);
    this.effects.push({ type: 'load', store: 'chain', from, to, limit, which, tag });
  }

  loaded(tag: number): Reading | undefined {
    return this.readings.take(tag);
  }

  /** Starts a timer of a kind, and cancels the one of the same kind that runs. */
  schedule(kind: string, id: string, afterNs: bigint): void {
    const running = this.timers.get(kind);
    if (running) this.effects.push({ type: 'cancel', timer: running });
    this.timers.set(kind, id);
    this.effects.push({ type: 'schedule', timer: id, afterNs });
  }

  /** Of the steps of a height one timer each runs. */
  scheduleStep(timer: StepTimer, afterNs: bigint): void {
    this.schedule(timer.step, timerIdOf(timer), afterNs);
  }

  cancel(kind: string): void {
    const running = this.timers.get(kind);
    if (!running) return;
    this.timers.set(kind, null);
    this.effects.push({ type: 'cancel', timer: running });
  }

  fired(kind: string): void {
    if (this.timers.get(kind)) this.timers.set(kind, null);
  }

  /** Stops taking part, loudly; what is stored stays for people to look at (spec 5.2, internal panic policy). */
  halt(what: string): void {
    this.mode = 'halted';
    for (const kind of [...this.timers.keys()]) this.cancel(kind);
    this.publish({ type: 'halted', what });
  }

  /** What we know of our own past, for evidence. */
  facts(): EvidenceFacts {
    const { history } = this;
    return {
      state: this.chain,
      heightLatest: this.chain.lastBlockHeight,
      header: (height) => history.header(height),
      commit: (height) => history.commit(height),
      validators: (height) => history.validators(height),
    };
  }
}
