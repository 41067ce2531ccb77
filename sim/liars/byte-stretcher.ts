// The stretcher of bytes: its blocks are true, and their hash too, but their bytes say something beside that nobody knows. Whoever decodes such a
// block and encodes it again has other parts than those that were decided.

import { concatBytes } from '../../protocol/bytes.ts';
import { encodeBlock } from '../../protocol/wire/index.ts';
import type { Liar } from './liar.ts';
import { aboutOwnBlocks } from './own-blocks.ts';

/** Field 5 of a block: empty, and of no meaning. */
const UNKNOWN_FIELD = Uint8Array.of(0x2a, 0);

export const byteStretcher: Liar = (kit) =>
  aboutOwnBlocks(
    kit,
    'lie: bytes beside a block',
    (block) => ({ block, bytes: concatBytes(encodeBlock(block), UNKNOWN_FIELD) }),
    'all',
  );
