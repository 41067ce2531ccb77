// The oracles' own words for what is signed, hashed, stored and said, beside the product's, which CometBFT's vectors prove: two writings of one standard.

import fc from 'fast-check';
import { expect, it } from 'vitest';
import { encodeNodeInfo } from '../../../../machines/peers/node-info.ts';
import * as ids from '../../../../protocol/block-id.ts';
import { equalBytes } from '../../../../protocol/bytes.ts';
import * as hashes from '../../../../protocol/hashes.ts';
import * as signed from '../../../../protocol/sign-bytes.ts';
import { NIL_BLOCK_ID } from '../../../../protocol/types.ts';
import {
  encodeBlock,
  encodeBlocksyncMessage,
  encodeConsensusMessage,
  encodeEvidenceList,
  encodeMempoolMessage,
} from '../../../../protocol/wire/index.ts';
import { blockBytes, evidenceListBytes } from '../../../../sim/oracles/canonical/block.ts';
import { equalBlockId, isNilBlockId } from '../../../../sim/oracles/canonical/block-id.ts';
import * as canonical from '../../../../sim/oracles/canonical/bytes.ts';
import * as gossip from '../../../../sim/oracles/canonical/gossip.ts';
import * as arbitrary from '../../../protocol/arbitrary.ts';

/** Equal for whatever there is. */
function same<T>(values: fc.Arbitrary<T>, own: (value: T) => Uint8Array, other: (value: T) => Uint8Array) {
  fc.assert(fc.property(values, (value) => equalBytes(own(value), other(value))));
}

it('signs as the product does', () => {
  for (const chainId of ['', 'c', 'chain-of-more-than-a-hundred-and-twenty-seven-bytes-'.repeat(3)]) {
    same(
      arbitrary.vote,
      (vote) => canonical.voteSignBytes(chainId, vote),
      (vote) => signed.voteSignBytes(chainId, vote),
    );
    same(
      arbitrary.proposal.map((proposal) => ({ ...proposal, type: 32 })), // others are refused before
      (proposal) => canonical.proposalSignBytes(chainId, proposal),
      (proposal) => signed.proposalSignBytes(chainId, proposal),
    );
  }
});

it('tells block ids apart as the product does', () => {
  fc.assert(
    fc.property(arbitrary.blockId, fc.nat(100), ({ hash, parts }, more) => {
      const id = { hash, parts };
      const copy = { hash: hash.slice(), parts: { total: parts.total, hash: parts.hash.slice() } };
      const others = [
        { hash: Uint8Array.of(...hash, 1), parts },
        { hash, parts: { ...parts, total: parts.total + more + 1 } },
        { hash, parts: { ...parts, hash: Uint8Array.of(...parts.hash, 1) } },
      ];
      for (const equal of [equalBlockId, ids.equalBlockId]) {
        expect(equal(id, copy)).toBe(true);
        for (const other of others) expect(equal(id, other)).toBe(false);
      }
      for (const each of [id, ...others, NIL_BLOCK_ID])
        expect(isNilBlockId(each)).toBe(ids.isNilBlockId(each));
    }),
  );
});

it('hashes as the product does', () => {
  const named = arbitrary.header.filter(({ validatorsHash }) => validatorsHash.length > 0);
  same(named, canonical.headerHash, hashes.headerHash);
  same(arbitrary.commit, canonical.commitHash, hashes.commitHash);
  same(fc.array(arbitrary.bytes(5000)), canonical.dataHash, hashes.dataHash);
  same(fc.array(arbitrary.execTxResult), canonical.resultsHash, hashes.resultsHash);
  same(fc.array(arbitrary.evidence, { maxLength: 4 }), canonical.evidenceHash, hashes.evidenceListHash);
  const positive = arbitrary.validatorSet.map(({ validators, ...set }) => ({
    ...set,
    validators: validators.map((each) => ({ ...each, power: each.power < 0n ? -each.power : each.power })),
  }));
  same(
    positive,
    ({ validators }) =>
      canonical.validatorsHash(validators.map(({ publicKey, power }) => ({ key: publicKey, power }))),
    hashes.validatorsHash,
  );
  same(arbitrary.params, canonical.paramsHash, hashes.paramsHash);
});

it('writes blocks and evidence as the product does', () => {
  same(arbitrary.block, blockBytes, encodeBlock);
  const wide = arbitrary.block.map((block) => ({ ...block, txs: [...block.txs, new Uint8Array(70_000)] }));
  same(wide, blockBytes, encodeBlock);
  same(fc.array(arbitrary.evidence, { maxLength: 4 }), evidenceListBytes, encodeEvidenceList);
});

const at = { height: arbitrary.int64, round: arbitrary.int32 };
const bits = fc
  .array(fc.bigInt(0n, 2n ** 64n - 1n), { maxLength: 3 })
  .map((elems) => ({ bits: 64 * elems.length, elems }));
const { blockId } = arbitrary;
const voteType = fc.constantFrom(1, 2);
const parts = blockId.map((id) => id.parts);
const small = fc.nat(300);

it('speaks of consensus as the product does', () => {
  const ofType = <K extends string, T>(type: K, fields: fc.Arbitrary<T>) =>
    fields.map((value) => ({ type, ...value }));
  const message = fc.oneof(
    ofType(
      'new-round-step',
      fc.record({
        ...at,
        step: small,
        secondsSinceStart: arbitrary.int64,
        lastCommitRound: fc.integer({ min: -1, max: 3 }),
      }),
    ),
    ofType('new-valid-block', fc.record({ ...at, parts, have: fc.option(bits), isCommit: fc.boolean() })),
    ofType('proposal', fc.record({ proposal: arbitrary.proposal })),
    ofType('proposal-pol', fc.record({ height: arbitrary.int64, polRound: arbitrary.int32, pol: bits })),
    ofType('block-part', fc.record({ ...at, part: arbitrary.part })),
    ofType('vote', fc.record({ vote: arbitrary.vote })),
    ofType('has-vote', fc.record({ ...at, voteType, index: arbitrary.int32 })),
    ofType('vote-set-maj23', fc.record({ ...at, voteType, blockId })),
    ofType('vote-set-bits', fc.record({ ...at, voteType, blockId, votes: bits })),
  );
  same<Parameters<typeof encodeConsensusMessage>[0]>(message, gossip.consensusBytes, encodeConsensusMessage);
});

it('speaks of blocks and transactions, and greets, as the product does', () => {
  const height = arbitrary.int64;
  const message = fc.oneof(
    height.map((each) => ({ type: 'block-request', height: each }) as const),
    height.map((each) => ({ type: 'no-block-response', height: each }) as const),
    arbitrary.block.map((block) => ({ type: 'block-response', block, extendedCommit: null }) as const),
    fc.constant({ type: 'status-request' } as const),
    fc.tuple(height, height).map(([top, base]) => ({ type: 'status-response', height: top, base }) as const),
  );
  same(message, gossip.blocksyncBytes, encodeBlocksyncMessage);
  same(fc.array(arbitrary.bytes(300)), gossip.txsBytes, (txs) => encodeMempoolMessage({ type: 'txs', txs }));
  const text = fc.string();
  const protocol = fc.bigInt(0n, 2n ** 63n);
  const info = fc.record({
    ...{ p2pProtocol: protocol, blockProtocol: protocol, appProtocol: protocol },
    ...{ nodeId: text, listenAddress: text, network: text, version: text, moniker: text },
    ...{ channels: arbitrary.bytes(20), txIndex: text, rpcAddress: text },
  });
  same(info, gossip.nodeInfoBytes, encodeNodeInfo);
});
