// The counter application (spec 7.3, in ABCI 2.0 form): counts transactions, and in serial mode wants them
// numbered. Keeps nothing over a restart.

import { utf8Encode } from '#platform';
import type { AbciRequest, AbciResponse, ExecTxResult, ResponseCheckTx } from '../../protocol/abci.ts';
import { EMPTY_BYTES } from '../../protocol/types.ts';
import { setSumOf } from '../set-sum.ts';
import type { Application, PairWrite } from './application.ts';
import { ACCEPT, COMMITTED, PLAIN_QUERY, PLAIN_RESULT, txsThatFit } from './base.ts';

const CODE_ENCODING = 1;
const CODE_BAD_NONCE = 2;
/** In serial mode a transaction is a number of 64 bits. */
const SERIAL_TX_BYTES_MAX = 8;

export class Counter implements Application {
  readonly name: string;
  private readonly serial: boolean;
  /** Of finalized blocks, and of committed ones. */
  private txs = 0n;
  private txsCommitted = 0n;
  private hashes = 0n;

  constructor(serial: boolean) {
    this.serial = serial;
    this.name = serial ? 'counter_serial' : 'counter';
  }

  answer(request: AbciRequest): AbciResponse {
    switch (request.type) {
      case 'info':
        return {
          type: 'info',
          value: {
            data: `{"hashes":${this.hashes},"txs":${this.txs}}`,
            version: '',
            appVersion: 0n,
            lastBlockHeight: 0n,
            lastBlockAppHash: EMPTY_BYTES,
          },
        };
      case 'init-chain':
        this.txs = 0n;
        this.txsCommitted = 0n;
        this.hashes = 0n;
        return { type: 'init-chain', value: { validators: [], appHash: EMPTY_BYTES } };
      case 'query':
        return this.query(request.value.path);
      case 'check-tx':
        return { type: 'check-tx', value: this.judge(request.value.tx, 'at least') };
      case 'prepare-proposal':
        return txsThatFit(request.value);
      case 'process-proposal':
        return ACCEPT;
      case 'finalize-block': {
        const txResults = request.value.txs.map((tx) => this.deliver(tx));
        const value = { events: [], txResults, validatorUpdates: [], appHash: this.appHash() };
        return { type: 'finalize-block', value };
      }
      case 'commit':
        this.hashes += 1n;
        this.txsCommitted = this.txs;
        return COMMITTED;
    }
  }

  drainWrites(): PairWrite[] {
    return [];
  }

  restore(): void {}

  digest(): Uint8Array {
    return setSumOf([utf8Encode(`hashes ${this.hashes}`), utf8Encode(`txs ${this.txsCommitted}`)]);
  }

  digestFromScratch(): Uint8Array {
    return this.digest();
  }

  private query(path: string): AbciResponse {
    if (path === 'hash') return queried({ value: utf8Encode(String(this.hashes)) });
    if (path === 'tx') return queried({ value: utf8Encode(String(this.txs)) });
    return queried({ log: `Invalid query path. Expected hash or tx, got ${path}` });
  }

  private deliver(tx: Uint8Array): ExecTxResult {
    const result = this.judge(tx, 'exactly');
    if (result.code === 0) this.txs += 1n;
    return result;
  }

  /** A check looks ahead of the blocks to come; a delivery is next or wrong. */
  private judge(tx: Uint8Array, nonce: 'at least' | 'exactly'): ExecTxResult & ResponseCheckTx {
    if (!this.serial) return PLAIN_RESULT;
    if (tx.length > SERIAL_TX_BYTES_MAX) {
      return { ...PLAIN_RESULT, code: CODE_ENCODING, log: `Max tx size is 8 bytes, got ${tx.length}` };
    }
    let value = 0n;
    for (const byte of tx) value = value * 256n + BigInt(byte);
    if (nonce === 'exactly' ? value === this.txs : value >= this.txs) return PLAIN_RESULT;
    const expected = nonce === 'exactly' ? `${this.txs}` : `>= ${this.txs}`;
    return {
      ...PLAIN_RESULT,
      code: CODE_BAD_NONCE,
      log: `Invalid nonce. Expected ${expected}, got ${value}`,
    };
  }

  private appHash(): Uint8Array {
    if (this.txs === 0n) return EMPTY_BYTES;
    const hash = new Uint8Array(8);
    new DataView(hash.buffer).setBigUint64(0, this.txs, false);
    return hash;
  }
}

function queried(part: { readonly value?: Uint8Array; readonly log?: string }): AbciResponse {
  return { type: 'query', value: { ...PLAIN_QUERY, ...part } };
}
