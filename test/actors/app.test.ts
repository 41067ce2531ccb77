import { expect, it } from 'vitest';
import { appLogic } from '../../actors/app.ts';
import type { AppMail } from '../../actors/mail.ts';
import type { Effect, KeyValue } from '../../actors/turn.ts';
import { KvStore } from '../../machines/apps/kvstore.ts';
import { applicationNamed } from '../../machines/apps/named.ts';
import type { AbciRequest, AbciResponse } from '../../protocol/abci.ts';
import { isRefusal, unreachable } from '../../protocol/refusal.ts';
import { EMPTY_BYTES, ZERO_TIME_NS } from '../../protocol/types.ts';
import { Driven, only, said } from './drive.ts';

const utf8 = (text: string): Uint8Array => new TextEncoder().encode(text);

const finalize = (height: bigint, ...txs: string[]): AbciRequest => ({
  type: 'finalize-block',
  value: {
    txs: txs.map(utf8),
    decidedLastCommit: { round: 0, votes: [] },
    misbehavior: [],
    hash: EMPTY_BYTES,
    height,
    timeNs: ZERO_TIME_NS,
    nextValidatorsHash: EMPTY_BYTES,
    proposerAddress: EMPTY_BYTES,
  },
});
const COMMIT: AbciRequest = { type: 'commit', value: {} };
const INFO: AbciRequest = {
  type: 'info',
  value: { version: '', blockVersion: 11n, p2pVersion: 8n, abciVersion: '2.0.0' },
};

const request = (tag: number, asked: AbciRequest): AppMail => ({
  type: 'request',
  from: 'validator',
  tag,
  request: asked,
});

const kvstore = (pairs: readonly KeyValue[] = []) =>
  new Driven(appLogic({ application: () => new KvStore() }), { logs: [], stores: [pairs] });

function pairsOf(effects: readonly Effect[]): KeyValue[] {
  return only(effects, 'store').flatMap(({ writes }) => writes.map(({ key, value }) => ({ key, value })));
}

it('answers with the tag it was asked under', () => {
  const effects = kvstore().tell(request(7, INFO));
  expect(effects).toMatchObject([
    {
      type: 'tell',
      to: 'validator',
      message: { type: 'answer', tag: 7, response: { type: 'info', value: { lastBlockHeight: 0n } } },
    },
  ]);
});

it('a commit writes before it answers, and is not durable', () => {
  const app = kvstore();
  expect(said(app.tell(request(1, finalize(1n, 'a=b'))))).toEqual(['tell validator answer']);
  const effects = app.tell(request(2, COMMIT));
  expect(said(effects)).toEqual(['store app', 'tell validator answer', 'publish applied']);
  expect(pairsOf(effects).map(({ key }) => new TextDecoder().decode(key))).toEqual([
    'kvPairKey:a',
    'stateKey',
  ]);
  const again = kvstore(pairsOf(effects)).tell(request(1, INFO));
  expect(again).toMatchObject([
    { message: { response: { value: { lastBlockHeight: 1n, data: '{"size":1}' } } } },
  ]);
});

it('publishes a digest of its whole state, the same after restarts, through an audit', () => {
  let app = kvstore();
  const other = kvstore();
  const disk = new Map<string, KeyValue>();
  for (let height = 1n; height <= 1_100n; height++) {
    for (const each of [app, other]) each.tell(request(1, finalize(height, `k${height % 9n}=v${height}`)));
    const effects = app.tell(request(2, COMMIT));
    expect(only(effects, 'publish')).toEqual(only(other.tell(request(2, COMMIT)), 'publish'));
    for (const pair of pairsOf(effects)) disk.set(pair.key.join(), pair);
    if (height % 100n === 0n) app = kvstore([...disk.values()]);
  }
});

it('an application that keeps nothing writes nothing', () => {
  const application = () => {
    const named = applicationNamed('counter');
    return isRefusal(named) ? unreachable(named.because) : (named as KvStore);
  };
  const app = new Driven(appLogic({ application }), { logs: [], stores: [[]] });
  app.tell(request(1, finalize(1n, 'x')));
  expect(said(app.tell(request(2, COMMIT)))).toEqual(['tell validator answer', 'publish applied']);
  expect(() => app.tell({ type: 'timer', timer: 'x' })).toThrow();
});

it('a commit that lets go of blocks is durable before it answers', () => {
  class Pruning extends KvStore {
    override answer(asked: AbciRequest): AbciResponse {
      const response = super.answer(asked);
      return response.type === 'commit' ? { ...response, value: { retainHeight: 1n } } : response;
    }
  }
  const app = new Driven(appLogic({ application: () => new Pruning() }), { logs: [], stores: [[]] });
  app.tell(request(1, finalize(1n, 'a=b')));
  const effects = app.tell(request(2, COMMIT));
  expect(effects.map(({ type }) => type)).toEqual(['store', 'tell', 'publish']);
  expect(only(effects, 'store')[0]?.durable).toBe(true);
});

it('an application is audited every 1,024 heights, and from 8,192 on eight times while the height doubles', () => {
  const audited: number[] = [];
  let height = 0n;
  class Audited extends KvStore {
    override digestFromScratch(): Uint8Array {
      audited.push(Number(height));
      return super.digestFromScratch();
    }
  }
  const app = new Driven(appLogic({ application: () => new Audited() }), { logs: [], stores: [[]] });
  for (height = 1024n; height <= 34_816n; height += 512n) {
    app.tell(request(1, finalize(height)));
    app.tell(request(2, COMMIT));
  }
  const each = (from: number, to: number, step: number): number[] =>
    Array.from({ length: (to - from) / step }, (_, i) => from + i * step);
  expect(audited).toEqual([...each(1024, 16_384, 1024), ...each(16_384, 32_768, 2048), 32_768]);
});
