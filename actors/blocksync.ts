// Block sync as an actor: fetches what the chain has beyond our store, block by block, and serves what our
// store has (spec 5.12).

import { blockKey, STORE_RANGE_KEY, type StoreRange, storeRange } from '../machines/chain/keys.ts';
import { blockResponseOf } from '../machines/sync/block-response.ts';
import type { SyncConfig } from '../machines/sync/config.ts';
import { SyncPool } from '../machines/sync/pool.ts';
import { type BlocksyncMessage, CHANNEL_BLOCKSYNC } from '../protocol/messages.ts';
import { isRefusal, type Refusal, unreachable } from '../protocol/refusal.ts';
import {
  decodeBlocksyncMessage,
  encodeBlock,
  encodeBlocksyncMessage,
  encodeCommit,
} from '../protocol/wire/index.ts';
import { decodeWords } from '../protocol/words.ts';
import { type BlocksyncMail, blocksyncMail, type ValidatorMail } from './mail.ts';
import {
  type Effect,
  type KeyValue,
  type Logic,
  NO_READS,
  type PeerId,
  type Turn,
  tagAfter,
} from './turn.ts';

/** Said of who is slow, dead or behind a bad line: it broke no rule. */
export const QUIET_PEER = 'blocks asked for do not come';
/** Said of who gave a wrong block, or a wrong commit for one: a height follows, and why. */
export const WRONG_BLOCK = 'block sync at height';

/** One connection of a peer: who comes back has asked for nothing yet. */
interface Connection {
  /** How many reads are under way for it. */
  loads: number;
}

export interface BlocksyncState {
  /** Greeted peers. */
  readonly peers: Map<PeerId, Connection>;
  /** The handshake is done, and the store is what we have. Others write it and let blocks go: how far it reaches is read each time. */
  isReady: boolean;
  /** Null: we only serve. */
  pool: SyncPool | null;
  /** Answers to requests of then may still come. */
  hasSynced: boolean;
  /** Our store had blocks when sync began: peers may have gone on without us. */
  hasBlocks: boolean;
  beginsAtNs: bigint;
  /** What is being read for peers, by tag: a block, or how far the store reaches. */
  readonly loads: Map<number, Load>;
  tagNext: number;
}

interface Load {
  readonly peer: PeerId;
  readonly connection: Connection;
  readonly height: bigint | 'status';
}

/** An honest peer has 20 requests open; more than twice that are not answered. */
const LOADS_PER_PEER_MAX = 50;

const BEGIN = 'begin';
const CHECK = 'check';
const STATUS = 'status';

export interface BlocksyncConfig extends SyncConfig {
  /** Whom this node is to connect to; nobody: whoever comes. */
  readonly peersKnown: readonly PeerId[];
}

export function blocksyncLogic(config: BlocksyncConfig): Logic<BlocksyncState, BlocksyncMail> {
  return {
    name: 'blocksync',
    words: blocksyncMail,
    reads: NO_READS,
    start: () => ({
      state: {
        peers: new Map(),
        isReady: false,
        pool: null,
        hasSynced: false,
        hasBlocks: false,
        beginsAtNs: 0n,
        loads: new Map(),
        tagNext: 1,
      },
      effects: [],
    }),
    receive: (state, message, turn) => new BlocksyncTurn(config, state, turn).receive(message),
    look: ({ pool }) => ({
      mode: pool ? 'sync' : 'serve',
      height: pool?.height ?? null,
      claimed: pool?.claimedHeight ?? null,
    }),
  };
}

/** Where nothing is stored both are 0, whatever height the chain begins at (CometBFT's BlockStore). */
const statusOf = ({ base, height }: StoreRange): BlocksyncMessage => ({
  type: 'status-response',
  height: base === 0n ? 0n : height,
  base,
});

/** Of what nobody asked for; all words but blocks are far shorter. */
const UNASKED_BYTES_MAX = 64 * 1024;

/** One turn: what was heard, and the effects so far. */
class BlocksyncTurn {
  private readonly config: BlocksyncConfig;
  private readonly state: BlocksyncState;
  private readonly nowNs: bigint;
  private readonly effects: Effect[] = [];

  constructor(config: BlocksyncConfig, state: BlocksyncState, turn: Turn) {
    this.config = config;
    this.state = state;
    this.nowNs = turn.monoNs;
  }

  receive(message: BlocksyncMail): readonly Effect[] {
    switch (message.type) {
      case 'heard':
        // Before the greeting nobody knows whose chain it talks about; it will be asked for its status then.
        if (!this.state.peers.has(message.peer)) break;
        for (const { channel, bytes } of message.payloads) {
          if (channel !== CHANNEL_BLOCKSYNC) return unreachable(`blocksync owns no channel ${channel}`);
          if (!this.onHeard(message.peer, bytes)) break;
        }
        break;
      case 'loaded':
        this.onLoaded(message.tag, message.found);
        break;
      case 'peer-up':
        this.onPeerUp(message.peer);
        break;
      case 'peer-down':
        this.state.peers.delete(message.peer);
        this.state.pool?.remove(message.peer);
        break;
      case 'sync-from':
        this.onSyncFrom(message);
        break;
      case 'block-applied':
        this.onApplied(message.height);
        break;
      case 'block-refused':
        this.onRefused(message.height, message.because);
        break;
      case 'timer':
        this.onTimer(message.timer);
        break;
      default:
        return unreachable(`blocksync asked for no ${message.type}`);
    }
    this.goOn();
    return this.effects;
  }

  private onSyncFrom({ height, base, sync }: Extract<BlocksyncMail, { type: 'sync-from' }>): void {
    const { state, config, nowNs } = this;
    state.isReady = true;
    state.hasBlocks = base > 0n;
    state.pool = sync ? new SyncPool(config, height, nowNs) : null;
    const peers = [...state.peers.keys()];
    this.send(peers, statusOf({ base, height: height - 1n }));
    if (!state.pool) return;
    state.hasSynced = true;
    state.beginsAtNs = nowNs + config.waitNs;
    this.askReports(state.pool, peers);
    this.schedule(BEGIN, config.waitNs);
    this.schedule(CHECK, config.checkNs);
    this.schedule(STATUS, config.statusNs);
  }

  private onPeerUp(peer: PeerId): void {
    if (this.state.peers.size === 0) this.state.pool?.beginPatience(this.nowNs);
    this.state.peers.set(peer, { loads: 0 });
    this.tellStatus(peer);
    if (this.state.pool) this.askReports(this.state.pool, [peer]);
  }

  private askReports(pool: SyncPool, peers: readonly PeerId[]): void {
    pool.asksReports(peers, this.nowNs);
    this.send(peers, { type: 'status-request' });
  }

  private onTimer(timer: string): void {
    const { state, config } = this;
    if (!state.pool) return; // it came due while we were told to stop
    if (timer === STATUS) {
      this.askReports(state.pool, [...state.peers.keys()]);
      this.schedule(STATUS, config.statusNs);
    } else if (timer === CHECK) {
      for (const peer of state.pool.removeQuiet(this.nowNs)) {
        this.score(peer, QUIET_PEER);
      }
      if (!this.stopIfCaughtUp(state.pool)) this.schedule(CHECK, config.checkNs);
    }
  }

  /** Requests and the next block for the validator follow from where we stand, whatever just happened. */
  private goOn(): void {
    const { pool, beginsAtNs } = this.state;
    if (!pool) return;
    if (this.nowNs < beginsAtNs) {
      if (!this.haveMostReported(pool)) return;
      // Where a chain begins the first look is soon enough: its first height waits for timeout_commit, and peers connect meanwhile.
      if (this.state.hasBlocks && this.stopIfCaughtUp(pool)) return;
    }
    for (const { peer, height } of pool.plan(this.nowNs))
      this.send([peer], { type: 'block-request', height });
    const next = pool.handOver();
    if (next) this.tellValidator({ type: 'block-fetched', ...next });
  }

  /** Then there is nothing to wait for: the wait is for peers to connect. */
  private haveMostReported(pool: SyncPool): boolean {
    const { peersKnown } = this.config;
    return peersKnown.filter((peer) => pool.hasReported(peer)).length * 2 > peersKnown.length;
  }

  private onApplied(height: bigint): void {
    const pool = this.state.pool ?? unreachable('a block was applied that nobody fetched');
    const liar = pool.applied(height, this.nowNs);
    if (liar !== null) this.score(liar, `${WRONG_BLOCK} ${height}: its half of a pair was wrong`);
    this.stopIfCaughtUp(pool);
  }

  private onRefused(height: bigint, because: string): void {
    const pool = this.state.pool ?? unreachable('a block was refused that nobody fetched');
    const liar = pool.refused(height, this.nowNs);
    if (liar !== null) this.score(liar, `${WRONG_BLOCK} ${height}: ${because}`);
  }

  private stopIfCaughtUp(pool: SyncPool): boolean {
    const isCaughtUp = pool.isCaughtUp();
    if (!isCaughtUp && !(this.state.peers.size > 0 && pool.isStalled(this.nowNs))) return false;
    if (!isCaughtUp) {
      const claims = `peers claim height ${pool.claimedHeight}, we wait for ${pool.height}`;
      const what = `block sync has not gained on the chain for a while (${claims}): joining consensus`;
      this.effects.push({ type: 'publish', event: { type: 'warning', what } });
    }
    this.state.pool = null;
    for (const timer of [BEGIN, CHECK, STATUS]) this.effects.push({ type: 'cancel', timer });
    this.tellValidator({ type: 'caught-up' });
    return true;
  }

  /** False: the peer is dropped, and with it the rest of its envelope. */
  private onHeard(peer: PeerId, bytes: Uint8Array): boolean {
    // Blocks alone are long, and read they are many times as long as their bytes (CometBFT FilterMsgBytes): of whom none is asked it is not read.
    if (bytes.length > UNASKED_BYTES_MAX && this.state.pool?.isAsked(peer) !== true) return true;
    const message = decodeBlocksyncMessage(bytes);
    if (isRefusal(message)) return this.score(peer, message.because);
    switch (message.type) {
      case 'block-request':
        this.onBlockRequest(peer, message.height);
        return true;
      case 'status-request':
        this.tellStatus(peer);
        return true;
      case 'status-response':
        this.state.pool?.range(peer, message.base, message.height, this.nowNs);
        return true;
      case 'no-block-response': {
        const { pool } = this.state;
        if (pool?.hasNot(peer, message.height, this.nowNs)) this.askReports(pool, [peer]);
        return true;
      }
      case 'block-response': {
        const refusal = this.refusalOfBlock(peer, message);
        return refusal ? this.score(peer, refusal.because) : true;
      }
    }
  }

  private refusalOfBlock(
    peer: PeerId,
    message: Extract<BlocksyncMessage, { type: 'block-response' }>,
  ): Refusal | null {
    const { pool, hasSynced } = this.state;
    const { block, extendedCommit } = message;
    if (!pool) return hasSynced ? null : { refused: 'unsolicited-block', because: 'we are not syncing' };
    const { height } = block.header;
    if (extendedCommit && extendedCommit.height !== height) {
      const because = `block height ${height} != extCommit height ${extendedCommit.height}`;
      return { refused: 'extended-commit', because };
    }
    const lastCommit = encodeCommit(
      block.lastCommit ?? unreachable('a block is decoded with its last commit'),
    );
    const fetched = { from: peer, bytes: encodeBlock(block), lastCommit, timeNs: block.header.timeNs };
    return pool.gave(peer, height, fetched, this.nowNs);
  }

  private onBlockRequest(peer: PeerId, height: bigint): void {
    if (!this.state.isReady) return; // it will ask again
    if (height < 1n) this.send([peer], { type: 'no-block-response', height });
    else this.load(peer, height, blockKey(height), blockKey(height + 1n));
  }

  /** Where our store reaches. */
  private tellStatus(peer: PeerId): void {
    if (this.state.isReady) this.load(peer, 'status', STORE_RANGE_KEY, Uint8Array.of(...STORE_RANGE_KEY, 0));
  }

  private load(peer: PeerId, height: bigint | 'status', from: Uint8Array, to: Uint8Array): void {
    const { peers, loads } = this.state;
    const connection = peers.get(peer);
    if (!connection || connection.loads >= LOADS_PER_PEER_MAX) return; // it will ask again
    const tag = this.state.tagNext;
    this.state.tagNext = tagAfter(tag);
    loads.set(tag, { peer, connection, height });
    connection.loads++;
    this.effects.push({ type: 'load', store: 'chain', from, to, limit: 1, which: 'first', tag });
  }

  private onLoaded(tag: number, found: readonly KeyValue[]): void {
    const { peers, loads } = this.state;
    const load = loads.get(tag) ?? unreachable(`loaded ${tag} was never asked for`);
    loads.delete(tag);
    const { peer, connection, height } = load;
    if (peers.get(peer) !== connection) return; // gone in the meantime: if it is back, it has not asked
    connection.loads--;
    const value = found[0]?.value;
    if (height === 'status') {
      const range = value ? decodeWords(storeRange, value) : { base: 0n, height: 0n };
      this.send([peer], statusOf(range ?? unreachable('our own store does not decode')));
    } else if (!value) this.send([peer], { type: 'no-block-response', height });
    else this.sendBytes([peer], blockResponseOf(value));
  }

  private send(to: readonly PeerId[], message: BlocksyncMessage): void {
    if (to.length > 0) this.sendBytes(to, encodeBlocksyncMessage(message));
  }

  private sendBytes(to: readonly PeerId[], bytes: Uint8Array): void {
    this.effects.push({ type: 'send', to, payloads: [{ channel: CHANNEL_BLOCKSYNC, bytes }] });
  }

  private tellValidator(message: ValidatorMail): void {
    this.effects.push({ type: 'tell', to: 'validator', message });
  }

  private schedule(timer: string, afterNs: bigint): void {
    this.effects.push({ type: 'schedule', timer, afterNs });
  }

  /** Always false: who calls it is done with this peer. */
  private score(peer: PeerId, because: string): false {
    this.state.pool?.remove(peer);
    this.effects.push({ type: 'score', peer, because, drop: true });
    return false;
  }
}
