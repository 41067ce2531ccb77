// The proposer of invalid blocks: well-formed, truly signed, and wrong in one thing, another one each time.

import { utf8Encode } from '#platform';
import { equalBytes } from '../../protocol/bytes.ts';
import { commitHash, dataHash, evidenceListHash } from '../../protocol/hashes.ts';
import {
  type Block,
  type Commit,
  type CommitSig,
  type Evidence,
  FLAG_COMMIT,
  FLAG_NIL,
  type Header,
  NIL_BLOCK_ID,
  type Vote,
} from '../../protocol/types.ts';
import { type Liar, type LiarKit, signedAs, unsignedPrecommit } from './liar.ts';
import { aboutOwnBlocks, inHalves, type Proposed } from './own-blocks.ts';

const HASH_BYTES = 32;
const wrong = new Uint8Array(HASH_BYTES).fill(0xee);
const HOUR_NS = 3_600_000_000_000n;
/** Nobody made it. */
const forged = new Uint8Array(64).fill(0xee);

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
  inHeader(({ timeNs }) => ({ timeNs: timeNs + HOUR_NS })),
  inHeader(({ timeNs }) => ({ timeNs: timeNs - HOUR_NS })),
  inHeader(({ height }) => ({ height: height + 1n })),
  inHeader(({ chainId }) => ({ chainId: `${chainId}x` })),
  inHeader(({ lastBlockId }) => ({ lastBlockId: { ...lastBlockId, hash: wrong } })),
  inHeader(({ lastBlockId }) => ({ lastBlockId: { ...lastBlockId, parts: { total: 1, hash: wrong } } })),
  inHeader(({ version }) => ({ version: { ...version, app: version.app + 1n } })),
  inHeader(({ proposerAddress }) => ({ proposerAddress: new Uint8Array(proposerAddress.length).fill(7) })),
  inLastSignature(() => ({ signature: forged })),
  inLastSignature(() => ({ signature: forged, flag: FLAG_NIL })),
  inLastSignature((_, { signatures }) => ({
    validatorAddress: signatures.find(({ signature }) => signature.length > 0)?.validatorAddress ?? wrong,
  })),
  withShorterCommit,
  withForgedEvidence,
  misnamed,
  ofOtherParts,
  ofTooManyParts,
  inHalves,
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

/** Under its true hash, and parts that there are not. */
function ofOtherParts(block: Block): Proposed {
  return { block, parts: { total: 1, hash: wrong } };
}

/** More parts than the largest block has. */
function ofTooManyParts(block: Block): Proposed {
  return { block, parts: { total: 0x7fff_ffff, hash: wrong } };
}

/** Larger than this is not made large for a lie. */
const LARGE_MAX = 65_536n;

/** More than `block.max_bytes`, where that is little. */
function tooLarge(block: Block, kit: LiarKit): Proposed {
  const maxBytes = kit.blockBytesMax;
  if (maxBytes < 0n || maxBytes > LARGE_MAX) return wrongAppHash(block, kit);
  const tx = utf8Encode('large='.padEnd(Number(maxBytes), 'x'));
  return withTx(block, tx);
}

/** Behind its own. */
export function withTx(block: Block, tx: Uint8Array): Proposed {
  const txs = [...block.txs, tx];
  return { block: { ...block, txs, header: { ...block.header, dataHash: dataHash(txs) } } };
}

/** Of the signatures of its last commit the last one says something else. */
function inLastSignature(change: (signature: CommitSig, commit: Commit) => Partial<CommitSig>): Fault {
  return (block, kit) => {
    const { lastCommit } = block;
    const last = lastCommit?.signatures.findLastIndex(({ signature }) => signature.length > 0) ?? -1;
    const signature = lastCommit?.signatures[last];
    if (lastCommit?.signatures.length === 0) return withOwnSignature(block, kit);
    if (!lastCommit || !signature) return wrongAppHash(block, kit);
    return withCommit(block, {
      ...lastCommit,
      signatures: lastCommit.signatures.with(last, { ...signature, ...change(signature, lastCommit) }),
    });
  };
}

/** Where there is no block before: of one that there is not, and signed by the liar alone. */
export function withOwnSignature(block: Block, kit: LiarKit): Proposed {
  const { proposerAddress: validatorAddress, timeNs } = block.header;
  const nothing = { height: 0n, round: 0, blockId: NIL_BLOCK_ID };
  const { signature } = signedAs(
    kit,
    unsignedPrecommit({ ...nothing, timeNs, validatorAddress, validatorIndex: 0 }),
  );
  const signatures = [{ flag: FLAG_COMMIT, validatorAddress, timeNs, signature }];
  return withCommit(block, { ...nothing, signatures });
}

/** Of its last commit the last place is missing. */
function withShorterCommit(block: Block, kit: LiarKit): Proposed {
  const { lastCommit } = block;
  if (!lastCommit || lastCommit.signatures.length === 0) return wrongAppHash(block, kit);
  return withCommit(block, { ...lastCommit, signatures: lastCommit.signatures.slice(0, -1) });
}

export const withCommit = (block: Block, lastCommit: Commit): Proposed => ({
  block: { ...block, lastCommit, header: { ...block.header, lastCommitHash: commitHash(lastCommit) } },
});

/** It accuses another one of two votes that the liar signed itself. */
function withForgedEvidence(block: Block, kit: LiarKit): Proposed {
  const { header } = block;
  const height = header.height - 1n;
  const set = kit.validators(height);
  const index = set.findIndex(({ address }) => !equalBytes(address, header.proposerAddress));
  const accused = set[index];
  if (!accused || height < 1n) return wrongAppHash(block, kit);
  const vote = (fill: number): Vote => {
    const hash = new Uint8Array(HASH_BYTES).fill(fill);
    const said = {
      height,
      round: 0,
      blockId: { hash, parts: { total: 1, hash } },
      timeNs: header.timeNs,
      validatorAddress: accused.address,
      validatorIndex: index,
    };
    return signedAs(kit, unsignedPrecommit(said));
  };
  const evidence: Evidence = {
    kind: 'duplicate-vote',
    voteA: vote(1),
    voteB: vote(2),
    powerTotal: set.reduce((sum, { power }) => sum + power, 0n),
    validatorPower: accused.power,
    timeNs: kit.decided(height)?.header.timeNs ?? header.timeNs,
  };
  const accusing = { ...header, evidenceHash: evidenceListHash([evidence]) };
  return { block: { ...block, evidence: [evidence], header: accusing } };
}
