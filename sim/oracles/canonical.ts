// What is signed and hashed, byte for byte as CometBFT has it, written a second time: a build whose nodes agree on wrong bytes is at one with
// itself, and with nobody else (spec 4.4 to 4.6).

import { sha256, utf8Encode } from '#platform';
import type { ExecTxResult } from '../../protocol/abci.ts';
import { Lately } from '../../protocol/lately.ts';
import type {
  BlockId,
  Commit,
  ConsensusParams,
  Evidence,
  Header,
  Proposal,
  Vote,
} from '../../protocol/types.ts';
import { encodeBareEvidence } from '../../protocol/wire/index.ts';

const NS_PER_S = 1_000_000_000n;
/** A scratch for what is hashed or verified at once; long texts get one of their own. */
const SCRATCH_BYTES = 4096;

/** Protobuf, as far as it is needed here. What is zero or empty is left out, but for a message that is always there. */
class Words {
  private bytes = new Uint8Array(SCRATCH_BYTES);
  private at = 0;

  private room(length: number): void {
    if (this.at + length <= this.bytes.length) return;
    const grown = new Uint8Array(2 * (this.at + length));
    grown.set(this.bytes);
    this.bytes = grown;
  }

  byte(value: number): this {
    this.room(1);
    this.bytes[this.at++] = value;
    return this;
  }

  varint(value: bigint | number): this {
    if (typeof value === 'number' && value >= 0 && value < 0x80) return this.byte(value);
    let rest = BigInt.asUintN(64, BigInt(value)); // negative ones have ten bytes
    for (; rest > 127n; rest >>= 7n) this.byte(Number(rest & 127n) | 128);
    return this.byte(Number(rest));
  }

  raw(value: Uint8Array): this {
    this.room(value.length);
    this.bytes.set(value, this.at);
    this.at += value.length;
    return this;
  }

  int(field: number, value: bigint | number): this {
    return value === 0 || value === 0n ? this : this.byte(field << 3).varint(value);
  }

  fixed64(field: number, value: bigint | number): this {
    if (value === 0 || value === 0n) return this;
    this.byte((field << 3) | 1);
    let rest = BigInt.asUintN(64, BigInt(value));
    for (let i = 0; i < 8; i++, rest >>= 8n) this.byte(Number(rest & 255n));
    return this;
  }

  text(field: number, value: Uint8Array): this {
    return value.length === 0 ? this : this.message(field, value);
  }

  message(field: number, value: Uint8Array): this {
    return this.byte((field << 3) | 2)
      .varint(value.length)
      .raw(value);
  }

  take(): Uint8Array {
    const taken = this.bytes.slice(0, this.at);
    this.at = 0;
    return taken;
  }
}

const NONE = new Uint8Array(0);
const words = new Words();

function timeWords(timeNs: bigint): Uint8Array {
  const nanos = ((timeNs % NS_PER_S) + NS_PER_S) % NS_PER_S;
  return words
    .int(1, (timeNs - nanos) / NS_PER_S)
    .int(2, nanos)
    .take();
}

/** BlockID and CanonicalBlockID have the same fields. */
function idWords({ hash, parts }: BlockId): Uint8Array {
  const header = words.int(1, parts.total).text(2, parts.hash).take();
  return words.text(1, hash).message(2, header).take();
}

const isNil = ({ hash, parts }: BlockId): boolean =>
  hash.length === 0 && parts.total === 0 && parts.hash.length === 0;

// --- what is signed --------------------------------------------------------------------------------------------------

const withLength = (message: Uint8Array): Uint8Array => words.varint(message.length).raw(message).take();

type Voted = Pick<Vote, 'type' | 'height' | 'round' | 'blockId' | 'timeNs'>;

/** CanonicalVote. */
export function voteSignBytes(chainId: string, { type, height, round, blockId, timeNs }: Voted): Uint8Array {
  const id = isNil(blockId) ? null : idWords(blockId);
  const time = timeWords(timeNs);
  words.int(1, type).fixed64(2, height).fixed64(3, round);
  if (id) words.message(4, id);
  return withLength(words.message(5, time).text(6, utf8Encode(chainId)).take());
}

const PROPOSAL_TYPE = 32;

/** CanonicalProposal. */
export function proposalSignBytes(chainId: string, proposal: Proposal): Uint8Array {
  const { height, round, polRound, blockId, timeNs } = proposal;
  const id = isNil(blockId) ? null : idWords(blockId);
  const time = timeWords(timeNs);
  words.int(1, PROPOSAL_TYPE).fixed64(2, height).fixed64(3, round).int(4, polRound);
  if (id) words.message(5, id);
  return withLength(words.message(6, time).text(7, utf8Encode(chainId)).take());
}

// --- what is hashed --------------------------------------------------------------------------------------------------

const LEAF = 0;
const INNER = 1;

/** RFC 6962: of n items the left side has the largest power of two below n. */
function rootOf(items: readonly Uint8Array[], from = 0, to = items.length): Uint8Array {
  if (to - from === 0) return sha256(NONE);
  if (to - from === 1)
    return sha256(
      words
        .byte(LEAF)
        .raw(items[from] as Uint8Array)
        .take(),
    );
  let half = 1;
  while (half * 2 < to - from) half *= 2;
  const [left, right] = [rootOf(items, from, from + half), rootOf(items, from + half, to)];
  return sha256(words.byte(INNER).raw(left).raw(right).take());
}

/** A wrapper message of one field (cdcEncode). */
const wrapped = (value: Uint8Array): Uint8Array => words.text(1, value).take();

const headers = new Lately<Header, Uint8Array>(4);

/** `Header.Hash`. */
export const headerHash = (header: Header): Uint8Array => headers.of(header, hashOfHeader);

function hashOfHeader(header: Header): Uint8Array {
  const { version, chainId, height, timeNs, lastBlockId } = header;
  return rootOf([
    words.int(1, version.block).int(2, version.app).take(),
    wrapped(utf8Encode(chainId)),
    words.int(1, height).take(),
    timeWords(timeNs),
    idWords(lastBlockId),
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
export const dataHash = (txs: readonly Uint8Array[]): Uint8Array => rootOf(txs.map((tx) => sha256(tx)));

/** `Commit.Hash`: over its signatures. */
export const commitHash = ({ signatures }: Commit): Uint8Array =>
  rootOf(
    signatures.map(({ flag, validatorAddress, timeNs, signature }) => {
      const time = timeWords(timeNs);
      return words.int(1, flag).text(2, validatorAddress).message(3, time).text(4, signature).take();
    }),
  );

/** `EvidenceList.Hash`: over their bytes. */
export const evidenceHash = (list: readonly Evidence[]): Uint8Array => rootOf(list.map(encodeBareEvidence));

/** `NewResults(...).Hash`: code, data and gas alone. */
export const resultsHash = (results: readonly ExecTxResult[]): Uint8Array =>
  rootOf(
    results.map(({ code, data, gasWanted, gasUsed }) =>
      words.int(1, code).text(2, data).int(5, gasWanted).int(6, gasUsed).take(),
    ),
  );

/** `ConsensusParams.Hash`: of two of them. */
export const paramsHash = ({ block: { maxBytes, maxGas } }: Pick<ConsensusParams, 'block'>): Uint8Array =>
  sha256(words.int(1, maxBytes).int(2, maxGas).take());
