// Golden: the key-value application answers as CometBFT's own, block after block.

import { expect } from 'vitest';
import { KvStore } from '../../machines/apps/kvstore.ts';
import type { AbciEvent, AbciRequest, AbciResponse } from '../../protocol/abci.ts';
import { base64Of } from '../../protocol/bytes.ts';
import { ABCI_VERSION, EMPTY_BYTES, ZERO_TIME_NS } from '../../protocol/types.ts';
import { golden } from './cases.ts';

interface BlockCase {
  readonly height: number;
  readonly checks:
    | readonly { readonly tx: string; readonly code: number; readonly gas_wanted: number }[]
    | null;
  readonly proposed: readonly string[] | null;
  readonly process: 'ACCEPT' | 'REJECT';
  readonly finalize: {
    readonly tx_results: readonly {
      readonly code: number;
      readonly data: string | null;
      readonly log: string;
      readonly gas_wanted: string;
      readonly gas_used: string;
      /** Left out of the committed selection after a few blocks: they are all alike. */
      readonly events?: readonly AbciEvent[];
    }[];
    readonly validator_updates: readonly {
      readonly pub_key: { readonly Sum: { readonly value: { readonly ed25519: string } } };
      readonly power?: string;
    }[];
    readonly app_hash: string;
  };
  readonly info: {
    readonly data: string;
    readonly version: string;
    readonly app_version: string;
    readonly last_block_height: string;
    readonly last_block_app_hash: string;
  };
}

interface QueryCases {
  readonly queries: readonly {
    readonly data: string;
    readonly path?: string;
    readonly response: {
      readonly code: number;
      readonly log: string;
      readonly index: string;
      readonly key: string;
      readonly value: string | null;
      readonly height: string;
    };
  }[];
}

const utf8 = (text: string): Uint8Array => new TextEncoder().encode(text);
const textOf = (bytes: Uint8Array): string => new TextDecoder().decode(bytes);

/** Asks, and takes the answer out of its envelope. */
function ask<T extends AbciRequest['type']>(
  app: KvStore,
  type: T,
  value: Extract<AbciRequest, { type: T }>['value'],
): Extract<AbciResponse, { type: T }>['value'] {
  const response = app.answer({ type, value } as AbciRequest);
  expect(response.type).toBe(type);
  return response.value as never;
}

const context = (height: number, txs: readonly Uint8Array[]) => ({
  txs,
  misbehavior: [],
  height: BigInt(height),
  timeNs: ZERO_TIME_NS,
  nextValidatorsHash: EMPTY_BYTES,
  proposerAddress: EMPTY_BYTES,
  hash: EMPTY_BYTES,
});
const NO_VOTES = { round: 0, votes: [] };

function runBlock(app: KvStore, block: BlockCase): number {
  const passed: Uint8Array[] = [];
  for (const { tx, code, gas_wanted } of block.checks ?? []) {
    const answer = ask(app, 'check-tx', { tx: utf8(tx), type: 0 });
    expect([tx, answer.code, answer.gasWanted]).toEqual([tx, code, BigInt(gas_wanted)]);
    if (code === 0) passed.push(utf8(tx));
  }
  const now = context(block.height, passed);
  const { txs } = ask(app, 'prepare-proposal', { ...now, maxTxBytes: 1_000_000n, localLastCommit: NO_VOTES });
  expect(txs.map(textOf)).toEqual(block.proposed ?? []);
  const { status } = ask(app, 'process-proposal', { ...now, txs, proposedLastCommit: NO_VOTES });
  expect(status === 1 ? 'ACCEPT' : 'REJECT').toBe(block.process);
  const finalized = ask(app, 'finalize-block', { ...now, txs, decidedLastCommit: NO_VOTES });
  expect(base64Of(finalized.appHash)).toBe(block.finalize.app_hash);
  expect(
    finalized.validatorUpdates.map(({ publicKey, power }) => [base64Of(publicKey.bytes), `${power}`]),
  ).toEqual(
    block.finalize.validator_updates.map(({ pub_key, power }) => [pub_key.Sum.value.ed25519, power ?? '0']),
  );
  expect(finalized.txResults.length).toBe(block.finalize.tx_results.length);
  for (const [i, wanted] of block.finalize.tx_results.entries()) {
    const got = finalized.txResults[i]!;
    expect([got.code, base64Of(got.data), got.log]).toEqual([wanted.code, wanted.data ?? '', wanted.log]);
    expect([`${got.gasWanted}`, `${got.gasUsed}`]).toEqual([wanted.gas_wanted, wanted.gas_used]);
    if (wanted.events) expect(got.events).toEqual(wanted.events);
  }
  expect(ask(app, 'commit', {}).retainHeight).toBe(0n);
  return (block.checks ?? []).length;
}

function checkInfo(app: KvStore, { info }: BlockCase): void {
  const request = { version: '', blockVersion: 11n, p2pVersion: 8n, abciVersion: ABCI_VERSION };
  const answer = ask(app, 'info', request);
  expect({
    data: answer.data,
    version: answer.version,
    app_version: `${answer.appVersion}`,
    last_block_height: `${answer.lastBlockHeight}`,
    last_block_app_hash: base64Of(answer.lastBlockAppHash),
  }).toEqual(info);
}

function checkQueries(app: KvStore, { queries }: QueryCases): void {
  for (const { data, path, response } of queries) {
    const answer = ask(app, 'query', { data: utf8(data), path: path ?? '', height: 0n, prove: false });
    expect([data, answer.code, answer.log, `${answer.index}`]).toEqual([
      data,
      response.code,
      response.log,
      response.index,
    ]);
    expect([base64Of(answer.key), base64Of(answer.value), `${answer.height}`]).toEqual([
      response.key,
      response.value ?? '',
      response.height,
    ]);
  }
}

golden('cometbft-go').test<readonly (BlockCase | QueryCases)[]>(
  'kvstore.json',
  'the key-value application, also when restored from its writes in between',
  (cases) => {
    let app = new KvStore();
    const store = new Map<string, { key: Uint8Array; value: Uint8Array }>();
    let checks = 0;
    let queries = 0;
    for (const each of cases) {
      if ('queries' in each) {
        checkQueries(app, each);
        queries += each.queries.length;
        continue;
      }
      checks += runBlock(app, each);
      checkInfo(app, each);
      for (const { key, value, remove } of app.drainWrites()) {
        if (remove) store.delete(base64Of(key));
        else store.set(base64Of(key), { key, value });
      }
      if (each.height % 7 !== 0) continue;
      const restored = new KvStore();
      restored.restore([...store.values()]);
      expect(restored.digest()).toEqual(app.digest());
      expect(restored.digestFromScratch()).toEqual(app.digest());
      app = restored;
    }
    return `${cases.length - 1} blocks, ${checks} checks, ${queries} queries`;
  },
);
