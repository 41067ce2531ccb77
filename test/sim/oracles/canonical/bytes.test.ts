// The oracles' own words for what is signed, hashed and stored, beside the product's, which CometBFT's vectors prove: two writings of one standard.

import fc from 'fast-check';
import { it } from 'vitest';
import { equalBytes } from '../../../../protocol/bytes.ts';
import * as hashes from '../../../../protocol/hashes.ts';
import * as signed from '../../../../protocol/sign-bytes.ts';
import { encodeBlock, encodeEvidenceList } from '../../../../protocol/wire/index.ts';
import { blockBytes, evidenceListBytes } from '../../../../sim/oracles/canonical/block.ts';
import * as canonical from '../../../../sim/oracles/canonical/bytes.ts';
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
