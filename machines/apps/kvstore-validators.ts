// The validators as the key-value application knows them, and which changes of a block the rules of the chain let it make (spec 7.1, 5.6).

import { byteKey } from '../../protocol/bytes.ts';
import { addressOf } from '../../protocol/keys.ts';
import { DEFAULT_PARAMS } from '../../protocol/rules/params.ts';
import {
  type ConsensusParams,
  type PublicKey,
  type ValidatorUpdate,
  VOTING_POWER_TOTAL_MAX,
} from '../../protocol/types.ts';
import { membersMax } from '../chain/playable.ts';

/** What a chain lets its set be. */
export interface SetLimits {
  /** `validator.pub_key_types`. */
  readonly types: readonly string[];
  /** Its blocks have room for the commit of so many. */
  readonly membersMax: number;
}

export const limitsOf = (params: ConsensusParams): SetLimits => ({
  types: params.validator.publicKeyTypes,
  membersMax: membersMax(params),
});

/** Of a chain without a word about them. */
export const USUAL_LIMITS = limitsOf(DEFAULT_PARAMS);

export class KvValidators {
  /** By the bytes of the key. */
  private readonly known = new Map<string, ValidatorUpdate>();
  private readonly keysByAddress = new Map<string, PublicKey>();
  /** Null: nobody has begun a chain. */
  private limits: SetLimits | null = null;

  begin(limits: SetLimits): void {
    this.limits = limits;
  }

  set(update: ValidatorUpdate): void {
    const { publicKey, power } = update;
    const address = byteKey(addressOf(publicKey));
    if (power === 0n) {
      this.known.delete(byteKey(publicKey.bytes));
      this.keysByAddress.delete(address);
    } else {
      this.known.set(byteKey(publicKey.bytes), update);
      this.keysByAddress.set(address, publicKey);
    }
  }

  keyAt(address: Uint8Array): PublicKey | undefined {
    return this.keysByAddress.get(byteKey(address));
  }

  /**
   * One change of each validator, the last, and none that a node refuses after it has decided the block (CometBFT's application answers those
   * too, and its node stops): who is no validator does not leave, nor does the last one; no key of a type that the chain does not allow,
   * none that lifts the power of all over what a set may have, and no more of them than a block has room for.
   */
  admitted(updates: readonly ValidatorUpdate[]): readonly ValidatorUpdate[] {
    if (updates.length === 0) return updates;
    const possible = lastOfEachKey(updates).filter((update) => this.isPossible(update));
    const powerOf = ({ publicKey }: ValidatorUpdate): bigint =>
      this.known.get(byteKey(publicKey.bytes))?.power ?? 0n;
    let total = 0n;
    for (const { power } of this.known.values()) total += power;
    let count = this.known.size;
    for (const each of possible) {
      if (each.power > 0n) continue;
      total -= powerOf(each);
      count--;
    }
    const fits = possible.filter((each) => {
      if (each.power === 0n) return true;
      const after = total - powerOf(each) + each.power;
      if (after > VOTING_POWER_TOTAL_MAX) return false;
      const isNew = powerOf(each) === 0n;
      if (isNew && count >= this.membersMax) return false;
      if (isNew) count++;
      total = after;
      return true;
    });
    if (count > 0) return fits;
    const stays = fits.findIndex(({ power }) => power === 0n);
    return fits.filter((_, i) => i !== stays);
  }

  private isPossible({ publicKey, power }: ValidatorUpdate): boolean {
    if (power === 0n) return this.known.has(byteKey(publicKey.bytes));
    return this.limits?.types.includes(publicKey.type) ?? true;
  }

  private get membersMax(): number {
    return this.limits?.membersMax ?? Number.POSITIVE_INFINITY;
  }
}

/** A validator changes once in a block, as the last word about it says. */
function lastOfEachKey(updates: readonly ValidatorUpdate[]): readonly ValidatorUpdate[] {
  const byKey = new Map<string, ValidatorUpdate>();
  for (const update of updates) {
    const key = byteKey(update.publicKey.bytes);
    byKey.delete(key);
    byKey.set(key, update);
  }
  return byKey.size === updates.length ? updates : [...byKey.values()];
}
