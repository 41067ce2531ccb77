// The key-value application of CometBFT 0.38 (spec 7.1): its state, its answers, and an app hash that only
// counts transactions.

import { utf8Decode, utf8Encode } from '#platform';
import {
  type AbciRequest,
  type AbciResponse,
  type ExecTxResult,
  MISBEHAVIOR_DUPLICATE_VOTE,
  type RequestFinalizeBlock,
  type RequestQuery,
} from '../../protocol/abci.ts';
import { byteKey, concatBytes, settled } from '../../protocol/bytes.ts';
import { addressOf } from '../../protocol/keys.ts';
import { isRefusal } from '../../protocol/refusal.ts';
import { ABCI_VERSION, EMPTY_BYTES, type PublicKey, type ValidatorUpdate } from '../../protocol/types.ts';
import { SetSum } from '../set-sum.ts';
import type { Application, Pair, PairWrite } from './application.ts';
import { ACCEPT, COMMITTED, PLAIN_QUERY, PLAIN_RESULT, REJECT } from './base.ts';
import { formattedTx, isValidatorTx, judgeTx, pairOfTx, parseValidatorTx } from './kvstore-tx.ts';

const APP_VERSION = 1n;
const CODE_INVALID_TX = 2;

const STATE_KEY = utf8Encode('stateKey');
const PAIR_PREFIX = utf8Encode('kvPairKey:');
const VALIDATOR_PREFIX = utf8Encode('val=');

export class KvStore implements Application {
  readonly name = 'kvstore';
  /** Everything committed, by the bytes of the key: pairs, validators, and the size and height. */
  private readonly pairs = new Map<string, Pair>();
  private readonly sum = new SetSum();
  private readonly keysByAddress = new Map<string, PublicKey>();
  private writes: PairWrite[] = [];
  /** Transactions in finalized blocks, and the height of the last of these. */
  private size = 0;
  private height = 0n;
  private staged: readonly Uint8Array[] = [];
  private updates: readonly ValidatorUpdate[] = [];

  answer(request: AbciRequest): AbciResponse {
    switch (request.type) {
      case 'info':
        return this.info();
      case 'init-chain':
        for (const update of request.value.validators) this.updateValidator(update);
        return { type: 'init-chain', value: { validators: [], appHash: appHashOf(this.size) } };
      case 'query':
        return this.query(request.value);
      case 'check-tx':
        return {
          type: 'check-tx',
          value: isRefusal(judgeTx(request.value.tx))
            ? { ...PLAIN_RESULT, code: CODE_INVALID_TX }
            : { ...PLAIN_RESULT, gasWanted: 1n },
        };
      case 'prepare-proposal': {
        const txs = request.value.txs.filter((tx) => !isRefusal(judgeTx(tx))).map(formattedTx);
        return { type: 'prepare-proposal', value: { txs } };
      }
      case 'process-proposal':
        return request.value.txs.some((tx) => isRefusal(judgeTx(tx))) ? REJECT : ACCEPT;
      case 'finalize-block':
        return this.finalize(request.value);
      case 'commit':
        return this.commit();
    }
  }

  drainWrites(): PairWrite[] {
    const drained = this.writes;
    this.writes = [];
    return drained;
  }

  restore(pairs: readonly Pair[]): void {
    for (const { key, value } of pairs) {
      this.pairs.set(byteKey(key), { key, value });
      this.sum.addPair(key, value);
      if (isValidatorTx(key)) this.rememberKey(key.subarray(VALIDATOR_PREFIX.length));
    }
    const saved = this.pairs.get(byteKey(STATE_KEY));
    if (!saved) return;
    const state = JSON.parse(utf8Decode(saved.value)) as { size: number; height: number };
    this.size = state.size;
    this.height = BigInt(state.height);
  }

  digest(): Uint8Array {
    return this.sum.value();
  }

  digestFromScratch(): Uint8Array {
    const sum = new SetSum();
    for (const { key, value } of this.pairs.values()) sum.addPair(key, value);
    return sum.value();
  }

  private info(): AbciResponse {
    return {
      type: 'info',
      value: {
        data: `{"size":${this.size}}`,
        version: ABCI_VERSION,
        appVersion: APP_VERSION,
        lastBlockHeight: this.height,
        lastBlockAppHash: appHashOf(this.size),
      },
    };
  }

  private query({ path, data, prove }: RequestQuery): AbciResponse {
    if (path === '/val') {
      const value = this.get(concatBytes(VALIDATOR_PREFIX, data)) ?? EMPTY_BYTES;
      return { type: 'query', value: { ...PLAIN_QUERY, key: data, value } };
    }
    const value = this.get(concatBytes(PAIR_PREFIX, data));
    return {
      type: 'query',
      value: {
        ...PLAIN_QUERY,
        log: value ? 'exists' : 'does not exist',
        index: prove ? -1n : 0n,
        key: data,
        value: value ?? EMPTY_BYTES,
        height: this.height,
      },
    };
  }

  private finalize(request: RequestFinalizeBlock): AbciResponse {
    const updates: ValidatorUpdate[] = [];
    for (const { type, validator } of request.misbehavior) {
      if (type !== MISBEHAVIOR_DUPLICATE_VOTE) continue;
      const publicKey = this.keysByAddress.get(byteKey(validator.address));
      // CometBFT's kvstore panics at a validator that has left since, and every node of the chain halts with it.
      if (publicKey) updates.push({ publicKey, power: validator.power - 1n });
    }
    const staged: Uint8Array[] = [];
    for (const tx of request.txs) {
      if (!isValidatorTx(tx)) {
        staged.push(tx);
        continue;
      }
      const update = parseValidatorTx(tx);
      if (isRefusal(update)) return { type: 'exception', value: { error: update.because } };
      updates.push(update);
    }
    this.staged = staged;
    // Who is no validator cannot leave: CometBFT's node refuses the block that it has decided, and stops.
    this.updates = lastOfEachKey(updates).filter((update) => update.power > 0n || this.isValidator(update));
    this.size += request.txs.length;
    this.height = request.height;
    return {
      type: 'finalize-block',
      value: {
        events: [],
        txResults: request.txs.map(resultOf),
        validatorUpdates: this.updates,
        appHash: appHashOf(this.size),
      },
    };
  }

  private commit(): AbciResponse {
    for (const update of this.updates) this.updateValidator(update);
    for (const tx of this.staged) {
      const pair = pairOfTx(tx);
      if (!pair) return { type: 'exception', value: { error: `unexpected tx format: ${utf8Decode(tx)}` } };
      this.set(concatBytes(PAIR_PREFIX, pair.key), settled(pair.value));
    }
    this.staged = [];
    this.updates = [];
    this.set(STATE_KEY, utf8Encode(`{"size":${this.size},"height":${this.height}}`));
    return COMMITTED;
  }

  private updateValidator(update: ValidatorUpdate): void {
    const key = concatBytes(VALIDATOR_PREFIX, update.publicKey.bytes);
    if (update.power === 0n) {
      this.remove(key);
      this.keysByAddress.delete(byteKey(addressOf(update.publicKey)));
      return;
    }
    this.set(key, delimitedUpdate(update));
    this.rememberKey(update.publicKey.bytes);
  }

  private rememberKey(bytes: Uint8Array): void {
    const publicKey: PublicKey = { type: bytes.length === 32 ? 'ed25519' : 'secp256k1', bytes };
    this.keysByAddress.set(byteKey(addressOf(publicKey)), publicKey);
  }

  private isValidator({ publicKey }: ValidatorUpdate): boolean {
    return this.get(concatBytes(VALIDATOR_PREFIX, publicKey.bytes)) !== undefined;
  }

  private get(key: Uint8Array): Uint8Array | undefined {
    return this.pairs.get(byteKey(key))?.value;
  }

  private set(key: Uint8Array, value: Uint8Array): void {
    const name = byteKey(key);
    const before = this.pairs.get(name);
    if (before) this.sum.removePair(key, before.value);
    this.sum.addPair(key, value);
    this.pairs.set(name, { key, value });
    this.writes.push({ key, value, remove: false });
  }

  private remove(key: Uint8Array): void {
    const name = byteKey(key);
    const before = this.pairs.get(name);
    if (!before) return;
    this.sum.removePair(key, before.value);
    this.pairs.delete(name);
    this.writes.push({ key, value: EMPTY_BYTES, remove: true });
  }
}

/**
 * A validator changes once in a block, as the last word about it says. CometBFT's application returns both words of two, and its node
 * then refuses the block that it has decided, and stops.
 */
function lastOfEachKey(updates: readonly ValidatorUpdate[]): readonly ValidatorUpdate[] {
  const byKey = new Map<string, ValidatorUpdate>();
  for (const update of updates) {
    const key = byteKey(update.publicKey.bytes);
    byKey.delete(key);
    byKey.set(key, update);
  }
  return byKey.size === updates.length ? updates : [...byKey.values()];
}

/** Eight bytes that start with Go's signed varint of the size (State.Hash). */
function appHashOf(size: number): Uint8Array {
  const hash = new Uint8Array(8);
  hash.set(uvarint(BigInt(size) * 2n));
  return hash;
}

function uvarint(value: bigint): number[] {
  const bytes: number[] = [];
  let rest = value;
  for (; rest >= 128n; rest >>= 7n) bytes.push(Number(rest & 127n) | 128);
  bytes.push(Number(rest));
  return bytes;
}

/** Protobuf ValidatorUpdate `{1 pub_key {1 ed25519 | 2 secp256k1}, 2 power}` behind its length. */
function delimitedUpdate({ publicKey, power }: ValidatorUpdate): Uint8Array {
  const { type, bytes } = publicKey;
  const key = [type === 'ed25519' ? 0x0a : 0x12, bytes.length, ...bytes];
  const update = [0x0a, key.length, ...key, ...(power === 0n ? [] : [0x10, ...uvarint(power)])];
  return Uint8Array.from([...uvarint(BigInt(update.length)), ...update]);
}

/**
 * The same two events for every transaction; KEY and VALUE are the parts around a single `=`, else the whole.
 */
function resultOf(tx: Uint8Array): ExecTxResult {
  const pair = pairOfTx(tx);
  const key = utf8Decode(pair ? pair.key : tx);
  const value = pair ? utf8Decode(pair.value) : key;
  return { ...PLAIN_RESULT, events: [event('Cosmoshi Netowoko', key), event('Cosmoshi', value)] };
}

function event(creator: string, key: string): ExecTxResult['events'][number] {
  return {
    type: 'app',
    attributes: [
      { key: 'creator', value: creator, index: true },
      { key: 'key', value: key, index: true },
      { key: 'index_key', value: 'index is working', index: true },
      { key: 'noindex_key', value: 'index is working', index: false },
    ],
  };
}
