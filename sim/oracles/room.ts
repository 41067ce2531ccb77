// How many bytes of transactions a block has room for, as CometBFT leaves it (`MaxDataBytes`): beside the frame, the header, a commit with
// a signature of everyone, and the evidence that it carries.

import {
  BLOCK_OVERHEAD_BYTES_MAX,
  COMMIT_OVERHEAD_BYTES_MAX,
  COMMIT_SIG_BYTES_MAX,
  HEADER_BYTES_MAX,
} from '../../protocol/types.ts';

const OVERHEAD_BYTES = BLOCK_OVERHEAD_BYTES_MAX + HEADER_BYTES_MAX + COMMIT_OVERHEAD_BYTES_MAX;
/** With its frame. */
const SIGNATURE_BYTES = COMMIT_SIG_BYTES_MAX + 3n;

/** @param voters how many validators the height has. */
export const roomForTxs = (blockBytesMax: bigint, voters: number, evidenceBytes: number): bigint =>
  blockBytesMax - OVERHEAD_BYTES - SIGNATURE_BYTES * BigInt(voters) - BigInt(evidenceBytes);
