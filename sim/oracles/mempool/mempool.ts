// What a mempool owes. No loss: what a node has accepted and not lost with its memory is in the next block
// that it proposes, if nobody was faster. And nothing else: peers are given only what the application accepts, the proposer that, oldest
// first, asked about again after the last block, and no more than there is room for.

import type { AppMail, MempoolMail, ValidatorMail } from '../../../actors/mail.ts';
import type { Payload } from '../../../actors/turn.ts';
import type { RequestCheckTx } from '../../../protocol/abci.ts';
import { byteKey, hexOf } from '../../../protocol/bytes.ts';
import { txHash } from '../../../protocol/hashes.ts';
import type { Block } from '../../../protocol/types.ts';
import { machinesByAddress } from '../../addresses.ts';
import type { Machine } from '../../machine.ts';
import type { Oracle, OracleMaker, Report, WorldAbout } from '../../oracle.ts';
import { CHANNEL_MEMPOOL, CHECK_TX_NEW } from '../canonical/numbers.ts';
import {
  boundAt,
  fieldBytes,
  gasAt,
  isTooDear,
  mayBeTooDear,
  mayRefuseSize,
  proposerRoomAt,
  roomAt,
} from '../chain/room.ts';
import { type Choice, Chosen } from '../ghost/chosen.ts';
import type { GhostChain } from '../ghost/ghost.ts';
import { txsIn } from '../ghost/messages.ts';
import { HOP_NS } from '../ghost/pace.ts';
import { PerMachine } from '../ghost/per-machine.ts';
import { Answered } from './answered.ts';
import { type Accepted, idOf, isOpen, Pool } from './pool.ts';

/** Fuller blocks than this may rightly leave something out. */
const BLOCK_BYTES_JUDGED = 500_000;
/** As many as a restarted node reminds its pool of. */
const BLOCKS_REMEMBERED = 64;

/** Around a transaction: a tag and its length. */
const FIELD_BYTES_MAX = 6;

export const mempoolOracle =
  (ghost: GhostChain): OracleMaker =>
  (report, about): Oracle => {
    const watch = new Watch(ghost, report, about);
    ghost.onBlock.push((_at, block) => watch.decides(block));
    return {
      name: 'mempool',
      effects: ['send', 'tell'],
      events: ['checked', 'committed', 'mode'],
      started: (at) => watch.starts(at),
      submitted: (at, tx) => watch.given(at, tx),
      published(at, _actor, event) {
        if (event.type === 'committed') watch.hasAnswered(at);
        else if (event.type === 'mode' && event.mode !== 'handshake') watch.opens(at);
        if (event.type !== 'checked') return;
        watch.answers(at, event.hash);
        if (event.code === 0) watch.takesAny(at, 'takes a transaction');
        if (event.code === 0 && event.because !== '') watch.refuses(at, event.hash, event.because);
        else watch.says(at, event.hash, event.code === 0);
      },
      leaving(at, _actor, effect) {
        if (!about.isHonest(at)) return;
        if (effect.type === 'tell') watch.hears(at, effect.message as AppMail | MempoolMail | ValidatorMail);
        else if (effect.type === 'send')
          for (const payload of effect.payloads)
            if (payload.channel === CHANNEL_MEMPOOL) watch.offers(at, payload);
      },
    };
  };

class Watch {
  private readonly ghost: GhostChain;
  private readonly report: Report;
  private readonly about: WorldAbout;
  private readonly byAddress: ReadonlyMap<string, Machine>;
  private readonly pools = new PerMachine((at) => new Pool(this.ghost, at));
  private readonly answered = new Answered();
  private readonly chosen = new Chosen();
  /** What its application left out of the block that it prepared last. */
  private readonly leftOut = new PerMachine<{ height: bigint; readonly ids: Set<string> }>(() => ({
    height: -1n,
    ids: new Set(),
  }));
  /** By height: a node that is behind may accept what is in a block already. */
  private readonly included = new Map<number, ReadonlySet<string>>();
  /** The last height of each of those. */
  private readonly includedAt = new Map<string, number>();

  constructor(ghost: GhostChain, report: Report, about: WorldAbout) {
    this.ghost = ghost;
    this.report = report;
    this.about = about;
    this.byAddress = machinesByAddress(about);
  }

  /** A life begins, with an empty pool. */
  starts(at: Machine): void {
    this.pools.delete(at);
    this.answered.starts(at);
    this.chosen.starts(at);
    this.leftOut.delete(at);
  }

  /** What actors of a node say to each other. */
  hears(at: Machine, mail: AppMail | MempoolMail | ValidatorMail): void {
    if (mail.type === 'reap') this.reaps(at, mail);
    if (mail.type === 'committed') this.bounds(at, mail);
    if (mail.type === 'reaped' && mail.txs.length > 0) this.takesAny(at, 'proposes transactions');
    if (mail.type === 'reaped') this.proposes(at, mail.txs);
    else this.pools.of(at).hears(mail, this.about.now());
    if (mail.type === 'request' && mail.request.type === 'check-tx') this.asks(at, mail.request.value);
    const choice = this.chosen.hears(at, mail);
    if (choice) this.leavesOut(at, choice);
  }

  /** In one height it may be asked for several rounds. */
  private leavesOut(at: Machine, { height, leftOut }: Choice): void {
    if (this.leftOut.of(at).height !== height) this.leftOut.set(at, { height, ids: new Set() });
    for (const tx of leftOut) this.leftOut.of(at).ids.add(idOf(tx));
  }

  /** Where the application brings its own, nothing goes through this one. */
  takesAny(at: Machine, what: string): void {
    if (at.config.mempool.kind === 'nop' && this.about.isHonest(at))
      this.bad(at, `${what}, and has no mempool`);
  }

  /** What the proposer asks for is what the parameters of its height allow. */
  private reaps(
    at: Machine,
    { bytesMax, gasMax }: { readonly bytesMax: bigint; readonly gasMax: bigint },
  ): void {
    const height = at.height + 1n;
    const params = this.ghost.params(height);
    if (!params) return;
    const { maxGas } = params.block;
    if (gasMax !== maxGas)
      this.bad(at, `asks for transactions that want ${gasMax} gas; block.max_gas is ${maxGas}`);
    const room = proposerRoomAt(this.ghost, height);
    if (room !== Number.POSITIVE_INFINITY && (bytesMax < 0n || Number(bytesMax) > Math.max(room, 0)))
      this.bad(at, `asks for ${bytesMax} bytes of transactions, and the block has room for ${room}`);
  }

  /** The pool goes by what the next block may hold: with less room it refuses what is good, with more it accepts what no block takes. */
  private bounds(
    at: Machine,
    { height, blockTxBytesMax, gasMax }: Extract<MempoolMail, { type: 'committed' }>,
  ): void {
    const next = height === 0n ? this.ghost.genesis.initialHeight : height + 1n;
    const room = boundAt(this.ghost, next);
    if (room === null) return;
    if (blockTxBytesMax !== room)
      this.bad(at, `bounds its pool by ${blockTxBytesMax} bytes, and block ${next} has room for ${room}`);
    const maxGas = this.ghost.params(next)?.block.maxGas;
    if (gasMax !== maxGas)
      this.bad(at, `bounds its pool by ${gasMax} gas, and block.max_gas of height ${next} is ${maxGas}`);
  }

  private asks(at: Machine, { tx, type }: RequestCheckTx): void {
    this.takesAny(at, 'asks its application about a transaction');
    const { txBytesMax } = at.config.mempool;
    const accepted = this.pools.of(at).of(tx);
    const { length } = tx;
    if (length > txBytesMax)
      this.bad(at, `asks its application about a transaction of ${length} bytes, and may take ${txBytesMax}`);
    // A slow application that is asked about all that waits with every block is further behind with each.
    if ((accepted?.open ?? 0) > 1)
      this.bad(at, `asks its application again about ${nameOf(tx)}, and has not been answered yet`);
    if (type !== CHECK_TX_NEW && !at.config.mempool.recheck)
      this.bad(at, `asks its application again about ${nameOf(tx)}, and mempool.recheck is off`);
    if (type === CHECK_TX_NEW && (accepted?.owedSince ?? null) !== null)
      this.bad(at, `takes ${nameOf(tx)} for a new one, and holds it`);
  }

  // --- clients ---------------------------------------------------------------------------------------------

  opens(at: Machine): void {
    this.answered.opens(at, this.about.now());
  }

  given(at: Machine, tx: Uint8Array): void {
    this.answered.given(at, tx, this.about.now());
  }

  answers(at: Machine, hash: Uint8Array): void {
    this.answered.answered(at, byteKey(hash));
  }

  hasAnswered(at: Machine): void {
    const tx = this.answered.missed(at, this.about.now(), (each) => this.pools.of(at).isAsking(each));
    if (tx && this.about.isHonest(at)) this.bad(at, `has not answered a client who gave it ${nameOf(tx)}`);
  }

  // --- no loss ---------------------------------------------------------------------------------------------

  /** A node says of a transaction that it took it, or that it did not: which may be one that it has already. */
  says(at: Machine, hash: Uint8Array, isTaken: boolean): void {
    const id = byteKey(hash);
    const pool = this.pools.get(at);
    if (!pool || !isTaken || this.isIncluded(id)) return;
    pool.owes(id, at.height + 1n);
    const { txsMax, bytesMax } = at.config.mempool;
    if (pool.owedTxs > txsMax || pool.owedBytes > bytesMax)
      this.bad(at, `holds ${pool.owedTxs} transactions of ${pool.owedBytes} bytes, more than it may`);
    const accepted = pool.accepted.get(id);
    // A later life's pool has the limits of the genesis until its node has told it of those in force.
    if (accepted && (at.lives === 1 || pool.isTold)) this.fits(at, accepted);
  }

  /** In a block of its own at least: the pool hears of new limits a little later than its node is at their height. */
  private fits(at: Machine, { bytes, gasWanted }: Accepted): void {
    const known = [at.height, at.height + 1n].filter((height) => this.ghost.params(height));
    if (known.length === 0) return;
    const gasMax = Math.max(...known.map((height) => gasAt(this.ghost, height)));
    if (isTooDear(gasWanted, gasMax))
      this.bad(at, `holds a transaction that wants ${gasWanted} gas, and a block may take ${gasMax}`);
    const room = Math.max(...known.map((height) => roomAt(this.ghost, height)));
    if (bytes > room) this.bad(at, `holds a transaction of ${bytes} bytes, and a block has room for ${room}`);
  }

  /** What its application accepts a node refuses for its gas, or where blocks have become too small for it; or because a block has it. */
  refuses(at: Machine, hash: Uint8Array, because: string): void {
    const id = byteKey(hash);
    const accepted = this.pools.get(at)?.accepted.get(id);
    if (!accepted || this.isIncluded(id) || !this.about.isHonest(at)) return;
    if (mayBeTooDear(this.ghost, at, accepted.gasWanted) || mayRefuseSize(this.ghost, at, accepted.bytes))
      return;
    this.bad(at, `refuses a transaction that its application accepts: ${because}`);
  }

  private isIncluded(id: string): boolean {
    return this.includedAt.has(id);
  }

  private includes(height: number, ids: ReadonlySet<string>): void {
    this.included.set(height, ids);
    for (const id of ids) this.includedAt.set(id, height);
    const old = height - BLOCKS_REMEMBERED;
    for (const id of this.included.get(old) ?? [])
      if (this.includedAt.get(id) === old) this.includedAt.delete(id);
    this.included.delete(old);
  }

  /** A block of the chain, the first time that an honest node stores it. */
  decides(block: Block): void {
    const { header, txs } = block;
    const ids = new Set(txs.map(idOf));
    this.includes(Number(header.height), ids);
    for (const pool of this.pools.values()) for (const id of ids) pool.frees(id);
    const proposer = this.byAddress.get(hexOf(header.proposerAddress));
    const bytes = txs.reduce((sum, { length }) => sum + length, 0);
    // Made by a life that is over: nothing that this one has was lost.
    const most = this.judgedMax(block);
    if (!proposer?.isUp || !this.about.isHonest(proposer) || bytes > most) return;
    const accepted = this.pools.get(proposer)?.accepted;
    const gasLeft = this.gasLeft(header.height, ids, accepted);
    let leftOut: bigint | null = null;
    const waiting = this.leftOut.of(proposer);
    for (const [id, { owedSince, bytes, gasWanted }] of accepted ?? []) {
      if (owedSince === null || (waiting.height === header.height && waiting.ids.has(id))) continue;
      // All behind one that is as large as this wait for it, be it until there is more room again.
      if (bytes > most || Number(gasWanted) > gasLeft) return;
      if (owedSince < header.height) leftOut ??= owedSince;
    }
    if (leftOut === null) return;
    const what = `proposed block ${header.height} without a transaction that it accepted at ${leftOut}`;
    this.report(`${proposer.name} ${what}`, proposer, header.height);
  }

  /** What a block leaves of the gas that it may take, by what its proposer was told of its transactions; -1: nobody knows. */
  private gasLeft(height: bigint, ids: ReadonlySet<string>, accepted: Pool['accepted'] | undefined): number {
    let left = gasAt(this.ghost, height);
    if (left === Number.POSITIVE_INFINITY) return left;
    for (const id of ids) {
      const gasWanted = accepted?.get(id)?.gasWanted;
      if (gasWanted === undefined || gasWanted < 0n) return -1;
      left -= Number(gasWanted);
    }
    return left;
  }

  /** Half of what there is room for beside evidence: another transaction would have fitted. */
  private judgedMax({ header, evidence }: Block): number {
    const room = proposerRoomAt(this.ghost, header.height);
    if (room >= 2 * BLOCK_BYTES_JUDGED) return BLOCK_BYTES_JUDGED;
    return evidence.length > 0 ? -1 : room / 2;
  }

  // --- nothing else ----------------------------------------------------------------------------------------

  private bad(at: Machine, what: string): void {
    this.report(`${at.name} ${what}`, at, at.height + 1n);
  }

  /** In a pause letters wait, and so does what was to follow from them. */
  offers(at: Machine, payload: Payload): void {
    this.takesAny(at, 'offers peers transactions');
    const txs = txsIn(payload);
    if (!txs) return this.bad(at, 'offers peers what does not decode');
    if (!at.config.mempool.broadcast) this.bad(at, 'offers peers transactions, and mempool.broadcast is off');
    const since = this.about.now() - HOP_NS;
    const isGone = ({ refusedNs }: Accepted): boolean =>
      refusedNs !== null && refusedNs < since && at.heldUntilNs < refusedNs;
    for (const tx of txs) {
      const accepted = this.pools.of(at).of(tx);
      if (!accepted || isGone(accepted))
        return this.bad(at, `offers peers ${nameOf(tx)}, which its application does not accept`);
    }
  }

  private proposes(at: Machine, txs: readonly Uint8Array[]): void {
    const pool = this.pools.of(at);
    const { ask } = pool;
    let last = -1;
    let bytes = 0;
    let gas = 0n;
    for (const tx of txs) {
      bytes += fieldBytes(tx.length);
      const accepted = pool.of(tx);
      gas += accepted?.gasWanted ?? 0n;
      // What the application said before the proposer asked has reached the mempool first.
      if (!accepted || (accepted.refusedNs !== null && accepted.refusedNs < ask.atNs - HOP_NS))
        return this.bad(at, `proposes ${nameOf(tx)}, which its application does not accept`);
      if (accepted.place < last) return this.bad(at, `proposes ${nameOf(tx)} after one that came later`);
      last = accepted.place;
      // Who has a question about it open already asks once more when that is answered.
      if (at.config.mempool.recheck && accepted.askedAfter < ask.blocks && !isOpen(accepted, ask.atNs))
        return this.bad(at, `proposes ${nameOf(tx)} and has not asked about it since the last block`);
    }
    if (ask.bytesMax >= 0n && BigInt(bytes) > ask.bytesMax)
      this.bad(at, `proposes ${bytes} bytes of transactions and was asked for ${ask.bytesMax}`);
    if (ask.gasMax >= 0n && gas > ask.gasMax)
      this.bad(at, `proposes transactions that want ${gas} gas and was asked for ${ask.gasMax}`);
    this.keepsOrder(at, pool, txs, last);
  }

  /** `last`: the place of the last that it proposes. What came before and is larger than any block may be waits for nothing. */
  private keepsOrder(at: Machine, { accepted, ask }: Pool, txs: readonly Uint8Array[], last: number): void {
    const proposed = new Set(txs.map(idOf));
    for (const [id, { place, owedSince, bytes, gasWanted }] of accepted) {
      if (place > last || owedSince === null || proposed.has(id)) continue;
      const fits = BigInt(bytes + FIELD_BYTES_MAX) <= ask.bytesMax || ask.bytesMax < 0n;
      if (fits && (gasWanted <= ask.gasMax || ask.gasMax < 0n))
        return this.bad(at, `passes over a transaction of ${bytes} bytes for one that came later`);
    }
  }
}

const nameOf = (tx: Uint8Array): string => `transaction ${hexOf(txHash(tx)).slice(0, 8)}`;
