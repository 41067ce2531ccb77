// What a transaction takes of a block: more than its own bytes.

/** Bytes of the protobuf field that holds it in a block's `Data` (ComputeProtoSizeForTxs). */
export function protoSizeOfTx(length: number): number {
  let size = 2 + length;
  for (let rest = length; rest > 127; rest = Math.floor(rest / 128)) size++;
  return size;
}
