// What validators sign (spec 4.6): length-prefixed canonical votes, proposals and vote extensions.

import { equalBytes, roomFor } from './bytes.ts';
import { remembers } from './lately.ts';
import { NS_PER_S, secondsOf } from './time.ts';
import type { BlockId, Proposal, TimeNs, Vote } from './types.ts';
import { encodeWith, type ProtoWriter } from './wire/writer.ts';

type Signed = Pick<Vote, 'type' | 'height' | 'round' | 'blockId' | 'timeNs'>;

/** All of a canonical message but its time: what stands before it and after it. */
interface Template {
  readonly chainId: string;
  readonly type: number;
  readonly height: bigint;
  readonly round: number;
  readonly polRound: number;
  readonly blockId: BlockId;
  readonly before: Uint8Array;
  readonly after: Uint8Array;
}

/**
 * Votes of one round differ only in their time; this many (chain, type, height, round, block) are at hand
 * at once.
 */
const TEMPLATES_MAX = 8;
const NO_POL_FIELD = -2;
const templates: Template[] = [];
let oldest = 0;

function sameBlockId(a: BlockId, b: BlockId): boolean {
  if (a === b) return true;
  return (
    a.parts.total === b.parts.total && equalBytes(a.hash, b.hash) && equalBytes(a.parts.hash, b.parts.hash)
  );
}

/** CanonicalBlockID; absent for nil. */
function writeCanonicalBlockId(writer: ProtoWriter, tag: number, id: BlockId): void {
  if (id.hash.length === 0 && id.parts.total === 0 && id.parts.hash.length === 0) return;
  const start = writer.open(tag);
  writer.bytes(0x0a, id.hash);
  const parts = writer.open(0x12);
  writer.int(0x08, id.parts.total);
  writer.bytes(0x12, id.parts.hash);
  writer.close(parts);
  writer.close(start);
}

function makeTemplate(chainId: string, signed: Signed, polRound: number): Template {
  const isProposal = polRound !== NO_POL_FIELD;
  const before = encodeWith((writer) => {
    writer.int(0x08, signed.type);
    writer.fixed64(0x11, signed.height);
    writer.fixed64(0x19, BigInt(signed.round));
    if (isProposal) writer.int(0x20, polRound);
    writeCanonicalBlockId(writer, isProposal ? 0x2a : 0x22, signed.blockId);
  }, null);
  const after = encodeWith((writer) => writer.text(isProposal ? 0x3a : 0x32, chainId), null);
  const { type, height, round, blockId } = signed;
  return { chainId, type, height, round, polRound, blockId, before, after };
}

function templateFor(chainId: string, signed: Signed, polRound: number): Template {
  for (let i = 0; remembers() && i < templates.length; i++) {
    const known = templates[i]!;
    if (
      known.height === signed.height &&
      known.type === signed.type &&
      known.round === signed.round &&
      known.polRound === polRound &&
      known.chainId === chainId &&
      sameBlockId(known.blockId, signed.blockId)
    ) {
      return known;
    }
  }
  const made = makeTemplate(chainId, signed, polRound);
  templates[oldest] = made;
  oldest = (oldest + 1) % TEMPLATES_MAX;
  return made;
}

function varintSize(value: number): number {
  let size = 1;
  for (let rest = value; rest > 127; rest = Math.floor(rest / 128)) size++;
  return size;
}

function putVarint(bytes: Uint8Array, at: number, value: number): number {
  let rest = value;
  let next = at;
  while (rest > 127) {
    bytes[next++] = (rest % 128) | 128;
    rest = Math.floor(rest / 128);
  }
  bytes[next++] = rest;
  return next;
}

/** An int64 before 1970 takes ten bytes of two's complement. */
function putNegativeVarint(bytes: Uint8Array, at: number, value: bigint): number {
  let rest = BigInt.asUintN(64, value);
  let next = at;
  for (; rest > 127n; rest >>= 7n) bytes[next++] = Number(rest & 127n) | 128;
  bytes[next++] = Number(rest);
  return next;
}

function fill(template: Template, timeTag: number, timeNs: TimeNs): Uint8Array {
  const { before, after } = template;
  const wholeSeconds = secondsOf(timeNs);
  const seconds = Number(wholeSeconds);
  const nanos = Number(timeNs - wholeSeconds * NS_PER_S);
  const secondsSize = seconds === 0 ? 0 : 1 + (seconds < 0 ? 10 : varintSize(seconds));
  const timeSize = secondsSize + (nanos === 0 ? 0 : 1 + varintSize(nanos));
  const size = before.length + 2 + timeSize + after.length;
  const bytes = roomFor(varintSize(size) + size);
  let at = putVarint(bytes, 0, size);
  bytes.set(before, at);
  at += before.length;
  bytes[at++] = timeTag;
  bytes[at++] = timeSize;
  if (seconds !== 0) {
    bytes[at++] = 0x08;
    at = seconds < 0 ? putNegativeVarint(bytes, at, wholeSeconds) : putVarint(bytes, at, seconds);
  }
  if (nanos !== 0) {
    bytes[at++] = 0x10;
    at = putVarint(bytes, at, nanos);
  }
  bytes.set(after, at);
  return bytes;
}

/** CometBFT VoteSignBytes. Address, index and extension are not signed. */
export const voteSignBytes = (chainId: string, vote: Signed): Uint8Array =>
  fill(templateFor(chainId, vote, NO_POL_FIELD), 0x2a, vote.timeNs);

/** CometBFT ProposalSignBytes. */
export const proposalSignBytes = (
  chainId: string,
  proposal: Pick<Proposal, 'type' | 'height' | 'round' | 'polRound' | 'blockId' | 'timeNs'>,
): Uint8Array => fill(templateFor(chainId, proposal, proposal.polRound), 0x32, proposal.timeNs);

/**
 * CometBFT VoteExtensionSignBytes: signed for every non-nil precommit while extensions are enabled, also
 * when empty.
 */
export function voteExtensionSignBytes(
  chainId: string,
  vote: Pick<Vote, 'extension' | 'height' | 'round'>,
): Uint8Array {
  const body = encodeWith((writer) => {
    writer.bytes(0x0a, vote.extension);
    writer.fixed64(0x11, vote.height);
    writer.fixed64(0x19, BigInt(vote.round));
    writer.text(0x22, chainId);
  }, null);
  const bytes = roomFor(varintSize(body.length) + body.length);
  bytes.set(body, putVarint(bytes, 0, body.length));
  return bytes;
}
