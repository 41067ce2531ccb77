// Whether a chain can go on without a validator. Without one of a third of the power it stands and waits, and the validator must not wait for
// blocks in turn (CometBFT onlyValidatorIsUs, localNodeBlocksTheChain). One that lost its power meanwhile is caught up by consensus gossip.

import { equalBytes } from '../../protocol/bytes.ts';
import { canBlock } from '../../protocol/rules/quorum.ts';
import type { Address, ValidatorSet } from '../../protocol/types.ts';

export function isNeeded(set: ValidatorSet, me: Address | null): boolean {
  if (me === null) return false;
  let total = 0n;
  let mine = 0n;
  for (const { address, power } of set.validators) {
    total += power;
    if (equalBytes(address, me)) mine = power;
  }
  return mine > 0n && canBlock(mine, total);
}
