// Makes validators with real keys, commits with real signatures and short chains, for the tests of rules and
// of the light client.

import { ed25519Sign, sha256, utf8Encode } from '#platform';
import type { ResponseFinalizeBlock } from '../../../protocol/abci.ts';
import { headerHash } from '../../../protocol/hashes.ts';
import { ed25519FromSecret, type KeyPair } from '../../../protocol/keys.ts';
import { isRefusal, unreachable } from '../../../protocol/refusal.ts';
import { voteOfCommit } from '../../../protocol/rules/commit.ts';
import { DEFAULT_PARAMS } from '../../../protocol/rules/params.ts';
import { genesisState, makeBlock, nextState } from '../../../protocol/rules/state.ts';
import { makeValidatorSet } from '../../../protocol/rules/validator-set.ts';
import { voteSignBytes } from '../../../protocol/sign-bytes.ts';
import {
  type Block,
  type BlockId,
  type ChainState,
  type Commit,
  type CommitSig,
  EMPTY_BYTES,
  FLAG_ABSENT,
  FLAG_COMMIT,
  type Genesis,
  NIL_BLOCK_ID,
  type ValidatorSet,
  ZERO_TIME_NS,
} from '../../../protocol/types.ts';

export const CHAIN_ID = 'rules-test';
export const GENESIS_TIME_NS = 1_700_000_000_123_456_789n;
export const SECOND_NS = 1_000_000_000n;

export const okay = <Value>(value: Value): Exclude<Value, { readonly refused: string }> =>
  isRefusal(value) ? unreachable(value.because) : (value as Exclude<Value, { readonly refused: string }>);

const keysByAddress = new Map<string, KeyPair>();

/** The key pair of person `i`: the same everywhere. */
export function person(i: number): KeyPair {
  const pair = ed25519FromSecret(`rules/${i}`);
  keysByAddress.set(pair.address.join(), pair);
  return pair;
}

/** Persons 0..n-1 with these powers. */
export const members = (powers: readonly bigint[]) =>
  powers.map((power, i) => ({ publicKey: person(i).publicKey, power }));

export const setOf = (...powers: bigint[]): ValidatorSet => okay(makeValidatorSet(members(powers)));

export const someBlockId = (name: string): BlockId => ({
  hash: sha256(utf8Encode(name)),
  parts: { total: 1, hash: sha256(utf8Encode(`${name} parts`)) },
});

/**
 * A commit whose signer `i` votes with `flags[i]` (the block when there is none) at `timeNs` plus i
 * milliseconds.
 */
export function commitOf(
  set: ValidatorSet,
  blockId: BlockId,
  height: bigint,
  options: { flags?: readonly number[]; timeNs?: bigint; round?: number; chainId?: string } = {},
): Commit {
  const timeNs = options.timeNs ?? GENESIS_TIME_NS + height * SECOND_NS;
  const unsigned: CommitSig[] = set.validators.map(({ address }, i) => {
    const flag = options.flags?.[i] ?? FLAG_COMMIT;
    return flag === FLAG_ABSENT
      ? { flag, validatorAddress: EMPTY_BYTES, timeNs: ZERO_TIME_NS, signature: EMPTY_BYTES }
      : { flag, validatorAddress: address, timeNs: timeNs + BigInt(i) * 1_000_000n, signature: EMPTY_BYTES };
  });
  const commit: Commit = { height, round: options.round ?? 0, blockId, signatures: unsigned };
  const signatures = unsigned.map((one, i) => {
    if (one.flag === FLAG_ABSENT) return one;
    const { seed } = keysByAddress.get(one.validatorAddress.join()) ?? unreachable('nobody we know');
    const message = voteSignBytes(options.chainId ?? CHAIN_ID, voteOfCommit(commit, i));
    return { ...one, signature: ed25519Sign(seed, message) };
  });
  return { ...commit, signatures };
}

export const EMPTY_COMMIT: Commit = { height: 0n, round: 0, blockId: NIL_BLOCK_ID, signatures: [] };

export const genesisOf = (powers: readonly bigint[], more: Partial<Genesis> = {}): Genesis => ({
  genesisTimeNs: GENESIS_TIME_NS,
  chainId: CHAIN_ID,
  initialHeight: 1n,
  consensusParams: DEFAULT_PARAMS,
  validators: members(powers).map((one, i) => ({ ...one, address: person(i).address, name: `v${i}` })),
  appHash: EMPTY_BYTES,
  appState: EMPTY_BYTES,
  ...more,
});

export const answer = (more: Partial<ResponseFinalizeBlock> = {}): ResponseFinalizeBlock => ({
  events: [],
  txResults: [],
  validatorUpdates: [],
  appHash: utf8Encode('app'),
  ...more,
});

export interface Link {
  readonly before: ChainState;
  readonly block: Block;
  readonly blockId: BlockId;
  readonly commit: Commit;
  readonly after: ChainState;
}

/** A chain of `length` blocks; `answers(height)` is what the application says. */
export function chainOf(
  powers: readonly bigint[],
  length: number,
  answers: (height: bigint) => Partial<ResponseFinalizeBlock> = () => ({}),
): Link[] {
  let state = okay(genesisState(genesisOf(powers)));
  let lastCommit = EMPTY_COMMIT;
  const links: Link[] = [];
  for (let height = 1n; height <= BigInt(length); height++) {
    const proposer = state.validators.validators[0]!.address;
    const block = makeBlock(state, height, [utf8Encode(`tx ${height}`)], lastCommit, [], proposer);
    const blockId: BlockId = { hash: headerHash(block.header), parts: someBlockId(`parts ${height}`).parts };
    const commit = commitOf(state.validators, blockId, height);
    const after = okay(nextState(state, blockId, block.header, answer(answers(height))));
    links.push({ before: state, block, blockId, commit, after });
    state = after;
    lastCommit = commit;
  }
  return links;
}
