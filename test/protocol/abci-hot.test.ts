// The hand-written ABCI encoders give the bytes of the generated ones, for any value.

import fc from 'fast-check';
import { expect, it } from 'vitest';
import type { AbciRequest, AbciResponse } from '../../protocol/abci.ts';
import { encodeAbciRequestGenerated, encodeAbciResponseGenerated } from '../../protocol/wire/abci.ts';
import { encodeFinalizedGenerated } from '../../protocol/wire/abci-parts.ts';
import {
  encodeAbciRequest,
  encodeAbciResponse,
  encodeResponseFinalizeBlock,
} from '../../protocol/wire/index.ts';

const bytes = fc.oneof(fc.uint8Array({ maxLength: 40 }), fc.uint8Array({ minLength: 120, maxLength: 300 }));
const text = fc.oneof(
  fc.string({ maxLength: 20 }),
  fc.string({ unit: 'grapheme', maxLength: 60 }),
  fc.string({ minLength: 120, maxLength: 200 }),
);
const i64 = fc.bigInt({ min: -(1n << 63n), max: (1n << 63n) - 1n });
const time = fc.bigInt({ min: -62_135_596_800_000_000_000n, max: 253_402_300_799_000_000_000n });
const validator = fc.record({ address: bytes, power: i64 });
const flag = fc.integer({ min: 0, max: 3 });
const round = fc.integer({ min: 0, max: 2_147_483_647 });
const misbehavior = fc.record({
  type: fc.integer({ min: 0, max: 2 }),
  validator,
  height: i64,
  timeNs: time,
  powerTotal: i64,
});
const commit = fc.record({ round, votes: fc.array(fc.record({ validator, flag }), { maxLength: 5 }) });
const about = {
  txs: fc.array(bytes, { maxLength: 4 }),
  misbehavior: fc.array(misbehavior, { maxLength: 2 }),
  height: i64,
  timeNs: time,
  nextValidatorsHash: bytes,
  proposerAddress: bytes,
};
const extended = fc.record({
  round,
  votes: fc.array(fc.record({ validator, flag, voteExtension: bytes, extensionSignature: bytes }), {
    maxLength: 4,
  }),
});
const request: fc.Arbitrary<AbciRequest> = fc.oneof(
  fc.record({
    type: fc.constant('check-tx' as const),
    value: fc.record({ tx: bytes, type: fc.integer({ min: 0, max: 1 }) }),
  }),
  fc.record({
    type: fc.constant('prepare-proposal' as const),
    value: fc.record({ ...about, maxTxBytes: i64, localLastCommit: extended }),
  }),
  fc.record({
    type: fc.constant('process-proposal' as const),
    value: fc.record({ ...about, proposedLastCommit: commit, hash: bytes }),
  }),
  fc.record({
    type: fc.constant('finalize-block' as const),
    value: fc.record({ ...about, decidedLastCommit: commit, hash: bytes }),
  }),
  fc.constant({ type: 'commit' as const, value: {} }),
);
const event = fc.record({
  type: text,
  attributes: fc.array(fc.record({ key: text, value: text, index: fc.boolean() }), { maxLength: 3 }),
});
const result = fc.record({
  code: fc.integer({ min: 0, max: 4_294_967_295 }),
  data: bytes,
  log: text,
  info: text,
  gasWanted: i64,
  gasUsed: i64,
  events: fc.array(event, { maxLength: 2 }),
  codespace: text,
});
const publicKey = fc.oneof(
  fc.record({
    type: fc.constant('ed25519' as const),
    bytes: fc.uint8Array({ minLength: 32, maxLength: 32 }),
  }),
  fc.record({
    type: fc.constant('secp256k1' as const),
    bytes: fc.uint8Array({ minLength: 33, maxLength: 33 }),
  }),
);
const finalized = fc.record({
  events: fc.array(event, { maxLength: 2 }),
  txResults: fc.array(result, { maxLength: 3 }),
  validatorUpdates: fc.array(fc.record({ publicKey, power: i64 }), { maxLength: 3 }),
  appHash: bytes,
});
const response: fc.Arbitrary<AbciResponse> = fc.oneof(
  fc.record({ type: fc.constant('check-tx' as const), value: result }),
  fc.record({
    type: fc.constant('prepare-proposal' as const),
    value: fc.record({ txs: fc.array(bytes, { maxLength: 4 }) }),
  }),
  fc.record({
    type: fc.constant('process-proposal' as const),
    value: fc.record({ status: fc.integer({ min: 0, max: 2 }) }),
  }),
  fc.record({ type: fc.constant('finalize-block' as const), value: finalized }),
  fc.record({ type: fc.constant('commit' as const), value: fc.record({ retainHeight: i64 }) }),
);

const same = (mine: Uint8Array, theirs: Uint8Array): void => {
  expect(Buffer.from(mine).toString('hex')).toBe(Buffer.from(theirs).toString('hex'));
};

it('requests', () => {
  const property = fc.property(request, (one) =>
    same(encodeAbciRequest(one), encodeAbciRequestGenerated(one)),
  );
  fc.assert(property, { numRuns: 500 });
});
it('responses', () => {
  const property = fc.property(response, (one) =>
    same(encodeAbciResponse(one), encodeAbciResponseGenerated(one)),
  );
  fc.assert(property, { numRuns: 500 });
});
it('the stored answer of FinalizeBlock', () => {
  const property = fc.property(finalized, (one) =>
    same(encodeResponseFinalizeBlock(one), encodeFinalizedGenerated(one)),
  );
  fc.assert(property, { numRuns: 300 });
});
