// A stored block as the answer to a request: its bytes are wrapped as they lie in the store, not decoded and
// encoded again.

import { encodeWith } from '../../protocol/wire/writer.ts';

/** blocksync.Message `{3 block_response {1 block}}`. */
export const blockResponseOf = (block: Uint8Array): Uint8Array =>
  encodeWith((writer) => {
    const response = writer.open(0x1a);
    writer.chosenBytes(0x0a, block);
    writer.close(response);
  }, null);
