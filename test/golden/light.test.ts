// Golden: light clients: the path of CometBFT's skipping client, the single steps of a model, and recorded
// commits of real nodes.

import { describe, expect } from 'vitest';
import { headerHash } from '../../protocol/hashes.ts';
import { commitOfJson, headerOfJson } from '../../protocol/json/chain.ts';
import { addressOf } from '../../protocol/keys.ts';
import { walkFromTrust, walkNow } from '../../protocol/light/skipping.ts';
import { TRUST_LEVEL_DEFAULT, verifyStep } from '../../protocol/light/verify.ts';
import { isRefusal } from '../../protocol/refusal.ts';
import { voteOfCommit } from '../../protocol/rules/commit.ts';
import { byPowerThenAddress } from '../../protocol/rules/validator-set.ts';
import { voteSignBytes } from '../../protocol/sign-bytes.ts';
import { verifySignature } from '../../protocol/signatures.ts';
import { NS_PER_S, parseTime } from '../../protocol/time.ts';
import {
  EMPTY_BYTES,
  FLAG_ABSENT,
  type LightBlock,
  type PublicKey,
  type SignedHeader,
  type Validator,
  type ValidatorSet,
  ZERO_TIME_NS,
} from '../../protocol/types.ts';
import { golden, type MemberCase, setOfCase, upper } from './cases.ts';
import { okay } from './folder.ts';

interface BisectCase {
  readonly chain_id: string;
  readonly heights: readonly {
    readonly header: unknown;
    readonly commit: unknown;
    readonly validators: readonly MemberCase[];
  }[];
  readonly cases: readonly {
    readonly trusted_height: number;
    readonly target_height: number;
    readonly changed_app_hash_at: number;
    readonly fetched: readonly number[];
    readonly verdict: string;
    readonly now: string;
    readonly trust_level: string;
    readonly trusting_period_s: number;
    readonly max_clock_drift_s: number;
  }[];
}

golden('cometbft-go').test<BisectCase>(
  'bisect.json',
  'the skipping client takes the path of CometBFT',
  ({ chain_id, heights, cases }) => {
    const blocks = new Map<number, LightBlock>();
    for (const { header, commit, validators } of heights) {
      const signedHeader = { header: okay(headerOfJson(header)), commit: okay(commitOfJson(commit)) };
      const height = Number(signedHeader.header.height);
      blocks.set(height, { signedHeader, validatorSet: setOfCase(validators) });
    }
    for (const wanted of cases) {
      const fetched: number[] = [];
      const serve = (asked: bigint): LightBlock | null => {
        const height = Number(asked);
        fetched.push(height);
        const block = blocks.get(height);
        if (block === undefined) return null;
        if (height !== wanted.changed_app_hash_at) return block;
        const { header, commit } = block.signedHeader;
        const changed = { ...header, appHash: new TextEncoder().encode('changed!') };
        return { ...block, signedHeader: { header: changed, commit } };
      };
      const [numerator, denominator] = wanted.trust_level.split('/').map(BigInt);
      const trusted = blocks.get(wanted.trusted_height)!.signedHeader.header;
      const result = walkNow(
        walkFromTrust(
          { height: trusted.height, hash: headerHash(trusted) },
          BigInt(wanted.target_height),
          {
            chainId: chain_id,
            level: { numerator: numerator!, denominator: denominator! },
            periodNs: BigInt(wanted.trusting_period_s) * NS_PER_S,
            clockDriftNs: BigInt(wanted.max_clock_drift_s) * NS_PER_S,
            nowNs: okay(parseTime(wanted.now)) as bigint,
          },
          verifySignature,
        ),
        serve,
      );
      expect([fetched, isRefusal(result) ? 'failed' : 'ok']).toEqual([wanted.fetched, wanted.verdict]);
    }
    expect(cases.length).toBeGreaterThan(0);
    return `${cases.length} paths`;
  },
);

interface ModelMember {
  readonly pub_key: { readonly value: string };
  readonly voting_power?: string | number;
  readonly power?: string | number;
}
interface ModelCase {
  readonly initial: {
    readonly signed_header: { readonly header: unknown; readonly commit: unknown };
    readonly next_validator_set: { readonly validators: readonly ModelMember[] };
    readonly trusting_period: string;
    readonly now: string;
  };
  readonly input: readonly {
    readonly block: {
      readonly signed_header: { readonly header: unknown; readonly commit: unknown };
      readonly validator_set: { readonly validators: readonly ModelMember[] };
      readonly next_validator_set: { readonly validators: readonly ModelMember[] };
    };
    readonly now: string;
    readonly verdict: string;
  }[];
}

function modelSet({ validators: members }: { readonly validators: readonly ModelMember[] }): ValidatorSet {
  const validators = members.map((member): Validator => {
    const bytes = Uint8Array.from(Buffer.from(member.pub_key.value, 'base64'));
    const publicKey: PublicKey = { type: 'ed25519', bytes };
    const power = BigInt(member.voting_power ?? member.power ?? 0);
    return { address: addressOf(publicKey), publicKey, power, priority: 0n };
  });
  validators.sort(byPowerThenAddress);
  return { validators, proposer: null, powerTotal: validators.reduce((sum, { power }) => sum + power, 0n) };
}

/** The model prints absent votes with the time 1970; CometBFT, and so we, want Go's zero time there. */
function modelHeader(signed: { header: unknown; commit: unknown }): SignedHeader {
  const commit = okay(commitOfJson(signed.commit));
  const signatures = commit.signatures.map((one) =>
    one.flag === FLAG_ABSENT ? { ...one, timeNs: ZERO_TIME_NS } : one,
  );
  return { header: okay(headerOfJson(signed.header)), commit: { ...commit, signatures } };
}

const VERDICTS: Readonly<Record<string, string>> = {
  SUCCESS: 'ok',
  NOT_ENOUGH_TRUST: 'cannot-be-trusted',
  INVALID: 'no',
};

const rust = golden('tendermint-rs');

rust.testEach<ModelCase>('model_based_single_step', 'single steps get the verdicts of the model', (cases) => {
  let verdicts = 0;
  for (const [name, { initial, input }] of cases) {
    let trusted = modelHeader(initial.signed_header);
    let set = modelSet(initial.next_validator_set);
    for (const { block, now, verdict } of input) {
      const untrusted = modelHeader(block.signed_header);
      const refusal = verifyStep(
        trusted,
        set,
        untrusted,
        modelSet(block.validator_set),
        {
          level: TRUST_LEVEL_DEFAULT,
          periodNs: BigInt(initial.trusting_period),
          clockDriftNs: 0n,
          nowNs: okay(parseTime(now)) as bigint,
        },
        verifySignature,
      );
      const got = refusal === null ? 'ok' : refusal.refused;
      const known = got === 'ok' || got === 'cannot-be-trusted' ? got : 'no';
      expect([name, verdicts, known, refusal?.because]).toEqual([
        name,
        verdicts,
        VERDICTS[verdict],
        refusal?.because,
      ]);
      verdicts += 1;
      if (verdict !== 'SUCCESS') continue;
      trusted = untrusted;
      set = modelSet(block.next_validator_set);
    }
  }
  expect(verdicts).toBeGreaterThan(0);
  return `${cases.length} runs, ${verdicts} verdicts`;
});

/** Whatever looks like a commit, with the chain id of the header nearest above it. */
function* commitsIn(value: unknown, chainId = ''): Generator<{ commit: unknown; chainId: string }> {
  if (typeof value !== 'object' || value === null) return;
  if (Array.isArray(value)) {
    for (const one of value) yield* commitsIn(one, chainId);
    return;
  }
  const record = value as Record<string, unknown>;
  const header = record['header'] as { chain_id?: string } | undefined;
  const here = header?.chain_id ?? chainId;
  if ('signatures' in record && 'block_id' in record) yield { commit: record, chainId: here };
  for (const one of Object.values(record)) yield* commitsIn(one, here);
}

/** Every ed25519 key that a folder names: in status, genesis validators, and the keys of gentxs. */
function* keysIn(value: unknown): Generator<PublicKey> {
  if (typeof value !== 'object' || value === null) return;
  const record = value as Record<string, unknown>;
  const type = record['type'] ?? record['@type'];
  const text = record['value'] ?? record['key'];
  if (typeof type === 'string' && typeof text === 'string' && /ed25519/i.test(type)) {
    const bytes = Uint8Array.from(Buffer.from(text, 'base64'));
    if (bytes.length === 32) yield { type: 'ed25519', bytes };
  }
  for (const one of Object.values(record)) yield* keysIn(one);
}

describe('recorded commits', () => {
  for (const folder of ['rpc_gaia', 'rpc_kvstore_v0_34', 'rpc_kvstore_v0_37', 'rpc_kvstore_v0_38']) {
    rust.testEach<unknown>(`${folder}/incoming`, `signatures of ${folder} verify`, (answers) => {
      const keys = new Map<string, PublicKey>();
      for (const [, answer] of answers) {
        for (const key of keysIn(answer)) keys.set(upper(addressOf(key)), key);
      }
      let verified = 0;
      let keyless = 0;
      for (const [name, answer] of answers) {
        for (const { commit: json, chainId } of commitsIn(answer)) {
          const commit = okay(commitOfJson(json));
          commit.signatures.forEach(({ flag, validatorAddress, signature }, i) => {
            if (flag === FLAG_ABSENT) return;
            const key = keys.get(upper(validatorAddress ?? EMPTY_BYTES));
            if (key === undefined) {
              keyless += 1;
              return;
            }
            const message = voteSignBytes(chainId, voteOfCommit(commit, i));
            expect([name, verifySignature(key, message, signature)]).toEqual([name, true]);
            verified += 1;
          });
        }
      }
      expect(verified).toBeGreaterThan(0);
      return `${verified} signatures, ${keyless} of validators whose key is not here`;
    });
  }
});
