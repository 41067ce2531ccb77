// Files and printed values: what is taken, what is refused and with which words, and what is written.

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { base64Of, concatBytes, hexUpperOf } from '../../protocol/bytes.ts';
import { indentedText } from '../../protocol/json/indent.ts';
import {
  blockOfJson,
  formatGenesis,
  formatNodeKey,
  formatPrivValidatorKey,
  formatPrivValidatorState,
  memberText,
  parseGenesis,
  parseNodeKey,
  parsePrivValidatorKey,
  parsePrivValidatorState,
  voteOfJson,
  whyNotJson,
} from '../../protocol/json/index.ts';
import type { MalformedJson } from '../../protocol/json/reader.ts';
import { ed25519FromSecret, secp256k1KeyPairOf } from '../../protocol/keys.ts';
import { isRefusal, unreachable } from '../../protocol/refusal.ts';
import { DEFAULT_PARAMS } from '../../protocol/rules/params.ts';
import { EMPTY_BYTES, type Genesis, ZERO_TIME_NS } from '../../protocol/types.ts';

const pair = ed25519FromSecret('validator');
const entry = {
  address: hexUpperOf(pair.address),
  pub_key: { type: 'tendermint/PubKeyEd25519', value: base64Of(pair.publicKey.bytes) },
  power: '10',
  name: 'one',
};
const document = {
  genesis_time: '2024-01-01T00:00:00.000000000Z',
  chain_id: 'test-chain',
  initial_height: '0',
  validators: [entry],
  app_hash: '',
};
const parse = (change: object = {}) => parseGenesis(JSON.stringify({ ...document, ...change }));
const okay = (parsed: Genesis | MalformedJson) =>
  isRefusal(parsed) ? unreachable(parsed.because) : (parsed as Genesis);
const genesis = (change: object = {}) => okay(parse(change));
const text = (bytes: Uint8Array) => new TextDecoder().decode(bytes);

describe('genesis', () => {
  it('completes what is left out', () => {
    const minimal = genesis({ genesis_time: undefined, initial_height: undefined, validators: undefined });
    expect(minimal).toMatchObject({
      genesisTimeNs: ZERO_TIME_NS,
      initialHeight: 1n,
      consensusParams: DEFAULT_PARAMS,
      validators: [],
      appState: EMPTY_BYTES,
    });
    expect(genesis({ validators: [{ ...entry, address: undefined }] }).validators[0]!.address).toEqual(
      pair.address,
    );
  });
  it('takes numbers as strings and as numbers, and any prefix of a key type', () => {
    const { validators, initialHeight, consensusParams } = genesis({
      initial_height: 7,
      validators: [{ ...entry, power: 10, pub_key: { ...entry.pub_key, type: 'other/PubKeyEd25519' } }],
      consensus_params: {
        block: { max_bytes: '100', max_gas: -1, time_iota_ms: '1000' },
        evidence: { max_age_num_blocks: '5', max_age_duration: '6', max_bytes: 50 },
        validator: { pub_key_types: ['ed25519'] },
        version: { app_version: 3 },
      },
    });
    expect(validators[0]!.power).toBe(10n);
    expect(initialHeight).toBe(7n);
    expect(consensusParams).toMatchObject({ version: { app: 3n }, abci: { voteExtensionsEnableHeight: 0n } });
  });
  it('keeps the text of app_state to the letter', () => {
    const state = '{"big": 12345678901234567890,  "deep": [{"a]": "}\\""}], "n": null}';
    const raw = `{"app_state": 1, "chain_id": "c", "x": {"app_state": 2}, "app_state":\n ${state} , "y": []}`;
    const parsed = parseGenesis(raw);
    expect(isRefusal(parsed) ? parsed : text(parsed.appState)).toBe(state);
    expect(memberText('{"a":1,"b":-2.5e3}', 'b')).toBe('-2.5e3');
    expect(memberText('{"a":{}}', 'b')).toBeNull();
    expect(memberText('{"b\\u0061":[1]}', 'ba')).toBe('[1]');
  });
  it('prints app_state and its texts to the byte as CometBFT does, and the same again', () => {
    const raw = JSON.stringify({
      ...document,
      chain_id: 'a<b>&\u2028\u2029\b\u007f"/',
      validators: [{ ...entry, name: '<n>' }],
    });
    const state = `{"a" : [ [ ] ,{ },[1],"\\"\\\\<&>{[,:]}\u2028"],\n"\\u003c\\/":12345678901234567890.10,"a":{"b":null}}`;
    const read = okay(parseGenesis(`${raw.slice(0, -1)},"app_state":${state}}`));
    const printed = formatGenesis(read);
    // As written by GenesisDoc.SaveAs of v0.38.26.
    expect(printed).toContain('"chain_id": "a\\u003cb\\u003e\\u0026\\u2028\\u2029\\b\u007f\\"/"');
    expect(printed).toContain('"name": "\\u003cn\\u003e"');
    expect(printed.slice(printed.indexOf('  "app_state"'))).toBe(
      [
        '  "app_state": {',
        '    "a": [',
        '      [],',
        '      {},',
        '      [',
        '        1',
        '      ],',
        '      "\\"\\\\\\u003c\\u0026\\u003e{[,:]}\\u2028"',
        '    ],',
        '    "\\u003c\\/": 12345678901234567890.10,',
        '    "a": {',
        '      "b": null',
        '    }',
        '  }',
        '}',
      ].join('\n'),
    );
    expect(formatGenesis(okay(parseGenesis(printed)))).toBe(printed);
  });
  it('indents as JSON.stringify does, whatever the spaces', () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.constantFrom(0, 1, '\t'), (value, spaces) => {
        expect(indentedText(JSON.stringify(value, null, spaces), 0)).toBe(JSON.stringify(value, null, 2));
      }),
    );
  });
  it('has no app_state where that is null', () => {
    const none = genesis({ app_state: null });
    expect(none.appState).toEqual(EMPTY_BYTES);
    expect(formatGenesis(none)).not.toContain('app_state');
    for (const state of [0, '', [], {}, false])
      expect(text(genesis({ app_state: state }).appState)).toBe(JSON.stringify(state));
  });
  it('reads half of a surrogate pair as U+FFFD, so that its texts survive their bytes', () => {
    const { chainId, validators } = genesis({
      chain_id: 'a\ud800\ud83d\ude00\udc00\udc00',
      validators: [{ ...entry, name: '\ud800b' }],
    });
    expect(chainId).toBe('a\ufffd\ud83d\ude00\ufffd\ufffd');
    expect(text(new TextEncoder().encode(chainId))).toBe(chainId);
    expect(validators[0]!.name).toBe('\ufffdb');
    expect(parse({ chain_id: '\ud800'.repeat(17) })).toMatchObject({
      because: 'chain_id in genesis doc is too long (max: 50)',
    });
  });
  it('is printed as CometBFT prints it', () => {
    const printed = formatGenesis(genesis());
    expect(Object.keys(JSON.parse(printed))).toEqual([
      'genesis_time',
      'chain_id',
      'initial_height',
      'consensus_params',
      'validators',
      'app_hash',
    ]);
    expect(printed).toContain('"genesis_time": "2024-01-01T00:00:00Z",\n  "chain_id": "test-chain"');
    expect(printed).toContain('"max_gas": "-1"');
    expect(JSON.parse(printed).validators).toEqual([entry]);
    expect(formatGenesis(genesis({ validators: [] }))).not.toContain('validators');
    expect(parseGenesis(printed)).toEqual(genesis());
  });
  it.each([
    [{ chain_id: '' }, 'genesis doc must include non-empty chain_id'],
    [{ chain_id: 'x'.repeat(51) }, 'chain_id in genesis doc is too long (max: 50)'],
    [{ chain_id: 5 }, 'chain_id must be a string'],
    [{ initial_height: '-1' }, 'initial_height cannot be negative (got -1)'],
    [{ initial_height: '1.5' }, 'initial_height must be a whole number'],
    [{ initial_height: '9223372036854775808' }, 'initial_height must be between'],
    [{ genesis_time: '2024-01-01T00:00:00+01:00' }, 'genesis_time must be an RFC 3339 time in UTC'],
    [{ genesis_time: '0000-06-01T00:00:00Z' }, 'genesis_time must be'],
    [{ app_hash: 'xyz' }, 'app_hash must be hex'],
    [{ validators: {} }, 'validators must be a list'],
    [
      { validators: [{ ...entry, power: '0' }] },
      'cannot contain validators with no voting power: validators[0]',
    ],
    [{ validators: [{ ...entry, power: '-5' }] }, 'validators[0].power must be above 0'],
    [
      { validators: [{ ...entry, address: '00'.repeat(20) }] },
      `validators[0].address must be ${entry.address}`,
    ],
    [{ validators: [{ ...entry, pub_key: { type: 'x', value: '' } }] }, 'validators[0].pub_key.type must be'],
    [
      { validators: [{ ...entry, pub_key: { ...entry.pub_key, value: 'AAAA' } }] },
      'pub_key.value must be 32 bytes, as its type is PubKeyEd25519',
    ],
    [{ consensus_params: {} }, 'block.MaxBytes cannot be 0'],
  ])('refuses %o', (change, because) => {
    expect(parse(change)).toMatchObject({
      refused: 'malformed-json',
      because: expect.stringContaining(because),
    });
  });
  it.each(['', '[]', '5', '{"chain_id": ', 'null'])('refuses the text "%s"', (raw) =>
    expect(parseGenesis(raw)).toMatchObject({ refused: 'malformed-json' }),
  );
  it.each([
    ['{\n  "chain_id": "a",\n}', 'genesis must be JSON: line 3, column 1: property name expected'],
    ['{"chain_id": }', 'line 1, column 14: value expected'],
    ['{"chain_id": "a"\n"app_hash": ""}', 'line 2, column 1: comma expected'],
    ['{"chain_id": "a"', 'line 1, column 17: close brace expected'],
    ['// ours\n{}', 'line 1, column 1: invalid comment token'],
    [' \n', 'genesis must be JSON: it is empty'],
    ['['.repeat(100_000), 'genesis must be JSON: it is nested too deep to say where it goes wrong'],
    ['\ufeff{}', 'genesis must be JSON: it begins with a byte order mark; save it as UTF-8 without one'],
  ])('says where %.30s stops being JSON', (raw, because) =>
    expect(parseGenesis(raw)).toMatchObject({ because: expect.stringContaining(because) }),
  );
  it('finds a place in whatever JSON.parse refuses', () => {
    const isJson = (text: string) => {
      try {
        JSON.parse(text);
        return true;
      } catch {
        return false;
      }
    };
    const misprint = fc
      .tuple(fc.json(), fc.nat(), fc.nat(3), fc.string({ unit: 'binary' }))
      .map(
        ([text, at, gone, put]) =>
          text.slice(0, at % (text.length + 1)) + put + text.slice((at % (text.length + 1)) + gone),
      );
    fc.assert(
      fc.property(misprint, (text) => {
        fc.pre(text.trim() !== '' && !text.startsWith('\ufeff') && !isJson(text));
        expect(whyNotJson(text)).toMatch(/^line [1-9][0-9]*, column [1-9][0-9]*: [a-z ]+$/);
      }),
      { numRuns: 1_000 },
    );
  });
  it('accepts a chain id of 50 bytes', () =>
    expect(parse({ chain_id: 'x'.repeat(50) })).not.toHaveProperty('refused'));
});

describe('keys', () => {
  it('come back from their files', () => {
    for (const one of [pair, secp256k1KeyPairOf(new Uint8Array(32).fill(3))!]) {
      expect(parseNodeKey(formatNodeKey(one))).toEqual(one);
      expect(parsePrivValidatorKey(formatPrivValidatorKey(one))).toEqual({ pair: one, legacyState: null });
    }
    expect(formatNodeKey(pair)).toMatch(
      /^\{"priv_key":\{"type":"tendermint\/PrivKeyEd25519","value":"[^"]*"\}\}$/,
    );
    expect(formatPrivValidatorKey(pair)).toContain('{\n  "address": "');
  });
  it('carry the state of the old single file', () => {
    const state = { height: 7n, round: 2, step: 3, signature: EMPTY_BYTES, signBytes: EMPTY_BYTES };
    const file = formatPrivValidatorKey(pair, state);
    expect(JSON.parse(file)).toMatchObject({ last_height: '7', last_round: '2', last_step: 3 });
    expect(parsePrivValidatorKey(file)).toEqual({ pair, legacyState: state });
  });
  it('are refused when the halves do not belong together', () => {
    const value = base64Of(concatBytes(pair.seed, ed25519FromSecret('other').publicKey.bytes));
    const file = JSON.stringify({ priv_key: { type: 'tendermint/PrivKeyEd25519', value } });
    expect(parseNodeKey(file)).toMatchObject({
      because: 'priv_key.value must be a seed followed by its own public key',
    });
    expect(parseNodeKey('{}')).toMatchObject({ because: 'priv_key must be an object' });
    const short = JSON.stringify({ priv_key: { type: 'x/PrivKeyEd25519', value: 'AAAA' } });
    expect(parseNodeKey(short)).toMatchObject({
      because: 'priv_key.value must be 64 bytes: seed, then public key',
    });
  });
});

describe("the signer's state", () => {
  const state = {
    height: 9n,
    round: 1,
    step: 2,
    signature: Uint8Array.of(1, 2),
    signBytes: Uint8Array.of(171),
  };
  it('comes back, and leaves out what is empty', () => {
    expect(parsePrivValidatorState(formatPrivValidatorState(state))).toEqual(state);
    expect(JSON.parse(formatPrivValidatorState(state))).toEqual({
      height: '9',
      round: 1,
      step: 2,
      signature: 'AQI=',
      signbytes: 'AB',
    });
    const fresh = { height: 0n, round: 0, step: 0, signature: EMPTY_BYTES, signBytes: EMPTY_BYTES };
    expect(JSON.parse(formatPrivValidatorState(fresh))).toEqual({ height: '0', round: 0, step: 0 });
  });
  it.each([
    '{}',
    '{"height":"1","round":0}',
    '{"height":"-1","round":0,"step":0}',
    '{"height":"1","round":-1,"step":0}',
    '{"height":"1","round":0,"step":4}',
    '{"height":"1","round":0,"step":1,"signature":"?"}',
    '{"height":"1","round":0,"step":1,"signbytes":"AB"}',
    '',
  ])('refuses %s', (raw) =>
    expect(parsePrivValidatorState(raw)).toMatchObject({ refused: 'malformed-json' }),
  );
});

describe('printed values', () => {
  it('name the field that is wrong', () => {
    expect(blockOfJson({ header: {}, last_commit: { signatures: [{ timestamp: 'now' }] } })).toMatchObject({
      because: expect.stringContaining('block.last_commit.signatures[0].timestamp must be'),
    });
    expect(voteOfJson({ type: 1, height: '1', signature: '!' })).toMatchObject({
      because: 'vote.signature must be padded base64',
    });
    expect(voteOfJson(null)).toMatchObject({ because: 'vote must be an object' });
  });
  it('nil lists and absent times are empty ones', () => {
    expect(blockOfJson({ header: {}, data: { txs: null }, evidence: null, last_commit: null })).toMatchObject(
      {
        header: { timeNs: ZERO_TIME_NS, height: 0n },
        txs: [],
        evidence: [],
        lastCommit: null,
      },
    );
  });
});
