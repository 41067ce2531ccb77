// The Merkle tree of every root in a block (RFC 6962 shape over SHA-256, spec 4.1): roots, proofs,
// verification.

import { runningSha256, sha256 } from '#platform';
import { equalBytes } from './bytes.ts';
import { type Refusal, refuse } from './refusal.ts';
import { EMPTY_BYTES, type Hash, MERKLE_AUNTS_MAX, type MerkleProof } from './types.ts';
import { ProtoWriter } from './wire/writer.ts';

const HASH_BYTES = 32;
const LEAF_PREFIX = 0;
const INNER_PREFIX = 1;

/** Beyond this a leaf is hashed in two pieces rather than copied behind its prefix. */
const LEAF_COPIED_BYTES_MAX = 8192;
const leafScratch = new Uint8Array(1 + LEAF_COPIED_BYTES_MAX);
leafScratch[0] = LEAF_PREFIX;
const leafPrefix = Uint8Array.of(LEAF_PREFIX);
const leafWriter = new ProtoWriter(1024);
const innerScratch = new Uint8Array(1 + 2 * HASH_BYTES);
innerScratch[0] = INNER_PREFIX;

export const EMPTY_ROOT: Hash = sha256(EMPTY_BYTES);

export function leafHash(leaf: Uint8Array): Hash {
  if (leaf.length <= LEAF_COPIED_BYTES_MAX) {
    leafScratch.set(leaf, 1);
    return sha256(leafScratch.subarray(0, 1 + leaf.length));
  }
  const hash = runningSha256();
  hash.update(leafPrefix);
  hash.update(leaf);
  return hash.digest();
}

/** The hash of a leaf that is only made to be hashed. */
export function leafHashWith<T>(write: (writer: ProtoWriter, value: T) => void, value: T): Hash {
  leafWriter.clear();
  leafWriter.raw(leafPrefix);
  write(leafWriter, value);
  return sha256(leafWriter.peek());
}

export function innerHash(left: Uint8Array, right: Uint8Array): Hash {
  if (left.length !== HASH_BYTES || right.length !== HASH_BYTES) {
    const bytes = new Uint8Array(1 + left.length + right.length);
    bytes[0] = INNER_PREFIX;
    bytes.set(left, 1);
    bytes.set(right, 1 + left.length);
    return sha256(bytes);
  }
  innerScratch.set(left, 1);
  innerScratch.set(right, 1 + HASH_BYTES);
  return sha256(innerScratch);
}

/** The largest power of two strictly below n (0 for 1): where a tree of n leaves parts. */
export function splitPoint(count: number): number {
  let split = 1;
  while (split * 2 < count) split *= 2;
  return count <= 1 ? 0 : split;
}

function climb(leaves: readonly Hash[], from: number, count: number): Hash {
  if (count === 1) return leaves[from]!;
  const split = splitPoint(count);
  return innerHash(climb(leaves, from, split), climb(leaves, from + split, count - split));
}

/** The root over leaves that are hashed already (`leafHash`). */
export const rootOfLeaves = (leaves: readonly Hash[]): Hash =>
  leaves.length === 0 ? EMPTY_ROOT : climb(leaves, 0, leaves.length);

/** The root of no items is SHA-256 of nothing. */
export const merkleRoot = (items: readonly Uint8Array[]): Hash => rootOfLeaves(items.map(leafHash));

export function merkleProofs(items: readonly Uint8Array[]): { root: Hash; proofs: MerkleProof[] } {
  if (items.length === 0) return { root: EMPTY_ROOT, proofs: [] };
  const leaves = items.map(leafHash);
  const aunts: Hash[][] = leaves.map(() => []);
  // Children finish before their parent, so every leaf meets its aunts from its sibling upwards.
  const climbWithAunts = (from: number, count: number): Hash => {
    if (count === 1) return leaves[from]!;
    const split = splitPoint(count);
    const left = climbWithAunts(from, split);
    const right = climbWithAunts(from + split, count - split);
    for (let i = from; i < from + split; i++) aunts[i]!.push(right);
    for (let i = from + split; i < from + count; i++) aunts[i]!.push(left);
    return innerHash(left, right);
  };
  const root = climbWithAunts(0, items.length);
  const total = BigInt(items.length);
  return {
    root,
    proofs: leaves.map((leaf, index) => ({
      total,
      index: BigInt(index),
      leafHash: leaf,
      aunts: aunts[index]!,
    })),
  };
}

/** Null when the number of aunts does not fit the place in the tree (CometBFT computeHashFromAunts). */
function rootFromAunts(
  index: bigint,
  total: bigint,
  leaf: Hash,
  aunts: readonly Hash[],
  count: number,
): Hash | null {
  if (index < 0n || total <= 0n || index >= total) return null;
  if (total === 1n) return count === 0 ? leaf : null;
  if (count === 0) return null;
  let split = 1n;
  while (split * 2n < total) split *= 2n;
  const aunt = aunts[count - 1]!;
  if (index < split) {
    const left = rootFromAunts(index, split, leaf, aunts, count - 1);
    return left && innerHash(left, aunt);
  }
  const right = rootFromAunts(index - split, total - split, leaf, aunts, count - 1);
  return right && innerHash(aunt, right);
}

/** The root a proof leads to, or null. Aunts are bounded here: the recursion is as deep as they are many. */
export const merkleProofRoot = (proof: MerkleProof): Hash | null =>
  proof.aunts.length > MERKLE_AUNTS_MAX
    ? null
    : rootFromAunts(proof.index, proof.total, proof.leafHash, proof.aunts, proof.aunts.length);

/** Does `leaf` (its bytes, not its hash) stand at `proof.index` of the tree with this root? */
export function verifyMerkleProof(proof: MerkleProof, root: Hash, leaf: Uint8Array): boolean {
  if (!equalBytes(leafHash(leaf), proof.leafHash)) return false;
  const computed = merkleProofRoot(proof);
  return computed !== null && equalBytes(computed, root);
}

/** The form alone (CometBFT Proof.ValidateBasic). */
export function merkleProofForm(proof: MerkleProof): Refusal<'malformed-proof'> | null {
  if (proof.total < 0n) return refuse('malformed-proof', `proof.total must not be negative: ${proof.total}`);
  if (proof.index < 0n) return refuse('malformed-proof', `proof.index must not be negative: ${proof.index}`);
  if (proof.leafHash.length !== HASH_BYTES) {
    return refuse('malformed-proof', `proof.leaf_hash must be 32 bytes, not ${proof.leafHash.length}`);
  }
  if (proof.aunts.length > MERKLE_AUNTS_MAX) {
    return refuse(
      'malformed-proof',
      `proof.aunts must be at most ${MERKLE_AUNTS_MAX}, not ${proof.aunts.length}`,
    );
  }
  const odd = proof.aunts.find((aunt) => aunt.length !== HASH_BYTES);
  return odd ? refuse('malformed-proof', `each of proof.aunts must be 32 bytes, not ${odd.length}`) : null;
}
