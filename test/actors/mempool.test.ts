import { expect, it } from 'vitest';
import type { MempoolMail } from '../../actors/mail.ts';
import { type MempoolState, mempoolLogic } from '../../actors/mempool.ts';
import type { Effect, NodeEvent, Payload } from '../../actors/turn.ts';
import { DEFAULT_MEMPOOL, type MempoolConfig } from '../../machines/mempool/config.ts';
import { NOT_BEHIND } from '../../machines/mempool/gossip.ts';
import { CHECK_TX_RECHECK, type RequestCheckTx } from '../../protocol/abci.ts';
import { concatBytes } from '../../protocol/bytes.ts';
import { CHANNEL_MEMPOOL } from '../../protocol/messages.ts';
import { isRefusal, unreachable } from '../../protocol/refusal.ts';
import { EMPTY_BYTES } from '../../protocol/types.ts';
import { decodeMempoolMessage, encodeMempoolMessage } from '../../protocol/wire/index.ts';
import { censusOf } from '../../sim/census.ts';
import { okay } from '../protocol/rules/people.ts';
import { Driven, only, said } from './drive.ts';

const MS = 1_000_000n;

type Mempool = Driven<MempoolState, MempoolMail>;
/** While the handshake runs. */
const earlyMempool = (more: Partial<MempoolConfig> = {}): Mempool =>
  new Driven(mempoolLogic({ ...DEFAULT_MEMPOOL, ...more }));
const mempool = (more: Partial<MempoolConfig> = {}): Mempool => {
  const driven = earlyMempool(more);
  driven.tell({ type: 'opens' });
  return driven;
};

const tx = (n: number): Uint8Array => Uint8Array.of(n, 0x3d, n);
const txsPayload = (...ns: number[]): Payload => ({
  channel: CHANNEL_MEMPOOL,
  bytes: encodeMempoolMessage({ type: 'txs', txs: ns.map(tx) }),
});
const heard = (peer: string, ...ns: number[]): MempoolMail => ({
  type: 'heard',
  peer,
  payloads: [txsPayload(...ns)],
});
const submit = (n: number): MempoolMail => ({ type: 'submit', tx: tx(n) });
const up = (peer: string): MempoolMail => ({ type: 'peer-up', peer });
const committed = (height: bigint, ...ns: number[]): MempoolMail => ({
  type: 'committed',
  height,
  txs: ns.map(tx),
  codes: ns.map(() => 0),
  blockTxBytesMax: -1n,
  gasMax: -1n,
});

interface Question {
  readonly tag: number;
  readonly n: number;
  readonly type: number;
}

const questionsOf = (effects: readonly Effect[]): Question[] =>
  only(effects, 'tell')
    .filter(({ to }) => to === 'app')
    .map(({ message }) => {
      const { tx: asked, type } = message['request'].value as RequestCheckTx;
      return { tag: message['tag'] as number, n: asked[0]!, type };
    });

const answer = (tag: number, code = 0): MempoolMail => ({
  type: 'answer',
  tag,
  response: {
    type: 'check-tx',
    value: {
      code,
      data: EMPTY_BYTES,
      log: '',
      info: '',
      gasWanted: 1n,
      gasUsed: 0n,
      events: [],
      codespace: '',
    },
  },
});

/** Tells, and answers the application's part at once; all effects but the questions. */
function settle(pool: Mempool, mail: MempoolMail, code = 0): Effect[] {
  const effects = [...pool.tell(mail)];
  for (const { tag } of questionsOf(effects)) effects.push(...pool.tell(answer(tag, code)));
  return effects.filter((effect) => effect.type !== 'tell' || effect.to !== 'app');
}

function reap(pool: Mempool): number[] {
  const effect = only(pool.tell({ type: 'reap', bytesMax: -1n, gasMax: -1n }), 'tell')[0]!;
  return (effect.message['txs'] as Uint8Array[]).map((each) => each[0]!);
}

function sentOf(effects: readonly Effect[]): [string, number[]][] {
  return only(effects, 'send').map(({ to, payloads }) => {
    const message = decodeMempoolMessage(payloads[0]!.bytes);
    if (isRefusal(message)) return unreachable(message.because);
    return [to.join(), message.txs.map((each) => each[0]!)];
  });
}

const checkedOf = (effects: readonly Effect[]): NodeEvent[] =>
  only(effects, 'publish').map(({ event }) => event);

it('asks the application, then offers what is ours to all at once', () => {
  const pool = mempool();
  for (const peer of ['a', 'b']) pool.tell(up(peer));
  const effects = pool.tell(submit(1));
  expect(questionsOf(effects)).toEqual([{ tag: 1, n: 1, type: 0 }]);
  const then = pool.tell(answer(1));
  expect(said(then)).toEqual(['publish checked', 'send a,b', 'schedule gossip']);
  expect([sentOf(then), reap(pool)]).toEqual([[['a,b', [1]]], [1]]);
  expect(checkedOf(then)).toMatchObject([{ code: 0, because: '' }]);
});

it('does not read what is far longer than any batch', () => {
  const pool = mempool({ txBytesMax: 1_000, batchBytesMax: 1_000 });
  pool.tell(up('a'));
  const most = 3 * 1_000 + 64 * 1024;
  const long = (length: number): MempoolMail => ({
    type: 'heard',
    peer: 'a',
    payloads: [{ channel: CHANNEL_MEMPOOL, bytes: new Uint8Array(length).fill(0xff) }],
  });
  const because = (length: number): string | undefined => only(pool.tell(long(length)), 'score')[0]?.because;
  expect(because(most + 1)).toBe(`mempool message: ${most + 1} bytes, the maximum is ${most}`);
  expect(because(most)).not.toContain('the maximum is');
});

it('says why a submission is refused', () => {
  const pool = mempool({ txsMax: 2 });
  expect(checkedOf(settle(pool, submit(1), 5))).toMatchObject([
    { code: 5, because: 'refused by the application' },
  ]);
  settle(pool, submit(1));
  expect(checkedOf(settle(pool, submit(1)))).toMatchObject([
    { code: 1, because: 'tx already exists in cache' },
  ]);
  settle(pool, submit(2));
  expect(checkedOf(settle(pool, submit(3)))[0]).toMatchObject({ code: 1 });
  expect(reap(pool)).toEqual([1, 2]);
});

it('takes a failure of the application for a refusal, of this transaction alone', () => {
  const pool = mempool();
  const [asked] = questionsOf(pool.tell(submit(1)));
  const failed = { type: 'exception', value: { error: 'out of ink' } } as const;
  expect(checkedOf(pool.tell({ type: 'answer', tag: asked!.tag, response: failed }))).toMatchObject([
    { code: 1, because: 'the application failed: out of ink' },
  ]);
  settle(pool, submit(2));
  settle(pool, submit(1));
  expect(reap(pool)).toEqual([2, 1]);
});

it('offers a peer that came back what it sent before, were the application still looking at it', () => {
  const pool = mempool();
  pool.tell(up('a'));
  settle(pool, heard('a', 1));
  const [asked] = questionsOf(pool.tell(heard('a', 2)));
  expect(sentOf(pool.tell({ type: 'peer-down', peer: 'a' }))).toEqual([]);
  expect(sentOf(pool.tell(up('a')))).toEqual([['a', [1]]]);
  pool.tell(answer(asked!.tag));
  pool.monoNs = 200n * MS;
  expect(sentOf(pool.tell({ type: 'timer', timer: 'gossip' }))).toEqual([['a', [2]]]);
});

it('passes on what it heard after a while, to those who may lack it, in one message', () => {
  const pool = mempool();
  for (const peer of ['a', 'b', 'c']) pool.tell(up(peer));
  expect(said(settle(pool, heard('a', 1, 2)))).toEqual([
    'publish checked',
    'schedule gossip',
    'publish checked',
  ]);
  expect(settle(pool, heard('b', 2))).toEqual([]);
  pool.monoNs = 200n * MS; // a period, and this node's own while of at most another
  const effects = pool.tell({ type: 'timer', timer: 'gossip' });
  expect(sentOf(effects)).toEqual([
    ['b', [1]],
    ['c', [1, 2]],
  ]);
  expect(said(effects)).toEqual(['send b', 'send c', 'schedule gossip']);
});

it('a block within the period leaves nothing to offer', () => {
  const pool = mempool();
  for (const peer of ['a', 'b', 'c']) pool.tell(up(peer));
  settle(pool, heard('a', 1));
  expect(said(pool.tell(committed(1n, 1)))).toEqual(['cancel gossip']);
  expect(pool.tell(committed(2n))).toEqual([]);
});

it('offers again what may have been lost, and all of it to a peer that comes back', () => {
  const pool = mempool();
  for (const peer of ['a', 'b']) pool.tell(up(peer));
  settle(pool, submit(1));
  settle(pool, heard('a', 1));
  pool.monoNs = 5_000n * MS;
  expect(sentOf(pool.tell({ type: 'timer', timer: 'gossip' }))).toEqual([['b', [1]]]);
  pool.tell({ type: 'peer-down', peer: 'a' });
  expect(sentOf(pool.tell(up('a')))).toEqual([['a', [1]]]);
});

it('waits for a peer that is behind', () => {
  const pool = mempool();
  pool.tell(committed(10n));
  pool.tell(up('a'));
  pool.tell({ type: 'peer-height', peer: 'a', height: 5n });
  expect(sentOf(settle(pool, submit(1)))).toEqual([]);
  expect(sentOf(pool.tell({ type: 'peer-height', peer: 'a', height: 9n }))).toEqual([['a', [1]]]);
});

it('drops a peer whose messages are none, or too large', () => {
  const pool = mempool({ txBytesMax: 3, batchBytesMax: 5 });
  const says = (...payloads: Payload[]): string[] => said(pool.tell({ type: 'heard', peer: 'a', payloads }));
  expect(says({ channel: CHANNEL_MEMPOOL, bytes: Uint8Array.of(9, 9) })).toEqual(['drop a']);
  expect(says({ channel: CHANNEL_MEMPOOL, bytes: EMPTY_BYTES })).toEqual(['drop a']);
  expect(says(txsPayload(1, 2), txsPayload(3))).toEqual(['drop a']);
  const large = encodeMempoolMessage({ type: 'txs', txs: [new Uint8Array(4)] });
  expect(says({ channel: CHANNEL_MEMPOOL, bytes: large })).toEqual(['drop a']);
  expect(() => says({ channel: 0x20, bytes: large })).toThrow();
});

it('drops a peer whose message has more transactions than anybody looks at in a turn', () => {
  const pool = mempool({ txsMax: 1 });
  const says = (count: number): string[] => {
    const txs = new Array<Uint8Array>(count).fill(Uint8Array.of(1));
    const payloads = [{ channel: CHANNEL_MEMPOOL, bytes: encodeMempoolMessage({ type: 'txs', txs }) }];
    return said(pool.tell({ type: 'heard', peer: 'a', payloads }));
  };
  expect(says(4_096)).not.toContain('drop a');
  expect(says(4_097)).toEqual(['drop a']);
});

it('offers no more transactions at once than it has hashes to give, however short they are', () => {
  const pool = mempool();
  for (let n = 0; n < 1_030; n++) settle(pool, { type: 'submit', tx: Uint8Array.of(n >> 8, n & 255) });
  const [first] = only(pool.tell(up('a')), 'send');
  const { txs } = okay(decodeMempoolMessage(first!.payloads[0]!.bytes)) as { txs: readonly Uint8Array[] };
  expect(txs).toHaveLength(1_024);
});

it('rechecks what a block leaves, and lets go of what is invalid now', () => {
  const pool = mempool();
  for (const n of [1, 2, 3]) settle(pool, submit(n));
  const questions = questionsOf(pool.tell(committed(1n, 2)));
  expect(questions.map(({ n, type }) => [n, type])).toEqual([
    [1, CHECK_TX_RECHECK],
    [3, CHECK_TX_RECHECK],
  ]);
  expect(pool.tell(answer(questions[0]!.tag))).toEqual([]);
  expect(checkedOf(pool.tell(answer(questions[1]!.tag, 9)))).toMatchObject([{ code: 9 }]);
  expect(reap(pool)).toEqual([1]);
  expect(questionsOf(mempool({ recheck: false }).tell(committed(1n)))).toEqual([]);
});

it('rechecks what was asked about before a block came, and drops what the block took', () => {
  const pool = mempool();
  const [one, two] = [submit(1), submit(2)].map((mail) => questionsOf(pool.tell(mail))[0]!);
  pool.tell(committed(1n, 2));
  const then = pool.tell(answer(one!.tag));
  expect(questionsOf(then)).toMatchObject([{ n: 1, type: CHECK_TX_RECHECK }]);
  pool.tell(answer(two!.tag));
  expect(reap(pool)).toEqual([1]);
  pool.tell(answer(questionsOf(then)[0]!.tag, 1));
  expect(reap(pool)).toEqual([]);
});

it('tells the validator once per height that there is something', () => {
  const pool = mempool({ notifyTxs: true });
  const tells = (mail: MempoolMail): string[] =>
    said(settle(pool, mail)).filter((word) => word.startsWith('tell'));
  expect(tells(submit(1))).toEqual(['tell validator txs-available']);
  expect(tells(submit(2))).toEqual([]);
  expect(tells(committed(1n, 1))).toEqual(['tell validator txs-available']);
  expect(tells(committed(2n, 2))).toEqual([]);
  expect(tells(submit(3))).toEqual(['tell validator txs-available']);
});

it('tells of what a block left when the application accepts it again, and not of what it refuses now', () => {
  const pool = mempool({ notifyTxs: true });
  settle(pool, submit(1));
  settle(pool, submit(2));
  const asked = questionsOf(pool.tell(committed(1n)));
  expect(asked.map(({ n }) => n)).toEqual([1, 2]);
  expect(said(pool.tell(answer(asked[0]!.tag, 1)))).toEqual(['publish checked']);
  expect(said(pool.tell(answer(asked[1]!.tag)))).toEqual(['tell validator txs-available']);
  const checking = questionsOf(pool.tell(submit(3)))[0]!;
  const [two] = questionsOf(pool.tell(committed(2n)));
  expect(questionsOf(pool.tell(answer(checking.tag)))).toMatchObject([{ n: 3, type: CHECK_TX_RECHECK }]);
  expect(said(pool.tell(answer(two!.tag, 1)))).toEqual(['publish checked']);
  const off = mempool({ notifyTxs: true, recheck: false });
  settle(off, submit(1));
  expect(said(off.tell(committed(1n)))).toEqual(['tell validator txs-available']);
});

it('offers nothing when told not to, and a nop pool has nothing', () => {
  const quiet = mempool({ broadcast: false });
  quiet.tell(up('a'));
  expect(said(settle(quiet, submit(1)))).toEqual(['publish checked']);
  const nop = mempool({ kind: 'nop' });
  expect(checkedOf(nop.tell(submit(1)))).toMatchObject([{ because: 'not allowed with `nop` mempool' }]);
  expect([nop.tell(heard('a', 1)), reap(nop)]).toEqual([[], []]);
});

it('one transaction per block costs a full mesh of four an envelope per link and direction at most', () => {
  const names = ['a', 'b', 'c', 'd'];
  const nodes = new Map(names.map((name) => [name, mempool()]));
  for (const [name, node] of nodes) for (const peer of names) if (peer !== name) node.tell(up(peer));
  let envelopes = 0;
  const carry = (from: string, effects: readonly Effect[]): void => {
    for (const { to, payloads } of only(effects, 'send')) {
      for (const peer of to) {
        envelopes++;
        carry(peer, settle(nodes.get(peer)!, { type: 'heard', peer: from, payloads }));
      }
    }
  };
  for (let height = 1n; height <= 20n; height++) {
    const n = Number(height);
    carry('a', settle(nodes.get('a')!, submit(n)));
    for (const node of nodes.values()) node.monoNs += 100n * MS;
    for (const [name, node] of nodes) carry(name, node.tell({ type: 'timer', timer: 'gossip' }));
    for (const node of nodes.values()) expect(reap(node)).toEqual([n]);
    for (const node of nodes.values()) node.tell(committed(height, n));
  }
  expect(envelopes).toBeLessThanOrEqual(20 * 12);
});

it('nothing that left the pool is kept for a peer that says for ever that it is behind', () => {
  const pool = mempool();
  pool.tell(up('behind'));
  pool.tell(committed(9n));
  pool.tell({ type: 'peer-height', peer: 'behind', height: 1n });
  const held = (): number[] => {
    const { peers } = pool.state.gossip as unknown as { peers: Map<string, { held: { tx: Uint8Array }[] }> };
    return peers.get('behind')!.held.map((each) => each.tx[0]!);
  };
  settle(pool, submit(1));
  for (let height = 10; height < 20; height++) {
    pool.monoNs += 1_000n * MS;
    settle(pool, submit(height));
    expect(held()).toEqual([1, height]);
    settle(pool, committed(BigInt(height), height));
    expect(held()).toEqual([1]);
  }
  const back = pool.tell({ type: 'peer-height', peer: 'behind', height: NOT_BEHIND });
  expect([held(), sentOf(back)]).toEqual([[], [['behind', [1]]]]);
});

it('keeps no name of who is not up, and what came from it may be anybody’s', () => {
  const pool = mempool();
  settle(pool, heard('stranger', 1));
  for (let i = 0; i < 100; i++) settle(pool, heard(`stranger-${i}`, 1));
  for (let i = 0; i < 100; i++) {
    pool.monoNs += 2_000_000n;
    pool.tell({ type: 'peer-height', peer: `gone-${i}`, height: 1n });
  }
  expect((pool.state.gossip as unknown as { told: Map<string, unknown> }).told.size).toBe(1);
  pool.tell(up('a'));
  settle(pool, heard('a', 1));
  pool.tell({ type: 'peer-down', peer: 'a' });
  expect(censusOf(pool.state.pool)).toEqual(censusOf(withOne().state.pool));
});

/** That holds one transaction of its own, and has heard of nobody. */
function withOne(): Mempool {
  const pool = mempool();
  settle(pool, submit(1));
  return pool;
}

const heldBy = (pool: Mempool): Uint8Array[] =>
  only(pool.tell({ type: 'reap', bytesMax: -1n, gasMax: -1n }), 'tell')[0]!.message['txs'] as Uint8Array[];

it('a small transaction does not keep a large one in memory that came with it and is not taken', () => {
  const pool = mempool();
  pool.tell(up('a'));
  const large = new Uint8Array(60_000).fill(9);
  const message = { type: 'txs', txs: [tx(1), large] } as const;
  const payloads = [{ channel: CHANNEL_MEMPOOL, bytes: encodeMempoolMessage(message) }];
  const asked = questionsOf(pool.tell({ type: 'heard', peer: 'a', payloads }));
  for (const { tag, n } of asked) pool.tell(answer(tag, n === 9 ? 5 : 0));
  expect(heldBy(pool)).toEqual([tx(1)]);
  expect(heldBy(pool)[0]!.buffer.byteLength).toBeLessThan(60_000);
});

it('what lies between fields that nobody knows does not keep them in memory', () => {
  const { channel, bytes } = txsPayload(1);
  const unknown = Uint8Array.of(0x7a, 0x80, 0x80, 0x04); // field 15, of 65536 bytes
  const padded = concatBytes(bytes, unknown, new Uint8Array(65_536));
  const pool = mempool();
  pool.tell(up('a'));
  settle(pool, { type: 'heard', peer: 'a', payloads: [{ channel, bytes: padded }] });
  expect(heldBy(pool)).toEqual([tx(1)]);
  expect(heldBy(pool)[0]!.buffer.byteLength).toBeLessThan(65_536);
});

it('asks the application about nothing before the handshake is over, and then in the order in which it came', () => {
  const pool = earlyMempool();
  expect(pool.tell(up('a'))).toEqual([]);
  expect(questionsOf(pool.tell(submit(3)))).toEqual([]);
  expect(questionsOf(pool.tell(heard('a', 1, 2)))).toEqual([]);
  expect(questionsOf(pool.tell({ type: 'opens' })).map(({ n }) => n)).toEqual([3, 1, 2]);
  expect(questionsOf(pool.tell(submit(4))).map(({ n }) => n)).toEqual([4]);
});

it('holds so much for the time after the handshake, of users and of each peer, and says what it cannot hold', () => {
  const pool = earlyMempool();
  const large = (n: number): MempoolMail => ({ type: 'submit', tx: new Uint8Array(1_000_000).fill(n) });
  const heardLarge = (peer: string, n: number): MempoolMail => ({
    type: 'heard',
    peer,
    payloads: [
      {
        channel: CHANNEL_MEMPOOL,
        bytes: encodeMempoolMessage({ type: 'txs', txs: [new Uint8Array(400_000).fill(n)] }),
      },
    ],
  });
  for (const n of [11, 12, 13]) expect(pool.tell(heardLarge('a', n))).toEqual([]);
  for (let n = 0; n < 8; n++) expect(pool.tell(large(n))).toEqual([]);
  const [refused] = only(pool.tell(large(8)), 'publish');
  expect(refused?.event).toMatchObject({
    type: 'checked',
    code: 1,
    because: expect.stringContaining('waits for the handshake'),
  });
  // What one peer and all users fill is no room of another's.
  expect(pool.tell(heardLarge('b', 21))).toEqual([]);
  const asked = questionsOf(pool.tell({ type: 'opens' })).map(({ n }) => n);
  expect(asked).toEqual([11, 12, 0, 1, 2, 3, 4, 5, 6, 7, 21]);
});

it('holds so much of all peers together: a stranger may come under any number of names', () => {
  const pool = earlyMempool();
  const names = Array.from({ length: 70 }, (_, i) => `stranger ${i}`);
  const two = (i: number, n: number): Uint8Array => Uint8Array.of(i, n);
  for (const [i, peer] of names.entries()) {
    const txs = Array.from({ length: 256 }, (_, n) => two(i, n));
    pool.tell({
      type: 'heard',
      peer,
      payloads: [{ channel: CHANNEL_MEMPOOL, bytes: encodeMempoolMessage({ type: 'txs', txs }) }],
    });
  }
  expect(pool.state.early?.came).toHaveLength(16_384);
  // A user's has its own room.
  expect(pool.tell(submit(3))).toEqual([]);
  expect(pool.state.early?.came).toHaveLength(16_385);
});

it('holds of a peer no more than so many for the time after the handshake, however short they are', () => {
  const pool = earlyMempool();
  const few = (peer: string, mark: number, count: number): MempoolMail => {
    const txs = Array.from({ length: count }, (_, i) => Uint8Array.of(mark, i >> 8, i & 0xff));
    const bytes = encodeMempoolMessage({ type: 'txs', txs });
    return { type: 'heard', peer, payloads: [{ channel: CHANNEL_MEMPOOL, bytes }] };
  };
  expect(pool.tell(few('a', 1, 300))).toEqual([]);
  expect(pool.tell(few('b', 2, 6))).toEqual([]);
  const asked = questionsOf(pool.tell({ type: 'opens' })).map(({ n }) => n);
  expect(asked).toEqual([...Array(256).fill(1), ...Array(6).fill(2)]);
});

it('drops a peer for what is no batch before the handshake is over, too', () => {
  const pool = earlyMempool();
  const junk: MempoolMail = {
    type: 'heard',
    peer: 'a',
    payloads: [{ channel: CHANNEL_MEMPOOL, bytes: Uint8Array.of(1) }],
  };
  expect(only(pool.tell(junk), 'score')).toMatchObject([{ peer: 'a', drop: true }]);
});
