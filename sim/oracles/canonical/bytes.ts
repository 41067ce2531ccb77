// What is signed and hashed, byte for byte as CometBFT has it, written a second time: a build whose nodes agree on wrong bytes is at one with
// itself, and with nobody else (spec 4.4 to 4.6).

import { sha256, utf8Encode } from '#platform';
import type { ExecTxResult } from '../../../protocol/abci.ts';
import { Lately } from '../../../protocol/lately.ts';
import type {
  Commit,
  ConsensusParams,
  Evidence,
  Header,
  Proposal,
  PublicKey,
  Vote,
} from '../../../protocol/types.ts';
import { writeBareEvidence, writeKey, writeSignature } from './block.ts';
import { isNilBlockId } from './block-id.ts';
import { BLOCK_PART_BYTES } from './numbers.ts';
import { type Words, words, writeId, writeTime } from './protobuf.ts';

/** Chains are few, and asked for at every vote. */
let chain = { id: '', bytes: utf8Encode('') };

/** What is written next is of this chain: `writeCanonicalVote` and `writeCanonicalProposal` take its bytes from here. */
function useChain(id: string): void {
  if (chain.id !== id) chain = { id, bytes: utf8Encode(id) };
}

// --- what is signed --------------------------------------------------------------------------------------------------

type Voted = Pick<Vote, 'type' | 'height' | 'round' | 'blockId' | 'timeNs'>;

function writeCanonicalVote(to: Words, { type, height, round, blockId, timeNs }: Voted): void {
  to.int(1, type).fixed64(2, height).fixed64(3, BigInt(round));
  if (!isNilBlockId(blockId)) to.message(4, writeId, blockId);
  to.message(5, writeTime, timeNs).text(6, chain.bytes);
}

/** CanonicalVote, behind its length. */
export function voteSignBytes(chainId: string, vote: Voted): Uint8Array {
  useChain(chainId);
  return words.delimited(writeCanonicalVote, vote).take();
}

const PROPOSAL_TYPE = 32;

function writeCanonicalProposal(to: Words, { height, round, polRound, blockId, timeNs }: Proposal): void {
  to.int(1, PROPOSAL_TYPE).fixed64(2, height).fixed64(3, BigInt(round)).int(4, polRound);
  if (!isNilBlockId(blockId)) to.message(5, writeId, blockId);
  to.message(6, writeTime, timeNs).text(7, chain.bytes);
}

/** CanonicalProposal, behind its length. */
export function proposalSignBytes(chainId: string, proposal: Proposal): Uint8Array {
  useChain(chainId);
  return words.delimited(writeCanonicalProposal, proposal).take();
}

// --- what is hashed --------------------------------------------------------------------------------------------------

const LEAF = 0;
const INNER = 1;

const leaf = (): Words => words.byte(LEAF);
const leafOf = (item: Uint8Array): Uint8Array => leaf().raw(item).hash();

/** RFC 6962: of n leaves the left side has the largest power of two below n. */
function rootOf(leaves: readonly Uint8Array[], from = 0, to = leaves.length): Uint8Array {
  if (to - from === 0) return sha256(words.take());
  if (to - from === 1) return leaves[from] as Uint8Array;
  let half = 1;
  while (half * 2 < to - from) half *= 2;
  const [left, right] = [rootOf(leaves, from, from + half), rootOf(leaves, from + half, to)];
  return words.byte(INNER).raw(left).raw(right).hash();
}

/** A wrapper message of one field (cdcEncode). */
const wrapped = (value: Uint8Array): Uint8Array => leaf().text(1, value).hash();

function timeLeaf(timeNs: bigint): Uint8Array {
  writeTime(leaf(), timeNs);
  return words.hash();
}

const headers = new Lately<Header, Uint8Array>(4);

/** `Header.Hash`. */
export const headerHash = (header: Header): Uint8Array => headers.of(header, hashOfHeader);

function hashOfHeader(header: Header): Uint8Array {
  const { version, chainId, height, timeNs, lastBlockId } = header;
  return rootOf([
    leaf().int(1, version.block).int(2, version.app).hash(),
    wrapped(utf8Encode(chainId)),
    leaf().int(1, height).hash(),
    timeLeaf(timeNs),
    writeId(leaf(), lastBlockId).hash(),
    wrapped(header.lastCommitHash),
    wrapped(header.dataHash),
    wrapped(header.validatorsHash),
    wrapped(header.nextValidatorsHash),
    wrapped(header.consensusHash),
    wrapped(header.appHash),
    wrapped(header.lastResultsHash),
    wrapped(header.evidenceHash),
    wrapped(header.proposerAddress),
  ]);
}

/** `Txs.Hash`: over the hashes of the transactions. */
export const dataHash = (txs: readonly Uint8Array[]): Uint8Array =>
  rootOf(txs.map((tx) => leafOf(sha256(tx))));

/** The hash of a block's parts: over its bytes in pieces of 64 KiB. */
export function partsHash(bytes: Uint8Array): Uint8Array {
  const leaves: Uint8Array[] = [];
  for (let at = 0; at < bytes.length; at += BLOCK_PART_BYTES)
    leaves.push(leafOf(bytes.subarray(at, at + BLOCK_PART_BYTES)));
  return rootOf(leaves);
}

/** `Commit.Hash`: over its signatures. */
export const commitHash = ({ signatures }: Commit): Uint8Array =>
  rootOf(signatures.map((each) => writeSignature(leaf(), each).hash()));

/** `ValidatorSet.Hash`: over keys and powers, in the order of the set. */
export const validatorsHash = (
  members: readonly { readonly key: PublicKey; readonly power: bigint }[],
): Uint8Array =>
  rootOf(members.map(({ key, power }) => leaf().message(1, writeKey, key).int(2, power).hash()));

/** `EvidenceList.Hash`: over their bytes. */
export const evidenceHash = (list: readonly Evidence[]): Uint8Array =>
  rootOf(list.map((each) => writeBareEvidence(leaf(), each).hash()));

/** `NewResults(...).Hash`: code, data and gas alone. */
export const resultsHash = (results: readonly ExecTxResult[]): Uint8Array =>
  rootOf(
    results.map(({ code, data, gasWanted, gasUsed }) =>
      leaf().int(1, code).text(2, data).int(5, gasWanted).int(6, gasUsed).hash(),
    ),
  );

/** `ConsensusParams.Hash`: of two of them. */
export const paramsHash = ({ block: { maxBytes, maxGas } }: Pick<ConsensusParams, 'block'>): Uint8Array =>
  words.int(1, maxBytes).int(2, maxGas).hash();
