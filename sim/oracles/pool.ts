// What a mempool gives away: to peers only what its application accepted, to the proposer that, oldest first, asked about again after the
// last block, and no more than there is room for.

import type { AppMail, MempoolMail, ValidatorMail } from '../../actors/mail.ts';
import { CHECK_TX_NEW } from '../../protocol/abci.ts';
import { byteKey, hexOf } from '../../protocol/bytes.ts';
import { txHash } from '../../protocol/hashes.ts';
import { CHANNEL_MEMPOOL } from '../../protocol/messages.ts';
import { isRefusal } from '../../protocol/refusal.ts';
import { decodeMempoolMessage } from '../../protocol/wire/index.ts';
import type { Machine } from '../machine.ts';
import type { Oracle, OracleMaker } from '../oracle.ts';

/** As a field of a block's data: a tag, its length, itself. */
function sizeOf({ length }: Uint8Array): number {
  let size = 2 + length;
  for (let rest = length >> 7; rest > 0; rest >>= 7) size++;
  return size;
}

/** A transaction that the application accepted. */
interface Accepted {
  /** As which of all: what is accepted a second time had left and is new. */
  readonly place: number;
  /** After how many blocks the application was asked about it last. */
  askedAfter: number;
}

/** What a block took is remembered for so many more: a proposer may have asked before. */
const BLOCKS_REMEMBERED = 2;

/** Of one life. */
class Pool {
  private readonly accepted = new Map<string, Accepted>();
  private count = 0;
  /** Blocks that the mempool was told of, so far and when the proposer asked. */
  private blocks = 0;
  blocksAtAsk = 0;
  /** What the latest blocks took, oldest first. */
  private readonly taken: string[][] = [];
  /** The room that the proposer has, as it asked; -1: all there is. */
  bytesMax = -1n;
  /** What the application was asked about and has not answered yet, by tag. */
  private readonly asked = new Map<
    number,
    { readonly key: string; readonly isNew: boolean; readonly after: number }
  >();

  reaps(bytesMax: bigint): void {
    this.bytesMax = bytesMax;
    this.blocksAtAsk = this.blocks;
  }

  takes(txs: readonly Uint8Array[]): void {
    this.blocks++;
    this.taken.push(txs.map((tx) => byteKey(txHash(tx))));
    if (this.taken.length <= BLOCKS_REMEMBERED) return;
    for (const key of this.taken.shift() ?? []) {
      const accepted = this.accepted.get(key);
      const isBack = accepted && accepted.askedAfter >= this.blocks - BLOCKS_REMEMBERED;
      if (!isBack) this.accepted.delete(key);
    }
  }

  asks(tag: number, tx: Uint8Array, isNew: boolean): void {
    const key = byteKey(txHash(tx));
    this.asked.set(tag, { key, isNew, after: this.blocks });
    const known = this.accepted.get(key);
    if (known) known.askedAfter = this.blocks;
  }

  answers(tag: number, isAccepted: boolean): void {
    const about = this.asked.get(tag);
    this.asked.delete(tag);
    if (!about) return;
    const { key, isNew, after } = about;
    if (!isAccepted) this.accepted.delete(key);
    else if (isNew) this.accepted.set(key, { place: this.count++, askedAfter: after });
  }

  of(tx: Uint8Array): Accepted | undefined {
    return this.accepted.get(byteKey(txHash(tx)));
  }
}

export const poolOracle: OracleMaker = (report, about): Oracle => {
  const pools = new Map<Machine, Pool>();
  const of = (at: Machine): Pool => {
    let pool = pools.get(at);
    if (!pool) {
      pool = new Pool();
      pools.set(at, pool);
    }
    return pool;
  };
  const bad = (at: Machine, what: string): void => report(`${at.name} ${what}`, at, at.height + 1n);
  const short = (tx: Uint8Array): string => hexOf(txHash(tx)).slice(0, 8);

  const offers = (at: Machine, bytes: Uint8Array): void => {
    const message = decodeMempoolMessage(bytes);
    if (isRefusal(message)) return bad(at, 'offers peers what does not decode');
    const stray = message.txs.find((tx) => of(at).of(tx) === undefined);
    if (stray) bad(at, `offers peers transaction ${short(stray)}, which its application does not accept`);
  };

  const proposes = (at: Machine, txs: readonly Uint8Array[]): void => {
    const pool = of(at);
    let last = -1;
    let bytes = 0;
    for (const tx of txs) {
      bytes += sizeOf(tx);
      const accepted = pool.of(tx);
      if (!accepted)
        return bad(at, `proposes transaction ${short(tx)}, which its application does not accept`);
      if (accepted.place < last)
        return bad(at, `proposes transaction ${short(tx)} after one that came later`);
      last = accepted.place;
      if (at.config.mempool.recheck && accepted.askedAfter < pool.blocksAtAsk)
        return bad(at, `proposes transaction ${short(tx)} and has not asked about it since the last block`);
    }
    if (pool.bytesMax >= 0n && BigInt(bytes) > pool.bytesMax)
      bad(at, `proposes ${bytes} bytes of transactions and was asked for ${pool.bytesMax}`);
  };

  /** What actors of a node say to each other. */
  const hears = (at: Machine, mail: AppMail | MempoolMail | ValidatorMail): void => {
    if (mail.type === 'reap') of(at).reaps(mail.bytesMax);
    else if (mail.type === 'committed') of(at).takes(mail.txs);
    else if (mail.type === 'reaped') proposes(at, mail.txs);
    else if (mail.type === 'request' && mail.request.type === 'check-tx') {
      const { tx, type } = mail.request.value;
      of(at).asks(mail.tag, tx, type === CHECK_TX_NEW);
    } else if (mail.type === 'answer' && mail.response.type === 'check-tx')
      of(at).answers(mail.tag, mail.response.value.code === 0);
  };

  return {
    name: 'pool',
    effects: ['send', 'tell'],
    started: (at) => void pools.delete(at),
    leaving(at, _actor, effect) {
      if (!about.isHonest(at)) return;
      if (effect.type === 'send') {
        for (const { channel, bytes } of effect.payloads) if (channel === CHANNEL_MEMPOOL) offers(at, bytes);
      } else if (effect.type === 'tell') hears(at, effect.message as AppMail | MempoolMail | ValidatorMail);
    },
  };
};
