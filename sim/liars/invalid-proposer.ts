// The proposer of invalid blocks: well-formed, truly signed, and wrong in one thing, another one each time.

import { utf8Encode } from '#platform';
import { commitHash, dataHash, evidenceListHash } from '../../protocol/hashes.ts';
import { voteSignBytes } from '../../protocol/sign-bytes.ts';
import { type Block, type Evidence, type Header, PRECOMMIT, type Vote } from '../../protocol/types.ts';
import type { Liar, LiarKit } from './liar.ts';
import { aboutOwnBlocks, type Proposed } from './own-blocks.ts';

const HASH_BYTES = 32;
const wrong = new Uint8Array(HASH_BYTES).fill(0xee);

/** One thing wrong each. */
type Fault = (block: Block, kit: LiarKit) => Proposed;
const inHeader =
  (change: (header: Header) => Partial<Header>): Fault =>
  (block) => ({ block: { ...block, header: { ...block.header, ...change(block.header) } } });

/** Also where another fault has nothing to be wrong about. */
const wrongAppHash = inHeader(() => ({ appHash: wrong }));

const FAULTS: readonly Fault[] = [
  wrongAppHash,
  inHeader(() => ({ dataHash: wrong })),
  inHeader(() => ({ lastResultsHash: wrong })),
  inHeader(() => ({ validatorsHash: wrong })),
  inHeader(() => ({ nextValidatorsHash: wrong })),
  inHeader(() => ({ consensusHash: wrong })),
  inHeader(() => ({ lastCommitHash: wrong })),
  inHeader(() => ({ evidenceHash: wrong })),
  inHeader(({ timeNs }) => ({ timeNs: timeNs + 1_000_000_000n })),
  inHeader(({ timeNs }) => ({ timeNs: timeNs - 3_600_000_000_000n })),
  inHeader(({ height }) => ({ height: height + 1n })),
  inHeader(({ chainId }) => ({ chainId: `${chainId}x` })),
  inHeader(({ lastBlockId }) => ({ lastBlockId: { ...lastBlockId, hash: wrong } })),
  inHeader(({ proposerAddress }) => ({ proposerAddress: new Uint8Array(proposerAddress.length).fill(7) })),
  withForgedCommit,
  withForgedEvidence,
  misnamed,
  tooLarge,
];

export const invalidProposer: Liar = (kit) => {
  let next: number | null = null;
  return aboutOwnBlocks(kit, 'lie: an invalid block', (block, { timeNs }) => {
    next ??= Number(timeNs / 1_000n); // by its clock: as good as drawn
    return (FAULTS[next++ % FAULTS.length] as Fault)(block, kit);
  });
};

/** Nothing is wrong with the block but the hash by which its proposal names it. */
function misnamed(block: Block): Proposed {
  return { block, hash: wrong };
}

/** Larger than this is not made large for a lie. */
const LARGE_MAX = 65_536n;

/** More than `block.max_bytes`, where that is little. */
function tooLarge(block: Block, kit: LiarKit): Proposed {
  const maxBytes = kit.blockBytesMax;
  if (maxBytes < 0n || maxBytes > LARGE_MAX) return wrongAppHash(block, kit);
  const tx = utf8Encode('large='.padEnd(Number(maxBytes), 'x'));
  const txs = [...block.txs, tx];
  return { block: { ...block, txs, header: { ...block.header, dataHash: dataHash(txs) } } };
}

/** Its last commit ends with a signature that nobody made. */
function withForgedCommit(block: Block, kit: LiarKit): Proposed {
  const { lastCommit, header } = block;
  const last = lastCommit?.signatures.findLastIndex(({ signature }) => signature.length > 0) ?? -1;
  const forged = lastCommit?.signatures[last];
  if (!lastCommit || !forged) return wrongAppHash(block, kit);
  const signatures = lastCommit.signatures.with(last, {
    ...forged,
    signature: new Uint8Array(64).fill(0xee),
  });
  const commit = { ...lastCommit, signatures };
  return {
    block: { ...block, lastCommit: commit, header: { ...header, lastCommitHash: commitHash(commit) } },
  };
}

/** It accuses another one of two votes that the liar signed itself. */
function withForgedEvidence(block: Block, kit: LiarKit): Proposed {
  const { header } = block;
  const height = header.height - 1n;
  const { key } = kit.machine;
  const set = kit.validators(height);
  const index = set.findIndex(({ address }) => address.some((byte, i) => byte !== header.proposerAddress[i]));
  const accused = set[index];
  if (!accused || !key || height < 1n) return wrongAppHash(block, kit);
  const vote = (fill: number): Vote => {
    const hash = new Uint8Array(HASH_BYTES).fill(fill);
    const said = {
      type: PRECOMMIT,
      height,
      round: 0,
      blockId: { hash, parts: { total: 1, hash } },
      timeNs: header.timeNs,
      validatorAddress: accused.address,
      validatorIndex: index,
      signature: new Uint8Array(0),
      extension: new Uint8Array(0),
      extensionSignature: new Uint8Array(0),
    } as const;
    return { ...said, signature: key.sign(voteSignBytes(kit.chainId, said)) };
  };
  const evidence: Evidence = {
    kind: 'duplicate-vote',
    voteA: vote(1),
    voteB: vote(2),
    powerTotal: set.reduce((sum, { power }) => sum + power, 0n),
    validatorPower: accused.power,
    timeNs: header.timeNs,
  };
  const accusing = { ...header, evidenceHash: evidenceListHash([evidence]) };
  return { block: { ...block, evidence: [evidence], header: accusing } };
}
