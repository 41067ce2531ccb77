// What a block has room for beside its header and the commit that it carries.

import { isRefusal, type Refusal, refuse } from '../refusal.ts';
import {
  BLOCK_OVERHEAD_BYTES_MAX,
  COMMIT_OVERHEAD_BYTES_MAX,
  COMMIT_SIG_BYTES_MAX,
  HEADER_BYTES_MAX,
} from '../types.ts';

/** Bytes that header, commit and framing of a block may take with so many validators. */
const reservedBytes = (validators: number): bigint =>
  BLOCK_OVERHEAD_BYTES_MAX +
  HEADER_BYTES_MAX +
  COMMIT_OVERHEAD_BYTES_MAX +
  (COMMIT_SIG_BYTES_MAX + 3n) * BigInt(validators);

/**
 * Room for transactions in a block of `maxBytes` (`MaxDataBytes`; with no evidence `MaxDataBytesNoEvidence`).
 */
export function maxDataBytes(
  maxBytes: bigint,
  evidenceBytes: bigint,
  validators: number,
): bigint | Refusal<'block-too-small'> {
  const room = maxBytes - reservedBytes(validators) - evidenceBytes;
  if (room >= 0n) return room;
  const short = `block.max_bytes=${maxBytes} is too small for header, commit and evidence`;
  return refuse('block-too-small', `${short}: it takes ${maxBytes - room}`);
}

/** What one signature of a commit takes at most in a block, its frame included: with the keys that validators have here it is of 64 bytes. */
const SIGNED_BYTES_MAX = 111n;

/**
 * Room for evidence and transactions in a block of so many validators that carries the commit of `signers`: those of the height before, of whom
 * there may be many more. What is reserved by the set of its own height (`MaxDataBytes`) is then less than the commit takes (docs/decisions/0015).
 */
export function roomInBlock(
  maxBytes: bigint,
  validators: number,
  signers: number,
): bigint | Refusal<'block-too-small' | 'commit-too-large'> {
  const room = maxDataBytes(maxBytes, 0n, validators);
  if (isRefusal(room)) return room;
  const left = maxBytes - reservedBytes(0) - SIGNED_BYTES_MAX * BigInt(signers);
  if (left >= 0n) return left < room ? left : room;
  const short = `block.max_bytes=${maxBytes} is too small for a commit of ${signers}`;
  return refuse('commit-too-large', `${short}: the block takes ${maxBytes - left} at most`);
}
