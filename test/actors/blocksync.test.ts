import { expect, it } from 'vitest';
import { type BlocksyncState, blocksyncLogic } from '../../actors/blocksync.ts';
import type { BlocksyncMail } from '../../actors/mail.ts';
import { DEFAULT_NODE, nodeCast } from '../../actors/node.ts';
import type { Effect, Logic } from '../../actors/turn.ts';
import { blockKey, STORE_RANGE_KEY, storeRange } from '../../machines/chain/keys.ts';
import { blockResponseOf } from '../../machines/sync/block-response.ts';
import { DEFAULT_SYNC } from '../../machines/sync/config.ts';
import { commitHash, dataHash, evidenceListHash } from '../../protocol/hashes.ts';
import { type BlocksyncMessage, CHANNEL_BLOCKSYNC } from '../../protocol/messages.ts';
import { isRefusal, unreachable } from '../../protocol/refusal.ts';
import {
  BLOCK_PROTOCOL,
  type Block,
  type BlockId,
  type Commit,
  FLAG_COMMIT,
  NIL_BLOCK_ID,
} from '../../protocol/types.ts';
import {
  decodeBlocksyncMessage,
  encodeBlock,
  encodeBlocksyncMessage,
  encodeCommit,
} from '../../protocol/wire/index.ts';
import { encodeWords } from '../../protocol/words.ts';
import { makeCast } from '../../sim/cast.ts';
import { Driven, only, said } from './drive.ts';

const S = 1_000_000_000n;
const filled = (fill: number, length = 32): Uint8Array => new Uint8Array(length).fill(fill);

const commitFor = (height: bigint): Commit => {
  if (height === 0n) return { height, round: 0, blockId: NIL_BLOCK_ID, signatures: [] };
  const blockId: BlockId = { hash: filled(Number(height)), parts: { total: 1, hash: filled(1) } };
  const signature = {
    flag: FLAG_COMMIT,
    validatorAddress: filled(2, 20),
    timeNs: 5n,
    signature: filled(3, 64),
  };
  return { height, round: 0, blockId, signatures: [signature] };
};

/** Valid by itself; no validator would agree. */
function blockAt(height: bigint): Block {
  const lastCommit = commitFor(height - 1n);
  const txs = [Uint8Array.of(Number(height))];
  return {
    header: {
      version: { block: BLOCK_PROTOCOL, app: 1n },
      chainId: 'c',
      height,
      timeNs: height * S,
      lastBlockId: lastCommit.blockId,
      lastCommitHash: commitHash(lastCommit),
      dataHash: dataHash(txs),
      validatorsHash: filled(4),
      nextValidatorsHash: filled(5),
      consensusHash: filled(6),
      appHash: filled(7),
      lastResultsHash: filled(8),
      evidenceHash: evidenceListHash([]),
      proposerAddress: filled(9, 20),
    },
    txs,
    evidence: [],
    lastCommit,
  };
}

type Blocksync = Driven<BlocksyncState, BlocksyncMail>;
const blocksync = (...peersKnown: string[]): Blocksync =>
  new Driven(blocksyncLogic({ ...DEFAULT_SYNC, peersKnown }));

const heard = (peer: string, ...messages: BlocksyncMessage[]): BlocksyncMail => ({
  type: 'heard',
  peer,
  payloads: messages.map((message) => ({
    channel: CHANNEL_BLOCKSYNC,
    bytes: encodeBlocksyncMessage(message),
  })),
});
const response = (peer: string, height: bigint): BlocksyncMail =>
  heard(peer, { type: 'block-response', block: blockAt(height), extendedCommit: null });
const status = (peer: string, height: bigint): BlocksyncMail =>
  heard(peer, { type: 'status-response', base: 1n, height });
const up = (peer: string): BlocksyncMail => ({ type: 'peer-up', peer });
const timer = (name: string): BlocksyncMail => ({ type: 'timer', timer: name });

/** `to: what height` of each message sent; from which on, too, where it says so and is asked for it. */
const sentOf = (effects: readonly Effect[], withBase = false): string[] =>
  only(effects, 'send').flatMap(({ to, payloads }) =>
    payloads.map(({ bytes }) => {
      const message = decodeBlocksyncMessage(bytes);
      if (isRefusal(message)) return unreachable(message.because);
      const height =
        'height' in message ? message.height : 'block' in message ? message.block.header.height : '';
      const from = withBase && 'base' in message ? `${message.base} to ` : '';
      return `${to.join()}: ${message.type} ${from}${height}`.trim();
    }),
  );

/** What it tells a peer that asks how far it is, when its store reaches so far. */
function told(driven: Blocksync, peer: string, range: { base: bigint; height: bigint }): string[] {
  const [load] = only(driven.tell(heard(peer, { type: 'status-request' })), 'load');
  expect(load?.from).toEqual(STORE_RANGE_KEY);
  const found = [{ key: STORE_RANGE_KEY, value: encodeWords(storeRange, range) }];
  return sentOf(driven.tell({ type: 'loaded', tag: load?.tag ?? 0, found }), true);
}

/** Joins at height 1, with peers that claim 9. */
function syncing(...peers: string[]): Blocksync {
  const driven = blocksync();
  for (const peer of peers) driven.tell(up(peer));
  driven.tell({ type: 'sync-from', height: 1n, base: 0n, sync: true });
  for (const peer of peers) driven.tell(status(peer, 9n));
  driven.monoNs = 3n * S;
  return driven;
}

it('does not read what is long of whom it asks nothing, and whoever it asks is read', () => {
  const bytes = new Uint8Array(65 * 1024).fill(0xff);
  const long = (peer: string): BlocksyncMail => ({
    type: 'heard',
    peer,
    payloads: [{ channel: CHANNEL_BLOCKSYNC, bytes }],
  });
  const idle = blocksync();
  idle.tell(up('a'));
  expect(said(idle.tell(long('a')))).toEqual([]);
  const driven = syncing('a');
  expect(sentOf(driven.tell(timer('begin')))).toContain('a: block-request 1');
  driven.tell(up('b'));
  const scoresIn = (effects: readonly Effect[]): string[] => only(effects, 'score').map(({ peer }) => peer);
  expect(scoresIn(driven.tell(long('b')))).toEqual([]);
  expect(scoresIn(driven.tell(long('a')))).toEqual(['a']);
});

it('says where it is to who comes, and asks everybody when it has to sync', () => {
  const driven = blocksync();
  expect(sentOf(driven.tell(up('a')))).toEqual([]); // before the handshake nothing is known
  expect(sentOf(driven.tell(heard('a', { type: 'status-request' })))).toEqual([]);
  const effects = driven.tell({ type: 'sync-from', height: 6n, base: 1n, sync: true });
  expect(sentOf(effects)).toEqual(['a: status-response 5', 'a: status-request']);
  expect(said(effects).slice(2)).toEqual(['schedule begin', 'schedule check', 'schedule status']);
  expect(sentOf(driven.tell(up('b')))).toEqual(['b: status-request']);
  expect(told(driven, 'b', { base: 1n, height: 5n })).toEqual(['b: status-response 1 to 5']);
  expect(sentOf(driven.tell(timer('status')))).toEqual(['a,b: status-request']);
});

it('says that it has nothing, on a chain that begins late', () => {
  const driven = blocksync();
  driven.tell(up('a'));
  const effects = driven.tell({ type: 'sync-from', height: 1_000n, base: 0n, sync: true });
  expect(sentOf(effects)).toEqual(['a: status-response 0', 'a: status-request']);
});

it('begins before the wait is over when most of the peers that it knows have reported', () => {
  const driven = blocksync('a', 'b', 'c');
  for (const peer of ['a', 'b', 'c']) driven.tell(up(peer));
  driven.tell({ type: 'sync-from', height: 1n, base: 0n, sync: true });
  expect(sentOf(driven.tell(status('a', 9n)))).toEqual([]);
  expect(sentOf(driven.tell(status('b', 9n)))).toContain('a: block-request 1');
});

it('strangers do not end the wait for those that it knows', () => {
  const driven = blocksync('a', 'b', 'c');
  for (const peer of ['x', 'y', 'a', 'b']) driven.tell(up(peer));
  driven.tell({ type: 'sync-from', height: 9n, base: 1n, sync: true });
  for (const peer of ['x', 'y', 'a']) expect(said(driven.tell(status(peer, 8n)))).toEqual([]);
  expect(said(driven.tell(status('b', 8n)))).toContain('tell validator caught-up');
});

it('fetches in order and hands over one block at a time, with the commit of the next', () => {
  const driven = syncing('a');
  expect(sentOf(driven.tell(timer('begin')))).toEqual(['a: block-request 1', 'a: block-request 2']);
  expect(only(driven.tell(response('a', 2n)), 'tell')).toEqual([]);
  const [first] = only(driven.tell(response('a', 1n)), 'tell');
  expect(first).toEqual({
    type: 'tell',
    to: 'validator',
    message: {
      type: 'block-fetched',
      height: 1n,
      block: encodeBlock(blockAt(1n)),
      commit: encodeCommit(commitFor(1n)),
    },
  });
  expect(only(driven.tell(response('a', 3n)), 'tell')).toEqual([]);
  const [second] = only(driven.tell({ type: 'block-applied', height: 1n }), 'tell');
  expect(second?.message).toMatchObject({ type: 'block-fetched', height: 2n });
});

it('says what its store has, also while it syncs: blocks may go meanwhile', () => {
  const driven = syncing('a', 'joiner');
  expect(told(driven, 'joiner', { base: 1n, height: 100n })).toEqual(['joiner: status-response 1 to 100']);
  expect(told(driven, 'joiner', { base: 91n, height: 101n })).toEqual(['joiner: status-response 91 to 101']);
});

it('joins consensus when it is caught up, and only serves from then on', () => {
  const driven = syncing('a');
  driven.tell(timer('begin'));
  for (let height = 1n; height <= 9n; height++) driven.tell(response('a', height));
  for (let height = 1n; height < 7n; height++) {
    expect(said(driven.tell({ type: 'block-applied', height }))).toContain('tell validator block-fetched');
  }
  expect(said(driven.tell({ type: 'block-applied', height: 7n }))).toEqual([
    'cancel begin',
    'cancel check',
    'cancel status',
    'tell validator caught-up',
  ]);
  expect(driven.tell(timer('check'))).toEqual([]);
  expect(said(driven.tell(response('a', 9n)))).toEqual([]); // asked for while we were syncing
  expect(told(driven, 'a', { base: 1n, height: 8n })).toEqual(['a: status-response 1 to 8']);
});

it('is caught up at the first look among peers that are no further', () => {
  const driven = blocksync();
  driven.tell(up('a'));
  driven.tell({ type: 'sync-from', height: 1n, base: 0n, sync: true });
  expect(said(driven.tell(timer('check')))).toEqual(['schedule check']); // nobody said anything yet
  driven.tell(heard('a', { type: 'status-response', base: 0n, height: 0n }));
  expect(said(driven.tell(timer('check')))).toContain('tell validator caught-up');
});

it('does not wait for the first look when most of the peers that it knows are no further', () => {
  const driven = blocksync('a', 'b', 'c');
  for (const peer of ['a', 'b', 'c']) driven.tell(up(peer));
  driven.tell({ type: 'sync-from', height: 9n, base: 1n, sync: true });
  expect(said(driven.tell(status('a', 8n)))).toEqual([]);
  expect(said(driven.tell(status('b', 9n)))).toContain('tell validator caught-up');
});

it('waits for the first look where a chain begins, and for the next one once it syncs', () => {
  const began = blocksync('a', 'b', 'c');
  for (const peer of ['a', 'b', 'c']) began.tell(up(peer));
  began.tell({ type: 'sync-from', height: 1n, base: 0n, sync: true });
  for (const peer of ['a', 'b', 'c'])
    expect(said(began.tell(heard(peer, { type: 'status-response', base: 0n, height: 0n })))).toEqual([]);

  const driven = blocksync('a', 'b', 'c');
  for (const peer of ['a', 'b', 'c']) driven.tell(up(peer));
  driven.tell({ type: 'sync-from', height: 9n, base: 1n, sync: true });
  driven.tell(status('c', 99n));
  for (const peer of ['a', 'b']) driven.tell(status(peer, 8n));
  driven.monoNs = 4n * S;
  expect(said(driven.tell({ type: 'peer-down', peer: 'c' }))).toEqual([]); // it may be back in a moment
  expect(said(driven.tell(timer('check')))).toContain('tell validator caught-up');
});

it('drops who lied when a block is refused', () => {
  const driven = syncing('a');
  driven.tell(timer('begin'));
  for (const height of [1n, 2n]) driven.tell(response('a', height));
  const effects = driven.tell({ type: 'block-refused', height: 1n, because: 'wrong signature' });
  expect(effects).toEqual([
    { type: 'score', peer: 'a', because: 'block sync at height 1: wrong signature', drop: true },
  ]);
  driven.tell(up('b'));
  expect(sentOf(driven.tell(status('b', 9n)))).toEqual(['b: block-request 1', 'b: block-request 2']);
});

it('a height that nobody serves does not keep it for ever', () => {
  const driven = syncing('a', 'b');
  driven.tell(timer('begin'));
  const words: string[] = [];
  for (let second = 4n; second <= 61n; second++) {
    driven.monoNs = second * S;
    words.push(...said(driven.tell(timer('check'))));
    for (const peer of ['a', 'b']) driven.tell(status(peer, 1_000n));
  }
  expect(words.filter((word) => word.startsWith('drop')).length).toBeGreaterThanOrEqual(2);
  expect(words.slice(-5)).toEqual([
    'publish warning',
    'cancel begin',
    'cancel check',
    'cancel status',
    'tell validator caught-up',
  ]);
});

it('the time that it was alone counts for nothing: who comes then may have what it lacks', () => {
  const driven = blocksync();
  driven.tell({ type: 'sync-from', height: 1n, base: 0n, sync: true });
  driven.monoNs = 70n * S;
  expect(said(driven.tell(timer('check')))).toEqual(['schedule check']);
  expect(sentOf(driven.tell(up('a')))).toEqual(['a: status-request']);
  driven.tell(status('a', 100n));
  expect(said(driven.tell(timer('check')))).toEqual(['schedule check']);
  driven.monoNs = 129n * S;
  expect(said(driven.tell(timer('check')))).not.toContain('tell validator caught-up');
});

it('a peer alone that claims what it has not is asked what it has, and caught by what it says', () => {
  const driven = syncing('a');
  driven.tell(up('b'));
  driven.tell(status('b', 1n));
  driven.tell(timer('begin'));
  const effects = driven.tell(heard('a', { type: 'no-block-response', height: 2n }));
  expect(sentOf(effects)).toContain('a: status-request');
  driven.monoNs = 10n * S;
  driven.tell(status('a', 9n));
  expect(said(driven.tell(timer('check')))).toContain('tell validator caught-up');
});

it('drops a peer that sends what is not asked for, or no message at all', () => {
  const driven = syncing('a');
  expect(said(driven.tell(response('a', 5n)))).toEqual(['drop a']);
  const broken: BlocksyncMail = {
    type: 'heard',
    peer: 'a',
    payloads: [{ channel: CHANNEL_BLOCKSYNC, bytes: Uint8Array.of(9, 9) }],
  };
  expect(said(driven.tell(broken))).toEqual(['drop a']);
  const serving = blocksync();
  serving.tell(up('a'));
  serving.tell({ type: 'sync-from', height: 9n, base: 1n, sync: false });
  expect(said(serving.tell(response('a', 5n)))).toEqual(['drop a']);
  expect(serving.tell(response('stranger', 5n))).toEqual([]);
});

it('serves what its store has', () => {
  const driven = blocksync();
  driven.tell(up('a'));
  driven.tell({ type: 'sync-from', height: 9n, base: 3n, sync: false });
  const ask = (height: bigint): readonly Effect[] =>
    driven.tell(heard('a', { type: 'block-request', height }));
  expect(sentOf(ask(0n))).toEqual(['a: no-block-response 0']);
  const [load] = only(ask(5n), 'load');
  expect(load).toEqual({
    type: 'load',
    store: 'chain',
    from: blockKey(5n),
    to: blockKey(6n),
    limit: 1,
    which: 'first',
    tag: 1,
  });
  const value = encodeBlock(blockAt(5n));
  const effects = driven.tell({ type: 'loaded', tag: 1, found: [{ key: blockKey(5n), value }] });
  expect(sentOf(effects)).toEqual(['a: block-response 5']);
  const [other] = only(ask(6n), 'load');
  expect(sentOf(driven.tell({ type: 'loaded', tag: other!.tag, found: [] }))).toEqual([
    'a: no-block-response 6',
  ]);
  const [late] = only(ask(6n), 'load');
  driven.tell({ type: 'peer-down', peer: 'a' });
  expect(driven.tell({ type: 'loaded', tag: late!.tag, found: [] })).toEqual([]);
});

it('answers who asked, and not who comes back', () => {
  const driven = blocksync();
  driven.tell(up('a'));
  driven.tell({ type: 'sync-from', height: 9n, base: 3n, sync: false });
  const ask = (): readonly Effect[] => driven.tell(heard('a', { type: 'block-request', height: 6n }));
  const [old] = only(ask(), 'load');
  driven.tell({ type: 'peer-down', peer: 'a' });
  driven.tell(up('a'));
  const [anew] = only(ask(), 'load');
  expect(driven.tell({ type: 'loaded', tag: old!.tag, found: [] })).toEqual([]);
  const answer = driven.tell({ type: 'loaded', tag: anew!.tag, found: [] });
  expect(sentOf(answer)).toEqual(['a: no-block-response 6']);
});

it('answers no more requests of a peer than an honest one has open', () => {
  const driven = blocksync();
  driven.tell(up('a'));
  driven.tell({ type: 'sync-from', height: 9n, base: 1n, sync: false });
  const requests = Array.from({ length: 80 }, () => ({ type: 'block-request', height: 5n }) as const);
  expect(only(driven.tell(heard('a', ...requests)), 'load').length).toBe(50);
});

it('wraps a stored block as the codec would', () => {
  const block = blockAt(5n);
  const wanted = encodeBlocksyncMessage({ type: 'block-response', block, extendedCommit: null });
  expect(blockResponseOf(encodeBlock(block))).toEqual(wanted);
});

it('is nobody whom it waits for: who is told of itself and one other has heard most when it has heard that one', () => {
  const { genesis } = makeCast({ powers: [1n, 1n] });
  const [own, other] = ['aa'.repeat(20), 'bb'.repeat(20)] as const;
  const { logics } = nodeCast(
    {
      ...DEFAULT_NODE,
      id: own,
      name: 'v0',
      genesis,
      publicKey: null,
      peers: [own, other].map((peer) => ({ peer, address: 'ws://127.0.0.1:1' })),
    },
    { verify: () => true },
  );
  const logic = logics.find(({ name }) => name === 'blocksync') ?? unreachable('every node syncs');
  const driven = new Driven(logic as unknown as Logic<BlocksyncState, BlocksyncMail>);
  driven.tell(up(other));
  driven.tell({ type: 'sync-from', height: 9n, base: 1n, sync: true });
  expect(said(driven.tell(status(other, 8n)))).toContain('tell validator caught-up');
});
