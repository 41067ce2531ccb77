// Reads the stores of stopped nodes, each on its own: is every block there, does it hash to its commit, and
// is nothing missing that was reported committed?

import { sha256, utf8Decode, utf8Encode } from '#platform';
import { pairOfTx } from '../../../machines/apps/kvstore-tx.ts';
import {
  blockKey,
  STATE_KEY,
  STORE_RANGE_KEY,
  seenCommitKey,
  storeRange,
} from '../../../machines/chain/keys.ts';
import { byteKey, concatBytes, equalBytes } from '../../../protocol/bytes.ts';
import { headerHash } from '../../../protocol/hashes.ts';
import { memberText } from '../../../protocol/json/member-text.ts';
import { isRefusal, type Refusal } from '../../../protocol/refusal.ts';
import type { Block, ChainState, Commit } from '../../../protocol/types.ts';
import { decodeBlock, decodeChainState, decodeCommit } from '../../../protocol/wire/index.ts';
import { decodeWords } from '../../../protocol/words.ts';
import { type HostStore, openStore } from '../../host/disk/store.ts';
import { dataOf, storeIn } from '../../host/home/data-folder.ts';
import type { Agreement, Problems, Signatures } from './facts.ts';

export interface StoreFacts {
  readonly height: bigint;
  readonly txs: number;
  /** Transactions that stand in more than one block. */
  readonly twice: number;
}

/** Of stores that nobody can read. */
export const NO_STORE_FACTS: StoreFacts = { height: 0n, txs: 0, twice: 0 };

interface Reported {
  readonly name: string;
  readonly home: string;
  /** The last height that this node reported as committed. */
  readonly height: bigint;
}

/** @param txs height of each transaction that any node reported as committed, by hash */
export async function checkStores(
  node: Reported,
  txs: ReadonlyMap<string, bigint>,
  facts: { readonly problems: Problems; readonly agreement: Agreement; readonly signatures: Signatures },
): Promise<StoreFacts> {
  const data = dataOf(node.home);
  const chain = openStore(storeIn(data, 'chain'));
  try {
    const app = openStore(storeIn(data, 'app'));
    try {
      return new StoreCheck(node, chain, app, facts).run(txs);
    } finally {
      await app.close();
    }
  } finally {
    await chain.close();
  }
}

const PAIR_PREFIX = utf8Encode('kvPairKey:');
const APP_STATE_KEY = utf8Encode('stateKey');

class StoreCheck {
  private readonly node: Reported;
  private readonly chain: HostStore;
  private readonly app: HostStore;
  private readonly problems: Problems;
  private readonly agreement: Agreement;
  private readonly signatures: Signatures;
  private readonly who: string;

  constructor(
    node: Reported,
    chain: HostStore,
    app: HostStore,
    facts: { readonly problems: Problems; readonly agreement: Agreement; readonly signatures: Signatures },
  ) {
    this.node = node;
    this.chain = chain;
    this.app = app;
    this.problems = facts.problems;
    this.agreement = facts.agreement;
    this.signatures = facts.signatures;
    this.who = `the store of ${node.name}`;
  }

  run(reported: ReadonlyMap<string, bigint>): StoreFacts {
    const rangeBytes = this.chain.get(STORE_RANGE_KEY);
    const range = rangeBytes ? decodeWords(storeRange, rangeBytes) : null;
    if (!range) {
      this.problems.add(`${this.who} holds no blocks`);
      return { height: 0n, txs: 0, twice: 0 };
    }
    if (range.height < this.node.height) {
      this.problems.add(
        `${this.who} ends at ${range.height}: ${this.node.name} had reported ${this.node.height}`,
      );
    }
    const appHeight = this.appHeight();
    const found = new Map<string, bigint>();
    let twice = 0;
    for (let height = range.base; height <= range.height; height++) {
      const block = this.block(height);
      if (!block) continue;
      for (const tx of block.txs) {
        const hash = byteKey(sha256(tx));
        if (found.has(hash)) twice++;
        found.set(hash, height);
        if (height <= appHeight) this.pair(tx, height);
      }
    }
    this.state(appHeight);
    for (const [hash, height] of reported) {
      if (height <= range.height && found.get(hash) === undefined) {
        this.problems.add(`${this.who} lacks a transaction that was reported committed at height ${height}`);
      }
    }
    return { height: range.height, txs: found.size, twice };
  }

  private block(height: bigint): Block | null {
    const block = this.read<Block>(blockKey(height), decodeBlock);
    const commit = this.read<Commit>(seenCommitKey(height), decodeCommit);
    if (!block || !commit) {
      this.problems.add(`${this.who} lacks block ${height} or its commit`);
      return null;
    }
    const hash = headerHash(block.header);
    if (!equalBytes(hash, commit.blockId.hash)) {
      this.problems.add(`${this.who}: block ${height} does not hash to its commit`);
    }
    this.agreement.claim('block', height, hash, this.who);
    this.agreement.claim('transactions', height, sha256(concatBytes(...block.txs.map(sha256))), this.who);
    if (height > 1n) this.agreement.claim('app hash', height - 1n, block.header.appHash, this.who);
    this.signatures.commit(commit, this.who);
    if (block.lastCommit) this.signatures.commit(block.lastCommit, this.who);
    return block;
  }

  private read<T>(key: Uint8Array, decode: (bytes: Uint8Array) => T | Refusal): T | null {
    const bytes = this.chain.get(key);
    const value = bytes && decode(bytes);
    return value === undefined || isRefusal(value) ? null : (value as T);
  }

  private appHeight(): bigint {
    const saved = this.app.get(APP_STATE_KEY);
    return BigInt((saved && memberText(utf8Decode(saved), 'height')) ?? 0);
  }

  private state(appHeight: bigint): void {
    const state = this.read<ChainState>(STATE_KEY, decodeChainState);
    if (!state) return this.problems.add(`${this.who} holds no state`);
    this.agreement.claim('app hash', state.lastBlockHeight, state.appHash, this.who);
    if (appHeight < state.lastBlockHeight) {
      this.problems.add(
        `${this.who}: the application's state ends at ${appHeight}, the chain's at ${state.lastBlockHeight}`,
      );
    }
  }

  private pair(tx: Uint8Array, height: bigint): void {
    const pair = pairOfTx(tx);
    const value = pair && this.app.get(concatBytes(PAIR_PREFIX, pair.key));
    if (!pair || !value || !equalBytes(value, pair.value)) {
      this.problems.add(`${this.who}: the application lacks a transaction of block ${height}`);
    }
  }
}
