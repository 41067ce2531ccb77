// Every hash that blocks are made of (spec 4.4, 4.5). Headers, commits and validator sets are immutable, so
// hashes of those that were at hand lately are remembered.

import { sha256 } from '#platform';
import type { ExecTxResult } from './abci.ts';
import { equalBytes } from './bytes.ts';
import { Lately, remembers } from './lately.ts';
import { leafHashWith, merkleRoot, rootOfLeaves } from './merkle.ts';
import {
  type Commit,
  type CommitSig,
  type ConsensusParams,
  EMPTY_BYTES,
  type Evidence,
  type Hash,
  type Header,
  type TimeNs,
  type ValidatorSet,
} from './types.ts';
import { writeBlockId } from './wire/block-id.ts';
import { writeCommitSig } from './wire/commit.ts';
import { encodeBareEvidence } from './wire/evidence.ts';
import { writeVersion } from './wire/header.ts';
import { encodeSimpleValidator } from './wire/validator.ts';
import { encodeWith, type ProtoWriter } from './wire/writer.ts';

export const txHash = (tx: Uint8Array): Hash => sha256(tx);

/** The leaves are the hashes of the transactions, not the transactions. */
export const dataHash = (txs: readonly Uint8Array[]): Hash => merkleRoot(txs.map(txHash));

/** CometBFT cdcEncode: a wrapper message of one field, and nothing at all for the empty value. */
const writeWrapped = (writer: ProtoWriter, bytes: Uint8Array): void => writer.bytes(0x0a, bytes);

/** Most fields of a header stood in the one before: the last few leaves are remembered by their bytes. */
const LEAVES_REMEMBERED = 16;
const leaves: { readonly of: Uint8Array; readonly hash: Hash }[] = [];
let oldestLeaf = 0;

function wrapped(bytes: Uint8Array): Hash {
  for (let i = 0; remembers() && i < leaves.length; i++) {
    const known = leaves[i]!;
    if (equalBytes(known.of, bytes)) return known.hash;
  }
  const hash = leafHashWith(writeWrapped, bytes);
  leaves[oldestLeaf] = { of: bytes.slice(), hash }; // its owner may change it, and consensus hashes rest on it
  oldestLeaf = (oldestLeaf + 1) % LEAVES_REMEMBERED;
  return hash;
}

const writeText = (writer: ProtoWriter, text: string): void => writer.text(0x0a, text);
const writeHeight = (writer: ProtoWriter, height: bigint): void => writer.int64(0x08, height);
const writeTime = (writer: ProtoWriter, timeNs: TimeNs): void => writer.timeFields(timeNs);

const headerLeaves = (header: Header): Hash[] => [
  leafHashWith(writeVersion, header.version),
  leafHashWith(writeText, header.chainId),
  leafHashWith(writeHeight, header.height),
  leafHashWith(writeTime, header.timeNs),
  leafHashWith(writeBlockId, header.lastBlockId),
  wrapped(header.lastCommitHash),
  wrapped(header.dataHash),
  wrapped(header.validatorsHash),
  wrapped(header.nextValidatorsHash),
  wrapped(header.consensusHash),
  wrapped(header.appHash),
  wrapped(header.lastResultsHash),
  wrapped(header.evidenceHash),
  wrapped(header.proposerAddress),
];

const headerHashes = new Lately<Header, Hash>(32);

/** The block hash; no bytes while the header has no validators hash. */
export function headerHash(header: Header): Hash {
  if (header.validatorsHash.length === 0) return EMPTY_BYTES;
  return headerHashes.of(header, hashOfHeader);
}

const hashOfHeader = (header: Header): Hash => rootOfHeader(headerLeaves(header));

/** The same header is hashed by who makes it and by who decodes it. */
const ROOTS_REMEMBERED = 4;
const roots: { readonly leaves: readonly Hash[]; readonly root: Hash }[] = [];
let oldestRoot = 0;

function rootOfHeader(leaves: readonly Hash[]): Hash {
  const known =
    remembers() && roots.find((each) => each.leaves.every((leaf, i) => equalBytes(leaf, leaves[i]!)));
  if (known) return known.root;
  const root = rootOfLeaves(leaves);
  roots[oldestRoot] = { leaves, root };
  oldestRoot = (oldestRoot + 1) % ROOTS_REMEMBERED;
  return root;
}

const leafOfSignature = (signature: CommitSig): Hash => leafHashWith(writeCommitSig, signature);

const commitHashes = new Lately<Commit, Hash>(32);

/** last_commit_hash: over the signatures alone. */
export const commitHash = (commit: Commit): Hash => commitHashes.of(commit, hashOfCommit);

const hashOfCommit = ({ signatures }: Commit): Hash => rootOfLeaves(signatures.map(leafOfSignature));

export const evidenceListHash = (list: readonly Evidence[]): Hash => merkleRoot(list.map(encodeBareEvidence));

const HASH_BYTES = 32;

/** binary.PutVarint: zig-zag, then varint. */
function zigZagVarint(value: bigint): Uint8Array {
  const bytes: number[] = [];
  let rest = BigInt.asUintN(64, (value << 1n) ^ (value >> 63n));
  for (; rest > 127n; rest >>= 7n) bytes.push(Number(rest & 127n) | 128);
  bytes.push(Number(rest));
  return Uint8Array.from(bytes);
}

/**
 * What makes two pieces of evidence the same one (CometBFT Evidence.Hash). For a light client attack only
 * the first 31 bytes of the conflicting hash count, and a zero stands for the last: an upstream slip that
 * is consensus now.
 */
export function evidenceIdentity(evidence: Evidence): Hash {
  if (evidence.kind === 'duplicate-vote') return sha256(encodeBareEvidence(evidence));
  const height = zigZagVarint(evidence.commonHeight);
  const bytes = new Uint8Array(HASH_BYTES + height.length);
  bytes.set(headerHash(evidence.conflictingBlock.signedHeader.header).subarray(0, HASH_BYTES - 1));
  bytes.set(height, HASH_BYTES);
  return sha256(bytes);
}

const validatorsHashes = new WeakMap<ValidatorSet['validators'], Hash>();

/** Over keys and powers in set order; priorities do not count. */
export function validatorsHash(set: ValidatorSet): Hash {
  let hash = remembers() ? validatorsHashes.get(set.validators) : undefined;
  if (!hash) {
    hash = merkleRoot(set.validators.map(encodeSimpleValidator));
    validatorsHashes.set(set.validators, hash);
  }
  return hash;
}

function writeHashedParams(writer: ProtoWriter, params: Pick<ConsensusParams, 'block'>): void {
  writer.int64(0x08, params.block.maxBytes);
  writer.int64(0x10, params.block.maxGas);
}

/** consensus_hash: only the block limits are in it (HashedParams). */
export const paramsHash = (params: Pick<ConsensusParams, 'block'>): Hash =>
  sha256(encodeWith(writeHashedParams, params));

/** The part of a result that all nodes agree on: no log, info, events, codespace. */
function writeDeterministicResult(writer: ProtoWriter, result: ExecTxResult): void {
  writer.int(0x08, result.code);
  writer.bytes(0x12, result.data);
  writer.int64(0x28, result.gasWanted);
  writer.int64(0x30, result.gasUsed);
}

/** last_results_hash. */
export const resultsHash = (results: readonly ExecTxResult[]): Hash =>
  merkleRoot(results.map((result) => encodeWith(writeDeterministicResult, result)));
