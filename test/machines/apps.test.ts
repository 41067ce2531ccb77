import { expect, it } from 'vitest';
import { type Application, KEY_BYTES_MAX } from '../../machines/apps/application.ts';
import { judgeTx } from '../../machines/apps/kvstore-tx.ts';
import { applicationNamed } from '../../machines/apps/named.ts';
import type { AbciResponse, Misbehavior, RequestFinalizeBlock } from '../../protocol/abci.ts';
import { base64Of, hexOf } from '../../protocol/bytes.ts';
import { ed25519FromSecret, type KeyPair } from '../../protocol/keys.ts';
import { isRefusal, unreachable } from '../../protocol/refusal.ts';
import { maxDataBytes } from '../../protocol/rules/block-room.ts';
import { DEFAULT_PARAMS } from '../../protocol/rules/params.ts';
import {
  EMPTY_BYTES,
  type ValidatorUpdate,
  VOTING_POWER_TOTAL_MAX,
  ZERO_TIME_NS,
} from '../../protocol/types.ts';

const utf8 = (text: string): Uint8Array => new TextEncoder().encode(text);
const textOf = (bytes: Uint8Array): string => new TextDecoder().decode(bytes);
const bytes = (...list: number[]): Uint8Array => Uint8Array.from(list);
const NO_VOTES = { round: 0, votes: [] };

function named(name: string): Application {
  const application = applicationNamed(name);
  return isRefusal(application) ? unreachable(application.because) : (application as Application);
}

const context = {
  misbehavior: [] as readonly Misbehavior[],
  height: 1n,
  timeNs: ZERO_TIME_NS,
  nextValidatorsHash: EMPTY_BYTES,
  proposerAddress: EMPTY_BYTES,
};

function finalize(
  app: Application,
  txs: readonly Uint8Array[],
  more: Partial<RequestFinalizeBlock> = {},
): AbciResponse {
  const value = { ...context, txs, decidedLastCommit: NO_VOTES, hash: EMPTY_BYTES, ...more };
  return app.answer({ type: 'finalize-block', value });
}

function block(app: Application, ...txs: Uint8Array[]): { codes: number[]; appHash: string; logs: string[] } {
  const response = finalize(app, txs);
  if (response.type !== 'finalize-block') return unreachable(response.type);
  expect(app.answer({ type: 'commit', value: {} })).toEqual({ type: 'commit', value: { retainHeight: 0n } });
  const { txResults, appHash } = response.value;
  return {
    codes: txResults.map(({ code }) => code),
    appHash: hexOf(appHash),
    logs: txResults.map(({ log }) => log),
  };
}

function preparedOf(app: Application, txs: readonly Uint8Array[], maxTxBytes: bigint): Uint8Array[] {
  const value = { ...context, txs, maxTxBytes, localLastCommit: NO_VOTES };
  const prepared = app.answer({ type: 'prepare-proposal', value });
  return prepared.type === 'prepare-proposal' ? [...prepared.value.txs] : unreachable(prepared.type);
}

function check(app: Application, tx: Uint8Array): [number, string] {
  const response = app.answer({ type: 'check-tx', value: { tx, type: 0 } });
  return response.type === 'check-tx'
    ? [response.value.code, response.value.log]
    : unreachable(response.type);
}

function query(app: Application, path: string, data = EMPTY_BYTES): [string, string] {
  const response = app.answer({ type: 'query', value: { data, path, height: 0n, prove: false } });
  return response.type === 'query'
    ? [textOf(response.value.value), response.value.log]
    : unreachable(response.type);
}

it('an unknown name is refused with the names there are', () => {
  const refusal = applicationNamed('bank');
  expect(isRefusal(refusal) && refusal.because).toContain('kvstore, persistent_kvstore, counter');
});

function nextDigit(digit: string): string {
  const digits = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';
  return digits.charAt(digits.indexOf(digit) + 1);
}

const ed25519 = base64Of(ed25519FromSecret('v').publicKey.bytes);
/** The same key as Go's decoder takes it: a line end inside, and set bits where the last digit has two to spare. */
const respelt = `${ed25519.slice(0, 5)}\n${ed25519.slice(5, -2)}${nextDigit(ed25519.at(-2)!)}=`;
const secp256k1 = base64Of(Uint8Array.from([2, ...new Uint8Array(32).fill(7)]));

const transactions: readonly { readonly tx: string; readonly ok: boolean }[] = [
  { tx: 'a=b', ok: true },
  { tx: 'a:b', ok: true },
  { tx: 'abcd', ok: false },
  { tx: '', ok: false },
  { tx: '=', ok: false },
  { tx: '=b', ok: false },
  { tx: 'a=', ok: false },
  { tx: ':b', ok: false },
  { tx: 'a:', ok: false },
  { tx: 'a=b=c', ok: false },
  { tx: 'a:b:c', ok: false },
  { tx: 'a:b=c', ok: false },
  { tx: 'val', ok: false },
  { tx: 'value=1', ok: true },
  { tx: `val=ed25519!${ed25519}!5`, ok: true },
  { tx: `val=ed25519!${ed25519}!0`, ok: true },
  { tx: `val=ed25519!${respelt}!5`, ok: true },
  { tx: `val=ed25519!${ed25519}!+5`, ok: true },
  { tx: `val=ed25519!${ed25519}!-1`, ok: false },
  { tx: `val=ed25519!${ed25519}!`, ok: false },
  { tx: `val=ed25519!${ed25519}!1e3`, ok: false },
  { tx: `val=ed25519!${ed25519}!9223372036854775808`, ok: false },
  { tx: `val=ed25519!${ed25519}`, ok: false },
  { tx: `val=ed25519!${ed25519}!5!6`, ok: false },
  { tx: 'val=ed25519!aGk=!5', ok: false },
  { tx: 'val=ed25519!***!5', ok: false },
  { tx: `val=!${ed25519}!5`, ok: true },
  { tx: `val=!${secp256k1}!5`, ok: false },
  { tx: `val=sr25519!${ed25519}!5`, ok: false },
  { tx: `val=secp256k1!${secp256k1}!5`, ok: true },
  { tx: `val=secp256k1!${ed25519}!5`, ok: false },
  // Becomes `val=...` in a proposal, so it is judged as that.
  { tx: 'val:x', ok: false },
  { tx: `val:${ed25519}!5`, ok: false },
  { tx: `val:secp256k1!${secp256k1}!5`, ok: true },
];

it.each(transactions)('kvstore: $tx is well formed: $ok', ({ tx, ok }) => {
  expect(judgeTx(utf8(tx)) === null).toBe(ok);
  const app = named('kvstore');
  expect(check(app, utf8(tx))).toEqual([ok ? 0 : 2, '']);
  const value = { ...context, txs: [utf8(tx)], maxTxBytes: 1000n, localLastCommit: NO_VOTES };
  const prepared = app.answer({ type: 'prepare-proposal', value });
  if (prepared.type !== 'prepare-proposal') return unreachable(prepared.type);
  expect(prepared.value.txs.length).toBe(ok ? 1 : 0);
  const processed = app.answer({
    type: 'process-proposal',
    value: { ...context, txs: prepared.value.txs, hash: EMPTY_BYTES, proposedLastCommit: NO_VOTES },
  });
  expect(processed).toEqual({ type: 'process-proposal', value: { status: 1 } });
  expect(finalize(app, prepared.value.txs).type).toBe('finalize-block');
});

it('kvstore: validators live with the genesis, are punished, and leave', () => {
  const app = named('kvstore');
  const [genesis, other] = ['genesis', 'other'].map(ed25519FromSecret) as [KeyPair, KeyPair];
  begin(app, [
    { publicKey: genesis.publicKey, power: 10n },
    { publicKey: other.publicKey, power: 10n },
  ]);
  const guilty: Misbehavior = {
    type: 1,
    validator: { address: genesis.address, power: 10n },
    height: 1n,
    timeNs: 0n,
    powerTotal: 10n,
  };
  const punished = finalize(app, [], { misbehavior: [guilty] });
  expect(punished.type === 'finalize-block' && punished.value.validatorUpdates).toEqual([
    { publicKey: genesis.publicKey, power: 9n },
  ]);
  app.answer({ type: 'commit', value: {} });
  const kept = app.answer({
    type: 'query',
    value: { data: genesis.publicKey.bytes, path: '/val', height: 0n, prove: false },
  });
  const record = kept.type === 'query' ? hexOf(kept.value.value) : '';
  expect(record).toBe(`260a220a20${hexOf(genesis.publicKey.bytes)}1009`);
  block(app, utf8(`val=ed25519!${base64Of(genesis.publicKey.bytes)}!0`));
  expect(query(app, '/val', genesis.publicKey.bytes)).toEqual(['', '']);
  expect(app.digest()).toEqual(app.digestFromScratch());
  expect(finalize(app, [], { misbehavior: [guilty] })).toMatchObject({ value: { validatorUpdates: [] } });
});

const begin = (
  app: Application,
  validators: readonly ValidatorUpdate[],
  publicKeyTypes: readonly string[] = ['ed25519'],
  blockBytes = DEFAULT_PARAMS.block.maxBytes,
): AbciResponse =>
  app.answer({
    type: 'init-chain',
    value: {
      timeNs: 0n,
      chainId: 'c',
      consensusParams: {
        ...DEFAULT_PARAMS,
        block: { ...DEFAULT_PARAMS.block, maxBytes: blockBytes },
        validator: { publicKeyTypes },
      },
      validators,
      appStateBytes: EMPTY_BYTES,
      initialHeight: 1n,
    },
  });

const change = ({ publicKey: { type, bytes } }: ValidatorUpdate, power: bigint): Uint8Array =>
  utf8(`val=${type}!${base64Of(bytes)}!${power}`);

/** `block.max_bytes` with room for the commit of so many, and no more. */
function maxOf(validators: number): bigint {
  let bytes = 0n;
  while (isRefusal(maxDataBytes(bytes, 0n, validators))) bytes++;
  return bytes;
}

/** Two of power 10, and the powers that a block gives to whom it changes. */
function twoValidators(types?: readonly string[], blockBytes?: bigint) {
  const app = named('kvstore');
  const [one, two] = ['one', 'two'].map((secret) => ({
    publicKey: ed25519FromSecret(secret).publicKey,
    power: 10n,
  })) as [ValidatorUpdate, ValidatorUpdate];
  begin(app, [one, two], types, blockBytes);
  const changes = (...txs: Uint8Array[]): readonly bigint[] => {
    const answer = finalize(app, txs);
    if (answer.type !== 'finalize-block') return unreachable(answer.type);
    app.answer({ type: 'commit', value: {} });
    return answer.value.validatorUpdates.map(({ power }) => power);
  };
  return { app, one, two, changes };
}

/** Another one that begins with what this one has kept. */
function lifeAfter(app: Application): Application {
  const later = named(app.name);
  const kept = new Map(app.drainWrites().map((write) => [hexOf(write.key), write]));
  later.restore([...kept.values()].filter(({ remove }) => !remove));
  expect(later.digest()).toEqual(app.digest());
  return later;
}

it('kvstore: knows its height after a restart, however great it is', () => {
  const app = named('kvstore');
  const height = 2n ** 53n + 1n;
  finalize(app, [utf8('k=v')], { height });
  app.answer({ type: 'commit', value: {} });
  const info = lifeAfter(app).answer({ type: 'info', value: {} as never });
  expect(info).toMatchObject({ value: { lastBlockHeight: height } });
});

it('kvstore: the last validator does not leave', () => {
  const { one, two, changes } = twoValidators();
  expect(changes(change(one, 0n), change(two, 0n))).toEqual([0n]);
  expect(changes(change(one, 0n), change(two, 0n))).toEqual([]);
  expect(changes(change(one, 0n), change(two, 3n))).toEqual([0n, 3n]);
});

it('kvstore: no power is given beyond what a set may have', () => {
  const { one, two, changes } = twoValidators();
  expect(changes(change(one, VOTING_POWER_TOTAL_MAX))).toEqual([]);
  expect(changes(change(one, VOTING_POWER_TOTAL_MAX), change(two, 0n))).toEqual([VOTING_POWER_TOTAL_MAX, 0n]);
  expect(changes(change(two, 1n))).toEqual([]);
});

it('kvstore: what several of a block are given counts together', () => {
  const { one, two, changes } = twoValidators();
  const most = (VOTING_POWER_TOTAL_MAX / 5n) * 3n;
  expect(changes(change(one, most), change(two, most))).toEqual([most]);
});

it('kvstore: a key of a type that the chain does not allow is no validator, in a later life neither', () => {
  const secp = { publicKey: { type: 'secp256k1', bytes: new Uint8Array(33).fill(2) }, power: 1n } as const;
  for (const [types, powers] of [
    [['ed25519'], []],
    [['ed25519', 'secp256k1'], [1n]],
  ] as const) {
    const { app, changes } = twoValidators(types);
    const later = lifeAfter(app);
    const answer = finalize(later, [change(secp, 1n)]);
    expect(changes(change(secp, 1n))).toEqual(powers);
    expect(answer).toMatchObject({ value: { validatorUpdates: powers.map((power) => ({ power })) } });
  }
});

it('kvstore: no more validators than a block has room for, in a later life neither', () => {
  const others = ['three', 'four'].map((secret) => ({ ...ed25519FromSecret(secret), power: 0n }));
  const [three, four] = others as unknown as [ValidatorUpdate, ValidatorUpdate];
  const bytes = maxOf(3);
  const { app, one, changes } = twoValidators(['ed25519'], bytes);
  expect(changes(change(three, 1n), change(four, 2n))).toEqual([1n]);
  expect(changes(change(four, 2n))).toEqual([]);
  const later = lifeAfter(app);
  const answered = (...txs: Uint8Array[]) => finalize(later, txs);
  expect(answered(change(four, 2n))).toMatchObject({ value: { validatorUpdates: [] } });
  expect(answered(change(one, 0n), change(four, 2n))).toMatchObject({
    value: { validatorUpdates: [{ power: 0n }, { power: 2n }] },
  });
});

it('kvstore: a later life knows the power of each', () => {
  const { app, one, two, changes } = twoValidators();
  changes(change(one, VOTING_POWER_TOTAL_MAX - 300n), change(two, 290n));
  const later = lifeAfter(app);
  expect(finalize(later, [change(two, 301n)])).toMatchObject({ value: { validatorUpdates: [] } });
  expect(finalize(later, [change(two, 300n)])).toMatchObject({
    value: { validatorUpdates: [{ power: 300n }] },
  });
});

it('kvstore: a key of any length is kept, and what is written has keys that a store takes', () => {
  for (const size of [1968, 1969, 100_000]) {
    const app = named('kvstore');
    const key = 'k'.repeat(size);
    const get = (from: Application): unknown =>
      from.answer({ type: 'query', value: { data: utf8(key), path: '', height: 0n, prove: false } });
    expect(check(app, utf8(`${key}=v`))).toEqual([0, '']);
    block(app, utf8(`${key}=first`));
    block(app, utf8(`${key}=second`), utf8('short=v'));
    expect(app.digest()).toEqual(app.digestFromScratch());
    const twin = named('kvstore');
    block(twin, utf8(`${key}=first`));
    block(twin, utf8(`${key}=second`), utf8('short=v'));
    expect(twin.drainWrites().every(({ key }) => key.length >= 1 && key.length <= KEY_BYTES_MAX)).toBe(true);
    const later = lifeAfter(app);
    expect(get(later)).toEqual(get(app));
    expect(get(later)).toMatchObject({ value: { value: utf8('second') } });
  }
});

it('kvstore: a proposer that formats nothing stops nobody', () => {
  const app = named('kvstore');
  const txs = [utf8('a:b')];
  const value = { ...context, txs, hash: EMPTY_BYTES, proposedLastCommit: NO_VOTES };
  expect(app.answer({ type: 'process-proposal', value })).toMatchObject({ value: { status: 1 } });
  block(app, ...txs); // expects that it commits
  const query = { data: utf8('a'), path: '', height: 0n, prove: false };
  expect(app.answer({ type: 'query', value: query })).toMatchObject({ value: { value: utf8('b') } });
});

it('kvstore: who is no validator does not leave', () => {
  const app = named('kvstore');
  const stranger = base64Of(ed25519FromSecret('stranger').publicKey.bytes);
  const power = (text: string) => finalize(app, [utf8(`val=ed25519!${stranger}!${text}`)]);
  expect(power('0')).toMatchObject({ value: { validatorUpdates: [], txResults: [{ code: 0 }] } });
  expect(power('3')).toMatchObject({ value: { validatorUpdates: [{ power: 3n }] } });
});

it('kvstore: its digest tells states apart that share an app hash', () => {
  const [one, two] = [named('kvstore'), named('kvstore')];
  expect(block(one, utf8('a=b')).appHash).toBe(block(two, utf8('a=c')).appHash);
  expect(one.digest()).not.toEqual(two.digest());
  expect([block(one, utf8('a=d')), block(two, utf8('a=d'))].map(({ appHash }) => appHash)).toEqual([
    '0400000000000000',
    '0400000000000000',
  ]);
  expect(one.digest()).toEqual(two.digest());
});

it('kvstore: an app hash of many transactions is a varint', () => {
  const app = named('kvstore');
  expect(block(app, ...Array.from({ length: 64 }, (_, i) => utf8(`k${i}=v`))).appHash).toBe(
    '8001000000000000',
  );
});

it('counter_serial wants transactions numbered', () => {
  const app = named('counter_serial');
  expect(check(app, new Uint8Array(9))).toEqual([1, 'Max tx size is 8 bytes, got 9']);
  expect(block(app, bytes(0), bytes(1), bytes(1), bytes(0, 2))).toEqual({
    codes: [0, 0, 2, 0],
    appHash: '0000000000000003',
    logs: ['', '', 'Invalid nonce. Expected 2, got 1', ''],
  });
  expect(check(app, bytes(2))).toEqual([2, 'Invalid nonce. Expected >= 3, got 2']);
  expect(check(app, bytes(200))).toEqual([0, '']);
  expect(query(app, 'tx')).toEqual(['3', '']);
  expect(query(app, 'hash')).toEqual(['1', '']);
  expect(query(app, 'x')).toEqual(['', 'Invalid query path. Expected hash or tx, got x']);
});

it('counter counts anything, and nothing has an empty app hash', () => {
  const app = named('counter');
  expect(block(app).appHash).toBe('');
  expect(block(app, new Uint8Array(100), bytes(7))).toMatchObject({
    codes: [0, 0],
    appHash: '0000000000000002',
  });
});

it('noop agrees to everything that fits', () => {
  const app = named('noop');
  const txs = [bytes(1, 2, 3), bytes(4, 5), bytes(6)];
  expect(preparedOf(app, txs, 9n)).toEqual(txs.slice(0, 2)); // two bytes more than its own each takes
  expect(preparedOf(app, txs, 8n)).toEqual(txs.slice(0, 1));
  expect(block(app, ...txs)).toEqual({ codes: [0, 0, 0], appHash: '', logs: ['', '', ''] });
});

it('kvstore proposes what fits, once it is formatted: a pool of a chain without a limit gives more', () => {
  const txs = ['a=1', 'no pair', `b:${'2'.repeat(126)}`, 'c=3'].map(utf8);
  const said = (bytesMax: bigint): string[] =>
    preparedOf(named('kvstore'), txs, bytesMax).map((tx) => textOf(tx).slice(0, 3));
  expect(said(141n)).toEqual(['a=1', 'b=2', 'c=3']); // 5, 131 and 5
  expect(said(140n)).toEqual(['a=1', 'b=2']);
  expect(said(135n)).toEqual(['a=1']);
  expect(said(0n)).toEqual([]);
});
