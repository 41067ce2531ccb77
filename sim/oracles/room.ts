// What a block may hold of transactions: bytes, as CometBFT leaves them (`MaxDataBytes`) beside the frame, the header, a commit with a
// signature of everyone, and the evidence that it carries; and gas.

import {
  BLOCK_OVERHEAD_BYTES_MAX,
  COMMIT_OVERHEAD_BYTES_MAX,
  COMMIT_SIG_BYTES_MAX,
  HEADER_BYTES_MAX,
} from '../../protocol/types.ts';
import type { Machine } from '../machine.ts';
import type { GhostChain } from './ghost.ts';

const OVERHEAD_BYTES = BLOCK_OVERHEAD_BYTES_MAX + HEADER_BYTES_MAX + COMMIT_OVERHEAD_BYTES_MAX;
/** With its frame. */
const SIGNATURE_BYTES = COMMIT_SIG_BYTES_MAX + 3n;

/** A signature of 64 bytes with what stands around it: flag, address, time. */
const SIGNED_BYTES = 111n;

/** @param voters how many validators the height has. */
const roomForTxs = (blockBytesMax: bigint, voters: number, evidenceBytes: number): bigint =>
  blockBytesMax - OVERHEAD_BYTES - SIGNATURE_BYTES * BigInt(voters) - BigInt(evidenceBytes);

/** The proposer's: the commit that the block carries is of `signers`, of whom there may be many more than voters. */
export function roomOfProposer(
  blockBytesMax: bigint,
  voters: number,
  signers: number,
  evidenceBytes: number,
): bigint {
  const most = blockBytesMax - OVERHEAD_BYTES - SIGNED_BYTES * BigInt(signers);
  const left = (most < 0n ? 0n : most) - BigInt(evidenceBytes);
  const room = roomForTxs(blockBytesMax, voters, evidenceBytes);
  return left < room ? left : room;
}

/** A transaction as a field of a block's data: a tag, its length, itself. */
export function fieldBytes(length: number): number {
  let size = 2 + length;
  for (let rest = length >> 7; rest > 0; rest >>= 7) size++;
  return size;
}

/** As far as anybody knows there is room for this much without evidence; infinity: there is no limit. */
export function roomAt(ghost: GhostChain, height: bigint): number {
  const maxBytes = ghost.params(height)?.block.maxBytes ?? -1n;
  const voters = ghost.set(height)?.members.length ?? 0;
  return maxBytes < 0n ? Number.POSITIVE_INFINITY : Number(roomForTxs(maxBytes, voters, 0));
}

/** As `roomAt`, beside the commit that the block carries. */
export function proposerRoomAt(ghost: GhostChain, height: bigint): number {
  const maxBytes = ghost.params(height)?.block.maxBytes ?? -1n;
  const [voters, signers] = [height, height - 1n].map((at) => ghost.set(at)?.members.length ?? 0);
  return maxBytes < 0n
    ? Number.POSITIVE_INFINITY
    : Number(roomOfProposer(maxBytes, voters ?? 0, signers ?? 0, 0));
}

/** What the transactions of a block may want; infinity: there is no limit. */
export function gasAt(ghost: GhostChain, height: bigint): number {
  const maxGas = ghost.params(height)?.block.maxGas ?? -1n;
  return maxGas < 0n ? Number.POSITIVE_INFINITY : Number(maxGas);
}

/** A pool hears of new parameters a little later than its node is at their height. */
const heightsAround = ({ height }: Machine): bigint[] => [height, height + 1n, height + 2n];

/** Whether a pool may refuse it for the gas that it wants. */
export function mayBeTooDear(ghost: GhostChain, at: Machine, gasWanted: bigint): boolean {
  const gasMax = Math.min(...heightsAround(at).map((height) => gasAt(ghost, height)));
  return isTooDear(gasWanted, gasMax);
}

/** For a block that may take so much, or infinity. */
export const isTooDear = (gasWanted: bigint, gasMax: number): boolean =>
  gasMax !== Number.POSITIVE_INFINITY && (gasWanted > gasMax || gasWanted < 0n);

/** Whether a pool may refuse it for its size: too large, or nothing. A new life's pool has the limits of the genesis until its node has told it of those in force. */
export function mayRefuseSize(ghost: GhostChain, at: Machine, length: number): boolean {
  const { validators, consensusParams } = ghost.genesis;
  const { maxBytes } = consensusParams.block;
  const rooms = heightsAround(at).map((height) => roomAt(ghost, height));
  if (maxBytes >= 0n) rooms.push(Number(roomForTxs(maxBytes, validators.length, 0)));
  return length === 0 || length > at.config.mempool.txBytesMax || fieldBytes(length) > Math.min(...rooms);
}
