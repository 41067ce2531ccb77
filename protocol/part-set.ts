// A block's bytes in parts of 64 KiB under one Merkle root: cut by the proposer, put together by everybody
// else.

import { bitArrayWhere } from './bit-array.ts';
import { concatBytes } from './bytes.ts';
import { merkleProofs, verifyMerkleProof } from './merkle.ts';
import { must, type Refusal, refuse, unreachable } from './refusal.ts';
import { type BitArray, BLOCK_PART_BYTES, type Part, type PartSetHeader } from './types.ts';
import { validatePart } from './validate.ts';

/** Parts are views on `bytes`, not copies. */
export function splitIntoParts(bytes: Uint8Array): { header: PartSetHeader; parts: Part[] } {
  // One part is the block's own buffer: who finds that buffer knows the block.
  const pieces = bytes.length > BLOCK_PART_BYTES || bytes.length === 0 ? [] : [bytes];
  for (let at = pieces.length * BLOCK_PART_BYTES; at < bytes.length; at += BLOCK_PART_BYTES) {
    pieces.push(bytes.subarray(at, Math.min(at + BLOCK_PART_BYTES, bytes.length)));
  }
  const { root, proofs } = merkleProofs(pieces);
  const parts = pieces.map((piece, index): Part => ({ index, bytes: piece, proof: proofs[index]! }));
  return { header: { total: pieces.length, hash: root }, parts };
}

export type PartRefusal = Refusal<'malformed-part' | 'unexpected-part' | 'wrong-part-proof'>;

/**
 * Fills up as parts come in, in any order; only parts that the header's root proves get in (CometBFT
 * types.PartSet).
 */
export class PartSet {
  readonly header: PartSetHeader;
  private readonly parts: (Part | undefined)[];
  private joined: Uint8Array | null = null;
  /** How many parts are here, and their bytes together. */
  count = 0;
  byteSize = 0;

  constructor(header: PartSetHeader) {
    this.header = header;
    this.parts = new Array<Part | undefined>(header.total);
  }

  /** The complete set of these bytes. */
  static whole(bytes: Uint8Array): PartSet {
    const { header, parts } = splitIntoParts(bytes);
    const set = new PartSet(header);
    for (const part of parts) set.keep(part);
    set.joined = bytes;
    return set;
  }

  private keep(part: Part): void {
    this.parts[part.index] = part;
    this.count++;
    this.byteSize += part.bytes.length;
  }

  add(part: Part): 'added' | 'known' | PartRefusal {
    if (part.index >= this.header.total) {
      return refuse('unexpected-part', `part.index must be below ${this.header.total}, not ${part.index}`);
    }
    if (this.parts[part.index]) return 'known';
    const malformed = validatePart(part);
    if (malformed) return malformed;
    if (part.proof.total !== BigInt(this.header.total)) {
      const total = part.proof.total;
      return refuse('wrong-part-proof', `part.proof.total must be ${this.header.total}, not ${total}`);
    }
    if (!verifyMerkleProof(part.proof, this.header.hash, part.bytes)) {
      return refuse('wrong-part-proof', `part ${part.index} does not belong to the part set's hash`);
    }
    this.keep(part);
    return 'added';
  }

  has(index: number): boolean {
    return this.parts[index] !== undefined;
  }

  part(index: number): Part | undefined {
    return this.parts[index];
  }

  get isComplete(): boolean {
    return this.count === this.header.total;
  }

  /** The whole block. Only a complete set has it. */
  bytes(): Uint8Array {
    must(this.isComplete, 'a part set was read before it was complete');
    if (!this.joined) {
      const pieces = this.parts.map((part) => part?.bytes ?? unreachable('a complete set has every part'));
      this.joined = pieces.length === 1 ? pieces[0]! : concatBytes(...pieces);
    }
    return this.joined;
  }

  have(): BitArray {
    return bitArrayWhere(this.header.total, (index) => this.has(index));
  }
}
