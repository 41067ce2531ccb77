// Golden: a chain of CometBFT's own making: its blocks, hashes, proposers, times, commits, and what light
// clients think of it.

import { describe, expect } from 'vitest';
import type { ExecTxResult } from '../../protocol/abci.ts';
import { equalBytes } from '../../protocol/bytes.ts';
import { commitHash, headerHash } from '../../protocol/hashes.ts';
import { blockIdOfJson, commitOfJson, headerOfJson } from '../../protocol/json/chain.ts';
import { parseGenesis } from '../../protocol/json/genesis.ts';
import { verifyStep } from '../../protocol/light/verify.ts';
import { splitIntoParts } from '../../protocol/part-set.ts';
import {
  TRUST_LEVEL_DEFAULT,
  verifyCommit,
  verifyCommitLight,
  verifyCommitLightTrusting,
} from '../../protocol/rules/commit.ts';
import { medianTime } from '../../protocol/rules/median-time.ts';
import { genesisState, makeBlock, nextState, validateBlockInState } from '../../protocol/rules/state.ts';
import { incrementPriority, proposerAtRound, proposerOf } from '../../protocol/rules/validator-set.ts';
import { verifySignature } from '../../protocol/signatures.ts';
import { formatTime, NS_PER_S, parseTime } from '../../protocol/time.ts';
import type { ChainState, Header, ValidatorSet } from '../../protocol/types.ts';
import { decodeBlock, encodeBlock } from '../../protocol/wire/block.ts';
import { decodeCommit, encodeCommit } from '../../protocol/wire/commit.ts';
import { caseOfSet, ed25519Of, golden, hexBytes, type MemberCase, setOfCase, upper } from './cases.ts';
import { okay } from './folder.ts';

interface ResultCase {
  readonly code: number;
  readonly data: string | null;
  readonly gas_wanted: string;
  readonly gas_used: string;
}

interface HeightCase {
  readonly height: string;
  readonly block: string;
  readonly block_id: unknown;
  readonly header: unknown;
  readonly commit: unknown;
  readonly commit_hash: string;
  readonly commit_proto: string;
  readonly round: number;
  readonly proposers_by_round: readonly string[];
  readonly median_time: string;
  readonly validators: readonly MemberCase[];
  readonly verify_commit: string | null;
  readonly app_hash_after: string;
  readonly tx_results: readonly ResultCase[] | null;
  readonly validator_updates: readonly { readonly pub_key: string; readonly power: string }[] | null;
}

interface DamagedCase {
  readonly what: string;
  readonly chain_id: string;
  readonly height: number | string;
  readonly block_id: unknown;
  readonly commit: unknown;
  readonly validators: readonly MemberCase[];
  readonly verify_commit: string | null;
  readonly verify_commit_light: string | null;
  readonly verify_commit_light_trusting_third: string | null;
}

interface LightCase {
  readonly bent: string;
  readonly verdict: string;
  readonly now: string;
  readonly trust_level: string;
  readonly trusted_height: number;
  readonly untrusted_height: number;
  readonly trusting_period_s: number;
  readonly max_clock_drift_s: number;
  readonly untrusted_validators?: readonly MemberCase[];
  readonly untrusted_header?: unknown;
}

interface ChainCase {
  readonly genesis: unknown;
  readonly heights: readonly HeightCase[];
  readonly damaged_commits: readonly DamagedCase[];
  readonly light: readonly LightCase[];
}

const resultOf = (result: ResultCase): ExecTxResult => ({
  code: result.code,
  data: Uint8Array.from(Buffer.from(result.data ?? '', 'base64')),
  log: '',
  info: '',
  gasWanted: BigInt(result.gas_wanted),
  gasUsed: BigInt(result.gas_used),
  events: [],
  codespace: '',
});

/** One height: what CometBFT recorded, against what we make, read and verify on top of `state`. */
function expectHeight(state: ChainState, wanted: HeightCase): ChainState {
  const header = okay(headerOfJson(wanted.header));
  const blockId = okay(blockIdOfJson(wanted.block_id));
  const bytes = hexBytes(wanted.block);
  const block = okay(decodeBlock(bytes));
  expect(block.header).toEqual(header);
  expect(upper(headerHash(header))).toBe(upper(blockId.hash));
  const parts = splitIntoParts(bytes);
  expect(parts.header).toEqual(blockId.parts);
  expect(caseOfSet(state.validators)).toEqual(wanted.validators);

  // The proposer of the deciding round made this block; we make the same bytes, and find it valid.
  const proposer = proposerAtRound(state.validators, wanted.round).address;
  const made = makeBlock(state, header.height, block.txs, block.lastCommit!, block.evidence, proposer);
  expect(equalBytes(encodeBlock(made), bytes)).toBe(true);
  const checks = { verify: verifySignature, verifyEvidence: () => null };
  expect(validateBlockInState(state, block, checks)).toBeNull();
  const proposers = wanted.proposers_by_round.map((_, round) => proposerAtRound(state.validators, round));
  expect(proposers.map(({ address }) => upper(address))).toEqual(wanted.proposers_by_round);
  const turned = wanted.proposers_by_round.map((_, round) =>
    proposerOf(round === 0 ? state.validators : incrementPriority(state.validators, round)),
  );
  expect(turned.map(({ address }) => upper(address))).toEqual(wanted.proposers_by_round);

  const commit = okay(commitOfJson(wanted.commit));
  expect(Buffer.from(commitHash(commit)).toString('hex')).toBe(wanted.commit_hash);
  expect(Buffer.from(encodeCommit(commit)).toString('hex')).toBe(wanted.commit_proto);
  expect(decodeCommit(hexBytes(wanted.commit_proto))).toEqual(commit);
  expect(formatTime(okay(medianTime(commit, state.validators)) as bigint)).toBe(wanted.median_time);
  const verdict = verifyCommit(
    header.chainId,
    state.validators,
    blockId,
    header.height,
    commit,
    verifySignature,
  );
  expect(verdict === null).toBe(wanted.verify_commit === null);
  return okay(
    nextState(state, blockId, header, {
      events: [],
      txResults: (wanted.tx_results ?? []).map(resultOf),
      validatorUpdates: (wanted.validator_updates ?? []).map(({ pub_key, power }) => ({
        publicKey: ed25519Of(pub_key),
        power: BigInt(power),
      })),
      appHash: hexBytes(wanted.app_hash_after),
    }),
  );
}

const verdictOf = (refusal: { readonly refused: string } | null): string =>
  refusal === null ? 'ok' : refusal.refused.replaceAll('-', '_');

const go = golden('cometbft-go');

describe('chain.json', () => {
  go.test<ChainCase>('chain.json', 'our state follows the chain of CometBFT', ({ genesis, heights }) => {
    let state = okay(genesisState(okay(parseGenesis(JSON.stringify(genesis)))));
    for (const height of heights) state = expectHeight(state, height);
    expect(heights.length).toBeGreaterThan(0);
    return `${heights.length} heights`;
  });

  go.test<ChainCase>('chain.json', 'damaged commits get the verdicts of CometBFT', ({ damaged_commits }) => {
    for (const wanted of damaged_commits) {
      const set = setOfCase(wanted.validators);
      const commit = okay(commitOfJson(wanted.commit));
      const blockId = okay(blockIdOfJson(wanted.block_id));
      const height = BigInt(wanted.height);
      const { chain_id } = wanted;
      const verdicts = [
        verifyCommit(chain_id, set, blockId, height, commit, verifySignature),
        verifyCommitLight(chain_id, set, blockId, height, commit, verifySignature),
        verifyCommitLightTrusting(chain_id, set, commit, TRUST_LEVEL_DEFAULT, verifySignature),
      ];
      expect([wanted.what, ...verdicts.map((verdict) => verdict === null)]).toEqual([
        wanted.what,
        wanted.verify_commit === null,
        wanted.verify_commit_light === null,
        wanted.verify_commit_light_trusting_third === null,
      ]);
    }
    expect(damaged_commits.length).toBeGreaterThan(0);
    return `${damaged_commits.length} damaged commits`;
  });

  go.test<ChainCase>('chain.json', 'light steps get the verdicts of CometBFT', ({ heights, light }) => {
    const at = new Map(heights.map((height) => [Number(height.height), height]));
    const signed = (height: number, header?: unknown) => ({
      header: okay(headerOfJson(header ?? at.get(height)!.header)) as Header,
      commit: okay(commitOfJson(at.get(height)!.commit)),
    });
    let steps = 0;
    for (const wanted of light) {
      const { trusted_height, untrusted_height } = wanted;
      // A shortened selection lacks some heights.
      const next = at.get(trusted_height + 1);
      if (!at.has(trusted_height) || !at.has(untrusted_height) || next === undefined) continue;
      const set: ValidatorSet = setOfCase(
        wanted.untrusted_validators ?? at.get(untrusted_height)!.validators,
      );
      const [numerator, denominator] = wanted.trust_level.split('/').map(BigInt);
      const verdict = verifyStep(
        signed(trusted_height),
        setOfCase(next.validators),
        signed(untrusted_height, wanted.untrusted_header),
        set,
        {
          level: { numerator: numerator!, denominator: denominator! },
          periodNs: BigInt(wanted.trusting_period_s) * NS_PER_S,
          clockDriftNs: BigInt(wanted.max_clock_drift_s) * NS_PER_S,
          nowNs: okay(parseTime(wanted.now)) as bigint,
        },
        verifySignature,
      );
      expect([steps, wanted.bent, verdictOf(verdict)]).toEqual([steps, wanted.bent, wanted.verdict]);
      steps += 1;
    }
    expect(steps).toBeGreaterThan(0);
    return `${steps} light steps`;
  });
});
