// The key-value application of CometBFT 0.38 (spec 7.1): its state, its answers, and an app hash that only
// counts transactions.

import { utf8Decode, utf8Encode } from '#platform';
import {
  type AbciRequest,
  type AbciResponse,
  type ExecTxResult,
  MISBEHAVIOR_DUPLICATE_VOTE,
  type RequestFinalizeBlock,
  type RequestInitChain,
  type RequestQuery,
} from '../../protocol/abci.ts';
import { byteKey, concatBytes, settled } from '../../protocol/bytes.ts';
import { memberText } from '../../protocol/json/member-text.ts';
import { ED25519_KEY_BYTES } from '../../protocol/keys.ts';
import { isRefusal } from '../../protocol/refusal.ts';
import { ABCI_VERSION, EMPTY_BYTES, type ValidatorUpdate } from '../../protocol/types.ts';
import { SetSum } from '../set-sum.ts';
import type { Application, Pair, PairWrite } from './application.ts';
import { ACCEPT, COMMITTED, PLAIN_QUERY, PLAIN_RESULT, REJECT, thoseThatFit } from './base.ts';
import { onDisk, restored } from './kvstore-pairs.ts';
import { formattedTx, isValidatorTx, judgeTx, pairOfTx, parseValidatorTx } from './kvstore-tx.ts';
import { KvValidators, limitsOf, type SetLimits, USUAL_LIMITS } from './kvstore-validators.ts';

const APP_VERSION = 1n;
const CODE_INVALID_TX = 2;

const STATE_KEY = utf8Encode('stateKey');
/** Kept where the chain allows other keys than usual, or sets of another size. */
const KEY_TYPES_KEY = utf8Encode('keyTypes');
const MEMBERS_MAX_KEY = utf8Encode('membersMax');
const PAIR_PREFIX = utf8Encode('kvPairKey:');
const VALIDATOR_PREFIX = utf8Encode('val=');

export class KvStore implements Application {
  readonly name = 'kvstore';
  /** Everything committed, by the bytes of the key: pairs, validators, and the size and height. */
  private readonly pairs = new Map<string, Pair>();
  private readonly sum = new SetSum();
  private readonly validators = new KvValidators();
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
        return this.initChain(request.value);
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
        const { txs, maxTxBytes } = request.value;
        const formatted = txs.filter((tx) => !isRefusal(judgeTx(tx))).map(formattedTx);
        return { type: 'prepare-proposal', value: { txs: thoseThatFit(formatted, maxTxBytes) } };
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
    if (pairs.length === 0) return;
    for (const { key, value } of pairs.map(restored)) {
      this.pairs.set(byteKey(key), { key, value });
      this.sum.addPair(key, value);
      if (isValidatorTx(key)) this.validators.set(updateOf(key.subarray(VALIDATOR_PREFIX.length), value));
    }
    this.restoreLimits();
    const saved = this.pairs.get(byteKey(STATE_KEY));
    if (!saved) return;
    const state = utf8Decode(saved.value);
    this.size = Number(memberText(state, 'size'));
    this.height = BigInt(memberText(state, 'height') ?? 0); // it may be beyond what a number holds
  }

  digest(): Uint8Array {
    return this.sum.value();
  }

  digestFromScratch(): Uint8Array {
    const sum = new SetSum();
    for (const { key, value } of this.pairs.values()) sum.addPair(key, value);
    return sum.value();
  }

  private initChain({ validators, consensusParams }: RequestInitChain): AbciResponse {
    this.begin(limitsOf(consensusParams));
    for (const update of validators) this.updateValidator(update);
    return { type: 'init-chain', value: { validators: [], appHash: appHashOf(this.size) } };
  }

  private begin(limits: SetLimits): void {
    const types = JSON.stringify(limits.types);
    if (types !== JSON.stringify(USUAL_LIMITS.types)) this.set(KEY_TYPES_KEY, utf8Encode(types));
    const { membersMax } = limits;
    if (membersMax !== USUAL_LIMITS.membersMax) this.set(MEMBERS_MAX_KEY, utf8Encode(`${membersMax}`));
    this.validators.begin(limits);
  }

  private restoreLimits(): void {
    const types = this.get(KEY_TYPES_KEY);
    const membersMax = this.get(MEMBERS_MAX_KEY);
    this.validators.begin({
      types: types ? (JSON.parse(utf8Decode(types)) as string[]) : USUAL_LIMITS.types,
      membersMax: membersMax ? Number(utf8Decode(membersMax)) : USUAL_LIMITS.membersMax,
    });
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
      const publicKey = this.validators.keyAt(validator.address);
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
    this.updates = this.validators.admitted(updates);
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
      const pair = pairOfTx(formattedTx(tx)); // whoever proposed it may not have formatted it
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
    this.validators.set(update);
    if (update.power === 0n) this.remove(key);
    else this.set(key, delimitedUpdate(update));
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
    this.writes.push(onDisk({ key, value, remove: false }));
  }

  private remove(key: Uint8Array): void {
    const name = byteKey(key);
    const before = this.pairs.get(name);
    if (!before) return;
    this.sum.removePair(key, before.value);
    this.pairs.delete(name);
    this.writes.push(onDisk({ key, value: EMPTY_BYTES, remove: true }));
  }
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

/** The reverse, of a key that is known. */
function updateOf(bytes: Uint8Array, delimited: Uint8Array): ValidatorUpdate {
  const type = bytes.length === ED25519_KEY_BYTES ? 'ed25519' : 'secp256k1';
  // Behind a length, two tags with their lengths, the key, and a tag.
  const varint = delimited.subarray(1 + 4 + bytes.length + 1);
  let power = 0n;
  varint.forEach((byte, i) => {
    power |= BigInt(byte & 127) << BigInt(7 * i);
  });
  return { publicKey: { type, bytes }, power };
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
