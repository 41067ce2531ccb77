// What a block may hold of transactions: bytes, as CometBFT leaves them (`MaxDataBytes`) beside the frame, the header, a commit with a
// signature of everyone, and the evidence that it carries; and gas.

import type { Machine } from '../../machine.ts';
import {
  BLOCK_BYTES_MAX,
  BLOCK_OVERHEAD_BYTES_MAX,
  COMMIT_OVERHEAD_BYTES_MAX,
  COMMIT_SIG_BYTES_MAX,
  HEADER_BYTES_MAX,
} from '../canonical/numbers.ts';
import type { GhostChain } from '../ghost/ghost.ts';

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

/** What was asked last, and the answer: asked at every transaction, and mostly the same. */
let asked = { maxBytes: -1n, voters: 0, room: 0 };

/** Without evidence; infinity: there is no limit. */
function roomWith(maxBytes: bigint, voters: number): number {
  if (maxBytes < 0n) return Number.POSITIVE_INFINITY;
  if (asked.maxBytes !== maxBytes || asked.voters !== voters)
    asked = { maxBytes, voters, room: Number(roomForTxs(maxBytes, voters, 0)) };
  return asked.room;
}

/** How large a block may be, where the parameters say so, and where they name no bound. */
export const blockBytesMax = (maxBytes: bigint): bigint => (maxBytes < 0n ? BLOCK_BYTES_MAX : maxBytes);

/** As far as anybody knows there is room for this much without evidence; infinity: there is no limit. */
export const roomAt = (ghost: GhostChain, height: bigint): number =>
  roomWith(ghost.params(height)?.block.maxBytes ?? -1n, ghost.set(height)?.members.length ?? 0);

/** As `roomAt`, beside the commit that the block carries. */
export function proposerRoomAt(ghost: GhostChain, height: bigint): number {
  const maxBytes = ghost.params(height)?.block.maxBytes ?? -1n;
  const [voters, signers] = [height, height - 1n].map((at) => ghost.set(at)?.members.length ?? 0);
  return maxBytes < 0n
    ? Number.POSITIVE_INFINITY
    : Number(roomOfProposer(maxBytes, voters ?? 0, signers ?? 0, 0));
}

/** What a block of this height has room for in transactions; null: nobody knows its validators or parameters. */
export function boundAt(ghost: GhostChain, height: bigint): bigint | null {
  const [params, set] = [ghost.params(height), ghost.set(height)];
  if (!params || !set) return null;
  const room = roomForTxs(blockBytesMax(params.block.maxBytes), set.members.length, 0);
  return room < 0n ? 0n : room;
}

/** What the transactions of a block may want; infinity: there is no limit. */
export function gasAt(ghost: GhostChain, height: bigint): number {
  const maxGas = ghost.params(height)?.block.maxGas ?? -1n;
  return maxGas < 0n ? Number.POSITIVE_INFINITY : Number(maxGas);
}

/** A pool hears of new parameters a little later than its node is at their height: it goes by those of one of so many heights. */
const HEIGHTS_AROUND = 3n;

/** Whether a pool may refuse it for the gas that it wants. */
export function mayBeTooDear(ghost: GhostChain, at: Machine, gasWanted: bigint): boolean {
  for (let height = at.height; height < at.height + HEIGHTS_AROUND; height++)
    if (isTooDear(gasWanted, gasAt(ghost, height))) return true;
  return false;
}

/** For a block that may take so much, or infinity. */
export const isTooDear = (gasWanted: bigint, gasMax: number): boolean =>
  gasMax !== Number.POSITIVE_INFINITY && (gasWanted > gasMax || gasWanted < 0n);

/** Whether a pool may refuse it for its size: too large, or nothing. A new life's pool has the limits of the genesis until its node has told it of those in force. */
export function mayRefuseSize(ghost: GhostChain, at: Machine, length: number): boolean {
  if (length === 0 || length > at.config.mempool.txBytesMax) return true;
  const { validators, consensusParams } = ghost.genesis;
  const bytes = fieldBytes(length);
  if (bytes > roomWith(consensusParams.block.maxBytes, validators.length)) return true;
  for (let height = at.height; height < at.height + HEIGHTS_AROUND; height++)
    if (bytes > roomAt(ghost, height)) return true;
  return false;
}
