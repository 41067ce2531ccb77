// When a block id is another one, and when it is none: written a second time. A block is named by its hash, by how many parts it has, and by
// their root.

import { equalBytes } from '../../../protocol/bytes.ts';
import type { BlockId } from '../../../protocol/types.ts';

export const isNilBlockId = ({ hash, parts }: BlockId): boolean =>
  hash.length === 0 && parts.total === 0 && parts.hash.length === 0;

export const equalBlockId = (a: BlockId, b: BlockId): boolean =>
  a === b ||
  (a.parts.total === b.parts.total && equalBytes(a.hash, b.hash) && equalBytes(a.parts.hash, b.parts.hash));
