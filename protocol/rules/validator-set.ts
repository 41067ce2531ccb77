// Owns validator sets: their order, who proposes next, and how updates change them (spec 5.3; CometBFT
// `types/validator_set.go`). A set is never changed: each rule answers with a new one. Priorities are int64
// and saturate; all hostile values stay exact.

import { byteKey, compareBytes, equalBytes, hexUpperOf } from '../bytes.ts';
import { validatorsHash } from '../hashes.ts';
import { addressOf } from '../keys.ts';
import { remembers } from '../lately.ts';
import { isRefusal, must, type Refusal, refuse } from '../refusal.ts';
import {
  type Address,
  type Hash,
  PRIORITY_WINDOW_SIZE_FACTOR,
  type PublicKey,
  type Validator,
  type ValidatorSet,
  VOTES_MAX,
  VOTING_POWER_TOTAL_MAX,
} from '../types.ts';

/** One wanted member; power 0 removes. Without an address it follows from the key. */
export interface Membership {
  readonly publicKey: PublicKey;
  readonly power: bigint;
  readonly address?: Address;
}

export type ValidatorSetRefusal = Refusal<
  | 'duplicate-validator'
  | 'negative-power'
  | 'power-too-big'
  | 'zero-power'
  | 'empty-set'
  | 'unknown-validator'
  | 'power-total-too-big'
  | 'too-many-validators'
>;

const INT64_MAX = 9_223_372_036_854_775_807n;
const INT64_MIN = -9_223_372_036_854_775_808n;

/** Below this many members a walk finds an address faster than a map does. */
const INDEX_MEMBERS_MIN = 16;

const clip = (value: bigint): bigint =>
  value > INT64_MAX ? INT64_MAX : value < INT64_MIN ? INT64_MIN : value;

export const EMPTY_VALIDATOR_SET: ValidatorSet = { validators: [], proposer: null, powerTotal: 0n };

/**
 * A new set with its first proposer (`NewValidatorSet`): the members as changes to an empty set, then one
 * increment.
 */
export function makeValidatorSet(members: readonly Membership[]): ValidatorSet | ValidatorSetRefusal {
  if (members.length === 0) return EMPTY_VALIDATOR_SET;
  const removal = members.find((member) => member.power === 0n);
  if (removal !== undefined) {
    const who = hexUpperOf(removal.address ?? addressOf(removal.publicKey));
    return refuse('zero-power', `cannot process validators with voting power 0: ${who}`);
  }
  const set = applyUpdates(EMPTY_VALIDATOR_SET, members);
  return isRefusal(set) ? set : incrementPriority(set, 1);
}

/**
 * The set of validators that somebody else made, priorities included (`ValidatorSetFromExistingValidators`):
 * what RPC tells light clients. Sorted; the proposer is who paid for its turn last, and so has the lowest priority (`findPreviousProposer`).
 */
export function existingValidatorSet(members: readonly Validator[]): ValidatorSet | ValidatorSetRefusal {
  if (members.length === 0) return refuse('empty-set', 'validator set is empty');
  let powerTotal = 0n;
  for (const { address, publicKey, power } of members) {
    if (power < 0n) return refuse('negative-power', `voting power can't be negative: ${power}`);
    if (!equalBytes(address, addressOf(publicKey))) {
      return refuse('unknown-validator', `${hexUpperOf(address)} is not the address of its public key`);
    }
    powerTotal += power;
  }
  if (powerTotal > VOTING_POWER_TOTAL_MAX) {
    return refuse('power-total-too-big', `total voting power exceeds ${VOTING_POWER_TOTAL_MAX}`);
  }
  const validators = [...members].sort(byPowerThenAddress);
  return { validators, proposer: previousProposer(validators), powerTotal };
}

/** Of equals the one with the greater address. */
function previousProposer(validators: readonly Validator[]): Validator {
  let last = validators[0]!;
  for (const validator of validators) {
    if (validator.priority < last.priority) last = validator;
    else if (validator.priority === last.priority && compareBytes(validator.address, last.address) > 0)
      last = validator;
  }
  return last;
}

/**
 * `IncrementProposerPriority(times)`: `times` turns of proposing; the last one's proposer is the new cached
 * one.
 */
export function incrementPriority(set: ValidatorSet, times: number): ValidatorSet {
  must(set.validators.length > 0, 'priorities of an empty validator set');
  must(times > 0, 'priorities move forward only');
  const priorities = centredPriorities(set.validators, set.powerTotal);
  let proposer = 0;
  for (let i = 0; i < times; i++) proposer = takeTurn(set, priorities);
  const validators = set.validators.map((validator, i) => withPriority(validator, priorities[i]!));
  const next: ValidatorSet = {
    validators,
    proposer: validators[proposer]!,
    powerTotal: set.powerTotal,
  };
  const index = indexes.get(set);
  if (index !== undefined) indexes.set(next, index);
  const hash = hashes.get(set);
  if (hash !== undefined) hashes.set(next, hash);
  return next;
}

/**
 * `UpdateWithChangeSet`: members changed, added and removed, priorities scaled and centred again. A refusal
 * leaves the set as it was. The cached proposer stays until the next increment, even when it was removed.
 */
export function applyUpdates(
  set: ValidatorSet,
  updates: readonly Membership[],
): ValidatorSet | ValidatorSetRefusal {
  if (updates.length === 0) return set;
  const changes = sortedChanges(updates);
  if (isRefusal(changes)) return changes;

  let powerAdded = 0n;
  let powerRemoved = 0n;
  let removals = 0;
  let additions = 0;
  for (const { address, power } of changes) {
    const known = validatorByAddress(set, address);
    if (power !== 0n) {
      powerAdded += power - (known?.power ?? 0n);
      if (known === null) additions += 1;
    } else {
      removals += 1;
      powerRemoved += known?.power ?? 0n;
    }
  }
  if (additions === 0 && set.validators.length === removals) {
    return refuse('empty-set', 'applying the validator changes would result in empty set');
  }
  const stranger = changes.find((change) => change.power === 0n && !hasAddress(set, change.address));
  if (stranger !== undefined) {
    const who = hexUpperOf(stranger.address);
    return refuse('unknown-validator', `failed to find validator ${who} to remove`);
  }
  // Upstream's commits have the same room, and its sets have no limit: one that no commit holds ends the chain.
  const members = set.validators.length + additions - removals;
  if (members > VOTES_MAX) {
    const because = `a commit has room for ${VOTES_MAX} validators, and the resulting valset has ${members}`;
    return refuse('too-many-validators', because);
  }
  // Upstream adds the differences one by one, smallest first: the sum passes the limit on the way only if it
  // ends beyond it.
  const powerTotal = set.powerTotal + powerAdded - powerRemoved;
  if (powerTotal > VOTING_POWER_TOTAL_MAX) {
    const most = `${VOTING_POWER_TOTAL_MAX}`;
    return refuse('power-total-too-big', `total voting power of resulting valset exceeds max ${most}`);
  }
  return changedSet(set, changes, powerTotal, powerTotal + powerRemoved);
}

/**
 * The cached proposer of the last increment; without one, the member with the highest priority
 * (`GetProposer`).
 */
export function proposerOf(set: ValidatorSet): Validator {
  if (set.proposer !== null) return set.proposer;
  must(set.validators.length > 0, 'proposer of an empty validator set');
  let best = set.validators[0]!;
  for (const validator of set.validators) {
    if (validator.priority > best.priority) best = validator;
    else if (validator.priority === best.priority && compareBytes(validator.address, best.address) < 0) {
      best = validator;
    }
  }
  return best;
}

/**
 * Who proposes in `round` of the height whose round 0 has `set`: the same as `incrementPriority(set,
 * round)`'s proposer, as a member of `set` itself. The turns already played are remembered per set, so that
 * rounds cost one turn each.
 */
export function proposerAtRound(set: ValidatorSet, round: number): Validator {
  if (round === 0) return proposerOf(set);
  let turns = remembers() ? turnsPlayed.get(set) : undefined;
  if (turns === undefined) {
    must(set.validators.length > 0, 'proposer of an empty validator set');
    turns = { priorities: centredPriorities(set.validators, set.powerTotal), proposers: [] };
    turnsPlayed.set(set, turns);
  }
  while (turns.proposers.length < round) turns.proposers.push(takeTurn(set, turns.priorities));
  return set.validators[turns.proposers[round - 1]!]!;
}

/** Place of `address` in the set, or -1. */
export function indexByAddress(set: ValidatorSet, address: Address): number {
  const { validators } = set;
  if (validators.length < INDEX_MEMBERS_MIN) {
    for (let i = 0; i < validators.length; i++) {
      if (equalBytes(validators[i]!.address, address)) return i;
    }
    return -1;
  }
  let index = remembers() ? indexes.get(set) : undefined;
  if (index === undefined) {
    index = new Map();
    for (let i = validators.length - 1; i >= 0; i--) index.set(byteKey(validators[i]!.address), i);
    indexes.set(set, index);
  }
  return index.get(byteKey(address)) ?? -1;
}

export const validatorByAddress = (set: ValidatorSet, address: Address): Validator | null =>
  set.validators[indexByAddress(set, address)] ?? null;

export const hasAddress = (set: ValidatorSet, address: Address): boolean => indexByAddress(set, address) >= 0;

/** The member with `address`, looked for first at `index`, where an honest commit has it. */
export function memberAt(set: ValidatorSet, index: number, address: Address): Validator | null {
  const there = set.validators[index];
  if (there !== undefined && equalBytes(there.address, address)) return there;
  return validatorByAddress(set, address);
}

/**
 * `validators_hash` of the set, which does not cover priorities: computed once for a whole chain of
 * increments.
 */
export function hashOfSet(set: ValidatorSet): Hash {
  let hash = remembers() ? hashes.get(set) : undefined;
  if (hash === undefined) {
    hash = validatorsHash(set);
    hashes.set(set, hash);
  }
  return hash;
}

const hashes = new WeakMap<ValidatorSet, Hash>();

/** Addresses to places; shared along increments, which do not move anybody. */
const indexes = new WeakMap<ValidatorSet, Map<string, number>>();

const turnsPlayed = new WeakMap<ValidatorSet, { priorities: bigint[]; proposers: number[] }>();

const withPriority = (validator: Validator, priority: bigint): Validator => ({
  address: validator.address,
  publicKey: validator.publicKey,
  power: validator.power,
  priority,
});

/**
 * Everybody gains their power; the highest (ties: the lower address) pays the total and is the proposer: its
 * place is returned.
 */
function takeTurn(set: ValidatorSet, priorities: bigint[]): number {
  const { validators } = set;
  let best = 0;
  for (let i = 0; i < validators.length; i++) {
    const priority = clip(priorities[i]! + validators[i]!.power);
    priorities[i] = priority;
    if (i === 0) continue;
    const highest = priorities[best]!;
    if (priority < highest) continue;
    if (priority > highest || compareBytes(validators[i]!.address, validators[best]!.address) < 0) best = i;
  }
  priorities[best] = clip(priorities[best]! - set.powerTotal);
  return best;
}

/**
 * `RescalePriorities` to a window of twice the total, then `shiftByAvgProposerPriority`: a fresh array, in
 * set order.
 */
function centredPriorities(validators: readonly Validator[], powerTotal: bigint): bigint[] {
  const priorities = validators.map((validator) => validator.priority);
  rescale(priorities, PRIORITY_WINDOW_SIZE_FACTOR * powerTotal);
  centre(priorities);
  return priorities;
}

/**
 * Int64 arithmetic wraps here as upstream's does; it can only happen to priorities that no honest set has.
 */
function rescale(priorities: bigint[], widthMax: bigint): void {
  if (widthMax <= 0n) return;
  let least = priorities[0]!;
  let most = least;
  for (const priority of priorities) {
    if (priority < least) least = priority;
    if (priority > most) most = priority;
  }
  let width = BigInt.asIntN(64, most - least);
  if (width < 0n) width = BigInt.asIntN(64, -width);
  if (width <= widthMax) return;
  const ratio = BigInt.asIntN(64, width + widthMax - 1n) / widthMax;
  for (let i = 0; i < priorities.length; i++) priorities[i] = priorities[i]! / ratio;
}

function centre(priorities: bigint[]): void {
  const count = BigInt(priorities.length);
  let sum = 0n;
  for (const priority of priorities) sum += priority;
  let average = sum / count;
  if (sum < 0n && average * count !== sum) average -= 1n; // floor, where bigint division truncates
  if (average === 0n) return;
  for (let i = 0; i < priorities.length; i++) priorities[i] = clip(priorities[i]! - average);
}

interface Change {
  readonly address: Address;
  readonly publicKey: PublicKey;
  readonly power: bigint;
}

/** `processChanges`: by address, each once, with a power that a set can hold. */
function sortedChanges(updates: readonly Membership[]): readonly Change[] | ValidatorSetRefusal {
  const changes: Change[] = updates.map(({ address, publicKey, power }) => ({
    address: address ?? addressOf(publicKey),
    publicKey,
    power,
  }));
  changes.sort((a, b) => compareBytes(a.address, b.address));
  for (let i = 0; i < changes.length; i++) {
    const { address, power } = changes[i]!;
    if (i > 0 && equalBytes(address, changes[i - 1]!.address)) {
      return refuse('duplicate-validator', `duplicate entry ${hexUpperOf(address)} in validator updates`);
    }
    if (power < 0n) return refuse('negative-power', `voting power can't be negative: ${power}`);
    if (power > VOTING_POWER_TOTAL_MAX) {
      const most = `${VOTING_POWER_TOTAL_MAX}`;
      return refuse('power-too-big', `voting power can't be higher than ${most}, got ${power}`);
    }
  }
  return changes;
}

/**
 * The set after changes that were found good. A newcomer starts at -1.125 times the total before removals, so
 * that leaving and coming back does not wash a low priority away.
 */
function changedSet(
  set: ValidatorSet,
  changes: readonly Change[],
  powerTotal: bigint,
  powerTotalBeforeRemovals: bigint,
): ValidatorSet {
  const newcomerPriority = -(powerTotalBeforeRemovals + (powerTotalBeforeRemovals >> 3n));
  const changed = new Set(changes.map((change) => byteKey(change.address)));
  const members = set.validators.filter((validator) => !changed.has(byteKey(validator.address)));
  for (const { address, publicKey, power } of changes) {
    if (power === 0n) continue;
    const priority = validatorByAddress(set, address)?.priority ?? newcomerPriority;
    members.push({ address, publicKey, power, priority });
  }
  members.sort(byPowerThenAddress);
  const priorities = centredPriorities(members, powerTotal);
  const validators = members.map((validator, i) => withPriority(validator, priorities[i]!));
  return { validators, proposer: set.proposer, powerTotal };
}

/** The order of a set: power descending, then address ascending. */
export function byPowerThenAddress(a: Validator, b: Validator): number {
  if (a.power !== b.power) return a.power > b.power ? -1 : 1;
  return compareBytes(a.address, b.address);
}
