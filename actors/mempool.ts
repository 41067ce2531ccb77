// The pool as an actor: asks the application about transactions, hands the validator what it reaps, and
// offers to peers what they miss.

import { sha256 } from '#platform';
import { PLAIN_RESULT } from '../machines/apps/base.ts';
import { BATCH_TXS_MAX, type MempoolConfig } from '../machines/mempool/config.ts';
import { CHAIN_BEGINS_MAX, Gossip } from '../machines/mempool/gossip.ts';
import { type Checking, Pool, type PoolRefusal, type PoolTx } from '../machines/mempool/pool.ts';
import { type AbciResponse, CHECK_TX_NEW, CHECK_TX_RECHECK, type ResponseCheckTx } from '../protocol/abci.ts';
import { Lately } from '../protocol/lately.ts';
import { CHANNEL_MEMPOOL } from '../protocol/messages.ts';
import { isRefusal, unreachable } from '../protocol/refusal.ts';
import { decodeMempoolMessage, encodeMempoolMessage } from '../protocol/wire/index.ts';
import { type MempoolMail, mempoolMail, type ValidatorMail } from './mail.ts';
import {
  type Effect,
  type Logic,
  NO_EFFECTS,
  NO_READS,
  type Payload,
  type PeerId,
  type Turn,
  tagAfter,
} from './turn.ts';

type Asked =
  | { readonly about: 'new'; readonly checking: Checking }
  | { readonly about: 'pooled'; readonly pooled: PoolTx };

export interface MempoolState {
  readonly pool: Pool;
  readonly gossip: Gossip;
  /** Questions to the application, by tag. */
  readonly asked: Map<number, Asked>;
  tagNext: number;
  /** The validator heard of this height's transactions. */
  isNotified: boolean;
  /** When the timer `gossip` will come; null: it is not set. */
  timerDueNs: bigint | null;
  /** What came before the application could be asked, in order; null: it can. */
  early: Early | null;
}

/** A transaction that came while the handshake runs. */
interface EarlyTx {
  readonly tx: Uint8Array;
  /** Empty: a user. */
  readonly from: PeerId;
}

interface Room {
  count: number;
  bytes: number;
}

/** All of them, in order, and how much of it is whose. */
interface Early {
  readonly came: EarlyTx[];
  readonly of: Map<PeerId, Room>;
  readonly ofPeers: Room;
}

/** More waits for no handshake, of users together and of each peer: a user is told so, and a peer offers it again. */
const EARLY_MAX = { count: 4_096, bytes: 8 * 1024 * 1024 };
const EARLY_OF_PEER_MAX = { count: 256, bytes: 1024 * 1024 };
/** Of all peers together: a stranger may come under one name after another. */
const EARLY_OF_PEERS_MAX = { count: 16_384, bytes: 64 * 1024 * 1024 };

const TIMER = 'gossip';
/** Nodes relay at different times: who is first spares the others most of their work. */
const RELAY_STEPS = 1024;
/** What `checked` says of a transaction that the pool refused without asking: no application gave a code. */
const CODE_REFUSED_BY_POOL = 1;
/** Stands in for the code that the application could not give. */
const CODE_FAILED = 1;

export function mempoolLogic(config: MempoolConfig): Logic<MempoolState, MempoolMail> {
  return {
    name: 'mempool',
    words: mempoolMail,
    reads: NO_READS,
    start: (_boot, turn) => ({
      state: {
        pool: new Pool(config),
        gossip: new Gossip(
          config,
          BigInt(turn.draw(RELAY_STEPS)) * (config.gossipPeriodNs / BigInt(RELAY_STEPS)),
        ),
        asked: new Map(),
        tagNext: 1,
        isNotified: false,
        timerDueNs: null,
        early: { came: [], of: new Map(), ofPeers: { count: 0, bytes: 0 } },
      },
      effects: NO_EFFECTS,
    }),
    receive: (state, message, turn) =>
      config.kind === 'nop' ? receiveAsNop(message) : new MempoolTurn(config, state, turn).receive(message),
    look: ({ pool }) => ({
      txs: pool.size,
      bytes: pool.sizeBytes,
      checking: pool.checking.size,
      height: pool.height,
    }),
  };
}

/** Spec 5.14: refuses every transaction and never has one. */
function receiveAsNop(message: MempoolMail): readonly Effect[] {
  if (message.type === 'reap') return [toValidator({ type: 'reaped', txs: [] })];
  if (message.type !== 'submit') return NO_EFFECTS;
  const because = 'not allowed with `nop` mempool';
  return [checked(sha256(message.tx), CODE_REFUSED_BY_POOL, because)];
}

const toValidator = (message: ValidatorMail): Effect => ({ type: 'tell', to: 'validator', message });

const checked = (hash: Uint8Array, code: number, because: string): Effect => ({
  type: 'publish',
  event: { type: 'checked', hash, code, because },
});

/** An application that fails at a transaction has refused it: the next one may be better. */
function resultOf(answer: AbciResponse): ResponseCheckTx {
  if (answer.type === 'check-tx') return answer.value;
  if (answer.type !== 'exception') return unreachable(`the application answered ${answer.type} to CheckTx`);
  return { ...PLAIN_RESULT, code: CODE_FAILED, log: `the application failed: ${answer.value.error}` };
}

/** More than anybody batches, and few enough to be looked at in a turn. */
const TXS_PER_MESSAGE_MAX = 4 * BATCH_TXS_MAX;
/** A transaction of one byte, with its tag and length. */
const FRAMED_MAX = 3;
const PADDING_MAX = 64 * 1024;

/** No batch of ours is longer, with all its frames; others may be, with fields that nobody knows, and are not remembered. */
const UNDERSTOOD_BYTES_MAX = 1024 * 1024 + 64 * 1024;
const understood = new Lately<Uint8Array, ReturnType<typeof decodeMempoolMessage>>(16);

/** Nodes of a process share what is sent to many, and so what it says. */
const messageOf = (bytes: Uint8Array): ReturnType<typeof decodeMempoolMessage> =>
  bytes.length > UNDERSTOOD_BYTES_MAX
    ? decodeMempoolMessage(bytes)
    : understood.of(bytes, decodeMempoolMessage);

const TOO_EARLY =
  'mempool is full: as much as may waits for the handshake with the application. Send it again later';

const hasRoom = (had: Room, tx: Uint8Array, most: Room): boolean =>
  had.count < most.count && had.bytes + tx.length <= most.bytes;

/** False: there is no room for it. */
function keep({ came, of, ofPeers }: Early, { tx, from }: EarlyTx): boolean {
  const had = of.get(from) ?? { count: 0, bytes: 0 };
  if (!hasRoom(had, tx, from === '' ? EARLY_MAX : EARLY_OF_PEER_MAX)) return false;
  if (from !== '' && !hasRoom(ofPeers, tx, EARLY_OF_PEERS_MAX)) return false;
  for (const each of from === '' ? [had] : [had, ofPeers]) {
    each.count++;
    each.bytes += tx.length;
  }
  of.set(from, had);
  // Of a peer's a copy: it would keep all that came with it.
  came.push({ from, tx: from === '' ? tx : tx.slice() });
  return true;
}

/** One turn: what was heard, and the effects so far. */
class MempoolTurn {
  private readonly config: MempoolConfig;
  private readonly state: MempoolState;
  private readonly turn: Turn;
  private readonly effects: Effect[] = [];

  constructor(config: MempoolConfig, state: MempoolState, turn: Turn) {
    this.config = config;
    this.state = state;
    this.turn = turn;
  }

  /** We know where the chain stands, and nobody can be behind there. */
  private get isBeginning(): boolean {
    const { early, pool } = this.state;
    return early === null && pool.height <= CHAIN_BEGINS_MAX;
  }

  receive(message: MempoolMail): readonly Effect[] {
    const { gossip, pool, early } = this.state;
    switch (message.type) {
      case 'submit':
        if (!early) this.onSubmit(message.tx);
        else if (!keep(early, { tx: message.tx, from: '' }))
          this.effects.push(checked(sha256(message.tx), CODE_REFUSED_BY_POOL, TOO_EARLY));
        break;
      case 'heard':
        for (const payload of message.payloads) if (!this.onPayload(message.peer, payload)) break;
        break;
      case 'opens':
        this.state.early = null;
        if (this.isBeginning) gossip.begins();
        for (const { tx, from } of early?.came ?? [])
          if (from === '') this.onSubmit(tx);
          else this.offered(from, tx, tx.length);
        break;
      case 'answer':
        this.onAnswer(message.tag, message.response);
        break;
      case 'reap': {
        const txs = pool.reap(message.bytesMax, message.gasMax);
        this.effects.push(toValidator({ type: 'reaped', txs }));
        return this.effects;
      }
      case 'committed':
        this.onCommitted(message);
        break;
      case 'peer-up':
        if (this.config.broadcast)
          gossip.peerUp(message.peer, pool.forgetPeer(message.peer), this.turn.monoNs, this.isBeginning);
        break;
      case 'peer-down':
        gossip.peerDown(message.peer, this.turn.monoNs);
        pool.forgetPeer(message.peer);
        break;
      case 'peer-height':
        gossip.peerAt(message.peer, message.height, this.turn.monoNs);
        break;
      case 'timer':
        this.state.timerDueNs = null;
        break;
      default:
        return unreachable(`mempool asked for no ${message.type}`);
    }
    this.offer();
    return this.effects;
  }

  private onSubmit(tx: Uint8Array): void {
    const checking = this.state.pool.admit(tx, null);
    if (!isRefusal(checking)) {
      this.ask(tx, CHECK_TX_NEW, { about: 'new', checking });
      return;
    }
    this.effects.push(checked(sha256(tx), CODE_REFUSED_BY_POOL, checking.because));
  }

  /** False: the peer is dropped, and with it the rest of its envelope. */
  private onPayload(peer: PeerId, { channel, bytes }: Payload): boolean {
    if (channel !== CHANNEL_MEMPOOL) return unreachable(`mempool owns no channel ${channel}`);
    const tooLong = this.tooLong(bytes);
    if (tooLong !== null) {
      this.effects.push({ type: 'score', peer, because: `mempool message: ${tooLong}`, drop: true });
      return false;
    }
    const message = messageOf(bytes);
    const because = isRefusal(message) ? message.because : this.faultOf(message.txs);
    if (isRefusal(message) || because !== null) {
      this.effects.push({ type: 'score', peer, because: `mempool message: ${because}`, drop: true });
      return false;
    }
    const { early } = this.state;
    for (const tx of message.txs)
      if (early) keep(early, { tx, from: peer });
      else this.offered(peer, tx, bytes.length);
    return true;
  }

  /** Refused: known already, or no room. Neither is the peer's fault, and it will be offered again. */
  private offered(peer: PeerId, tx: Uint8Array, cameIn: number): void {
    const { pool, gossip } = this.state;
    const checking = pool.admit(tx, peer, { isUp: gossip.isUp(peer), cameIn });
    if (!isRefusal(checking)) this.ask(checking.tx, CHECK_TX_NEW, { about: 'new', checking });
  }

  /** Of the transactions in a message, together: one may be larger than a batch. */
  private get bytesMax(): number {
    const { txBytesMax, batchBytesMax } = this.config;
    return Math.max(txBytesMax, batchBytesMax);
  }

  /** Null: it is worth reading. Read, it is many times as long as its bytes: transactions of a byte each take three. */
  private tooLong({ length }: Uint8Array): string | null {
    const most = FRAMED_MAX * this.bytesMax + PADDING_MAX;
    return length > most ? `${length} bytes, the maximum is ${most}` : null;
  }

  /** Null: the sizes are right (spec 3.2, mempool pre-filter). */
  private faultOf(txs: readonly Uint8Array[]): string | null {
    const { txBytesMax } = this.config;
    if (txs.length > TXS_PER_MESSAGE_MAX)
      return `${txs.length} transactions, the maximum is ${TXS_PER_MESSAGE_MAX}`;
    let bytes = 0;
    for (const { length } of txs) {
      if (length > txBytesMax) return `a transaction of ${length} bytes, the maximum is ${txBytesMax}`;
      bytes += length;
    }
    const { bytesMax } = this;
    return bytes > bytesMax ? `${bytes} bytes of transactions, the maximum is ${bytesMax}` : null;
  }

  private ask(tx: Uint8Array, type: number, asked: Asked): void {
    const tag = this.state.tagNext;
    this.state.tagNext = tagAfter(tag);
    this.state.asked.set(tag, asked);
    const request = { type: 'check-tx', value: { tx, type } } as const;
    this.effects.push({
      type: 'tell',
      to: 'app',
      message: { type: 'request', from: 'mempool', tag, request },
    });
  }

  private onAnswer(tag: number, answer: AbciResponse): void {
    const asked = this.state.asked.get(tag) ?? unreachable(`answer ${tag} to a question never asked`);
    this.state.asked.delete(tag);
    const response = resultOf(answer);
    if (asked.about === 'new') {
      this.onFirstCheck(asked.checking, response);
      return;
    }
    const verdict = this.state.pool.settleRecheck(asked.pooled, response);
    if (verdict === 'outdated') this.askAgain(asked.pooled);
    else if (verdict) this.say(asked.pooled.hash, verdict, response);
    else if (!asked.pooled.isGone) this.notify();
  }

  private onFirstCheck(checking: Checking, response: ResponseCheckTx): void {
    const { pool, gossip } = this.state;
    const entered = pool.settle(checking, response);
    if (isRefusal(entered)) {
      this.say(checking.hash, entered as PoolRefusal, response);
      return;
    }
    this.effects.push(checked(checking.hash, 0, ''));
    gossip.entered(entered, checking.isLocal, this.turn.monoNs);
    // CometBFT locks the pool from Commit to the recheck; we ask once more when a block came in between.
    if (checking.height < pool.height && this.config.recheck) this.recheck(entered);
    else this.notify();
  }

  private say(hash: Uint8Array, refusal: PoolRefusal, response: ResponseCheckTx): void {
    this.effects.push(checked(hash, response.code, refusal.because));
  }

  private recheck(pooled: PoolTx): void {
    if (this.state.pool.beginRecheck(pooled)) this.askAgain(pooled);
  }

  private askAgain(pooled: PoolTx): void {
    this.ask(pooled.tx, CHECK_TX_RECHECK, { about: 'pooled', pooled });
  }

  private onCommitted(message: Extract<MempoolMail, { type: 'committed' }>): void {
    const { gossip, pool } = this.state;
    pool.update(message.height, message.txs, message.codes, message);
    gossip.forgetGone();
    this.state.isNotified = false;
    if (pool.size === 0) return;
    if (this.config.recheck) for (const pooled of pool.txs.values()) this.recheck(pooled);
    else this.notify();
  }

  /** Something may be in the next block: the application accepts it after the last one (CometBFT tells when all rechecks are through, or a second has passed). */
  private notify(): void {
    if (!this.config.notifyTxs || this.state.isNotified) return;
    this.state.isNotified = true;
    this.effects.push(toValidator({ type: 'txs-available' }));
  }

  /** Sends what is due, and sets the timer for the rest. */
  private offer(): void {
    const { gossip, pool } = this.state;
    const { monoNs } = this.turn;
    if (pool.size === 0) gossip.clear();
    let dueNs = gossip.dueNs();
    if (dueNs !== null && dueNs <= monoNs) {
      for (const { to, txs } of gossip.take(monoNs)) {
        const bytes = encodeMempoolMessage({ type: 'txs', txs: txs.map(({ tx }) => tx) });
        this.effects.push({ type: 'send', to, payloads: [{ channel: CHANNEL_MEMPOOL, bytes }] });
      }
      dueNs = gossip.dueNs();
    }
    this.setTimer(dueNs);
  }

  private setTimer(dueNs: bigint | null): void {
    const { timerDueNs } = this.state;
    if (dueNs === timerDueNs) return;
    if (dueNs === null) this.effects.push({ type: 'cancel', timer: TIMER });
    else if (timerDueNs !== null && timerDueNs < dueNs)
      return; // it comes early and finds out
    else {
      const afterNs = dueNs > this.turn.monoNs ? dueNs - this.turn.monoNs : 0n;
      this.effects.push({ type: 'schedule', timer: TIMER, afterNs });
    }
    this.state.timerDueNs = dueNs;
  }
}
