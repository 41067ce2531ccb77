// Whether a validator set is one validator: then there is nobody to sync from (CometBFT onlyValidatorIsUs).

import { equalBytes } from '../../protocol/bytes.ts';
import type { Address, ValidatorSet } from '../../protocol/types.ts';

export function isValidatorAlone(set: ValidatorSet, me: Address | null): boolean {
  const [only, ...others] = set.validators;
  return only !== undefined && others.length === 0 && me !== null && equalBytes(only.address, me);
}
