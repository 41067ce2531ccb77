// Golden: validator sets as CometBFT's own code orders, turns and updates them.

import { expect } from 'vitest';
import { validatorsHash } from '../../protocol/hashes.ts';
import { isRefusal } from '../../protocol/refusal.ts';
import { weightedMedian } from '../../protocol/rules/median-time.ts';
import { DEFAULT_PARAMS, validateParamsUpdate } from '../../protocol/rules/params.ts';
import {
  applyUpdates,
  incrementPriority,
  type Membership,
  makeValidatorSet,
  proposerOf,
} from '../../protocol/rules/validator-set.ts';
import type { Validator, ValidatorSet } from '../../protocol/types.ts';
import { caseOfSet, ed25519Of, golden, hexBytes, type MemberCase, setOfCase, upper } from './cases.ts';
import { okay } from './folder.ts';

interface SetCase {
  readonly initial: readonly MemberCase[];
  readonly hash: string;
  readonly proposer: string;
  readonly total_power: string;
  readonly steps: readonly {
    readonly op: 'increment' | 'update';
    readonly times?: number;
    readonly changes?: readonly { readonly pub_key: string; readonly power: string }[];
    readonly error?: string | null;
    readonly after: readonly MemberCase[] | null;
    readonly hash: string;
    readonly proposer: string;
  }[];
}

const hashHex = (set: ValidatorSet): string => Buffer.from(validatorsHash(set)).toString('hex');

const go = golden('cometbft-go');

go.test<SetCase[]>('sets.json', 'validator sets turn and change as in CometBFT', (cases) => {
  let steps = 0;
  for (const { initial, hash, proposer, total_power, steps: wanted } of cases) {
    // A new set is the same from its members in any order; the recorded priorities are those after its first
    // turn.
    const members = [...setOfCase(initial).validators].reverse();
    let set = okay(makeValidatorSet(members.map(({ publicKey, power }) => ({ publicKey, power }))));
    expect(caseOfSet(set)).toEqual(initial);
    expect([hashHex(set), upper(proposerOf(set).address), `${set.powerTotal}`]).toEqual([
      hash,
      proposer,
      total_power,
    ]);
    for (const step of wanted) {
      const next =
        step.op === 'increment'
          ? incrementPriority(set, step.times ?? 0)
          : applyUpdates(set, changesOf(step));
      expect(isRefusal(next)).toBe((step.error ?? null) !== null);
      if (!isRefusal(next)) set = next;
      if (step.after !== null) expect(caseOfSet(set)).toEqual(step.after);
      expect([hashHex(set), upper(proposerOf(set).address)]).toEqual([step.hash, step.proposer]);
      steps += 1;
    }
  }
  expect(steps).toBeGreaterThan(0);
  return `${cases.length} sets, ${steps} steps`;
});

const changesOf = ({ changes }: SetCase['steps'][number]): Membership[] =>
  (changes ?? []).map(({ pub_key, power }) => ({ publicKey: ed25519Of(pub_key), power: BigInt(power) }));

const facts = golden('cometbft');

interface Proposers {
  readonly cases: readonly {
    readonly name: string;
    readonly validators: readonly { address_utf8?: string; address_hex?: string; power: number }[];
    readonly proposers?: readonly string[];
    readonly proposers_last_byte?: readonly number[];
    readonly counts_last_byte?: readonly number[];
  }[];
  readonly priorities_after_increment: {
    readonly powers: readonly number[];
    readonly cases: readonly { times: number; priorities: readonly number[]; proposer: number }[];
  };
}

const keyNamed = (i: number) => ({ type: 'ed25519', bytes: new Uint8Array(32).fill(i + 1) }) as const;

facts.test<Proposers>('proposer_selection.json', 'proposers come in the order of CometBFT', (selection) => {
  let turns = 0;
  for (const { validators, ...wanted } of selection.cases) {
    const members = validators.map(({ address_utf8, address_hex, power }, i) => ({
      publicKey: keyNamed(i),
      power: BigInt(power),
      address: address_hex === undefined ? new TextEncoder().encode(address_utf8) : hexBytes(address_hex),
    }));
    let set = okay(makeValidatorSet(members));
    const count = wanted.proposers?.length ?? wanted.proposers_last_byte?.length ?? 120;
    const seen: Uint8Array[] = [];
    for (let turn = 0; turn < count; turn++) {
      seen.push(proposerOf(set).address);
      set = incrementPriority(set, 1);
    }
    turns += count;
    const lastBytes = seen.map((address) => address.at(-1));
    if (wanted.proposers) expect(seen.map((one) => new TextDecoder().decode(one))).toEqual(wanted.proposers);
    if (wanted.proposers_last_byte) expect(lastBytes).toEqual(wanted.proposers_last_byte);
    if (wanted.counts_last_byte) {
      const counts = wanted.counts_last_byte.map((_, i) => lastBytes.filter((byte) => byte === i).length);
      expect(counts).toEqual(wanted.counts_last_byte);
    }
  }
  const { powers, cases } = selection.priorities_after_increment;
  const validators = powers.map(
    (power, i): Validator => ({
      address: new Uint8Array(20).fill(i),
      publicKey: keyNamed(i),
      power: BigInt(power),
      priority: 0n,
    }),
  );
  const powerTotal = validators.reduce((sum, { power }) => sum + power, 0n);
  for (const { times, priorities, proposer } of cases) {
    const set = incrementPriority({ validators, proposer: null, powerTotal }, times);
    expect(set.validators.map(({ priority }) => Number(priority))).toEqual(priorities);
    expect(set.validators.indexOf(proposerOf(set))).toBe(proposer);
  }
  expect(turns + cases.length).toBeGreaterThan(0);
  return `${turns} turns, ${cases.length} priorities`;
});

interface Medians {
  readonly cases: readonly { entries: readonly [number, number][]; total: number; median: number }[];
}

facts.test<Medians>('median_time.json', 'the weighted median is that of CometBFT', ({ cases }) => {
  for (const { entries, total, median } of cases) {
    const times = entries.map(([second, power]) => ({ timeNs: BigInt(second), power: BigInt(power) }));
    expect(weightedMedian(times, BigInt(total))).toBe(BigInt(median));
    expect(weightedMedian([...times].reverse(), BigInt(total))).toBe(BigInt(median));
  }
  expect(cases.length).toBeGreaterThan(0);
  return `${cases.length} medians`;
});

interface ParamsUpdates {
  readonly cases: readonly { current_height: number; from: number; to: number | null; error: boolean }[];
}

facts.test<ParamsUpdates>('params_update.json', 'vote extensions move as in CometBFT', ({ cases }) => {
  for (const { current_height, from, to, error } of cases) {
    const current = { ...DEFAULT_PARAMS, abci: { voteExtensionsEnableHeight: BigInt(from) } };
    const update = to === null ? {} : { abci: { voteExtensionsEnableHeight: BigInt(to) } };
    expect(validateParamsUpdate(current, update, BigInt(current_height)) !== null).toBe(error);
  }
  expect(cases.length).toBeGreaterThan(0);
  return `${cases.length} updates`;
});
