// Tests the chain's state: genesis, InitChain, which block may follow, and when updates come into force.

import { describe, expect, it } from 'vitest';
import { utf8Encode } from '#platform';
import { commitHash, evidenceListHash } from '../../../protocol/hashes.ts';
import { isRefusal, refuse } from '../../../protocol/refusal.ts';
import { makeDuplicateVote } from '../../../protocol/rules/evidence.ts';
import { medianTime, weightedMedian } from '../../../protocol/rules/median-time.ts';
import { DEFAULT_PARAMS } from '../../../protocol/rules/params.ts';
import {
  applyInitChain,
  type BlockChecks,
  commitInfo,
  extendedCommitInfo,
  genesisState,
  makeBlock,
  nextState,
  validateBlockInState,
} from '../../../protocol/rules/state.ts';
import {
  hasAddress,
  hashOfSet,
  incrementPriority,
  proposerOf,
} from '../../../protocol/rules/validator-set.ts';
import { verifySignature } from '../../../protocol/signatures.ts';
import {
  type Block,
  type Commit,
  EMPTY_BYTES,
  FLAG_ABSENT,
  FLAG_COMMIT,
  FLAG_NIL,
  type Header,
  PRECOMMIT,
  type Vote,
  ZERO_TIME_NS,
} from '../../../protocol/types.ts';
import {
  answer,
  chainOf,
  commitOf,
  EMPTY_COMMIT,
  GENESIS_TIME_NS,
  genesisOf,
  members,
  okay,
  person,
  SECOND_NS,
  setOf,
  someBlockId,
} from './people.ts';

const why = (verdict: unknown): string => (isRefusal(verdict) ? verdict.refused : 'ok');
const checks: BlockChecks = { verify: verifySignature, verifyEvidence: () => null };
const bytes = utf8Encode;

describe('the state at genesis', () => {
  const genesis = genesisOf([5n, 7n]);
  const state = okay(genesisState(genesis));

  it('has the set after one turn, the next after two, and none before', () => {
    expect(state.validators).toEqual(setOf(5n, 7n));
    expect(state.nextValidators).toEqual(incrementPriority(setOf(5n, 7n), 1));
    expect(state.lastValidators.validators).toEqual([]);
    expect(state).toMatchObject({
      lastBlockHeight: 0n,
      lastBlockTimeNs: GENESIS_TIME_NS,
      lastResultsHash: EMPTY_BYTES,
    });
  });

  it('may have no validators yet, but not one without power', () => {
    expect(why(genesisState(genesisOf([])))).toBe('ok');
    expect(why(genesisState(genesisOf([5n, 0n])))).toBe('zero-power');
  });

  it('takes validators, parameters and app hash from InitChain', () => {
    const replaced = okay(
      applyInitChain(state, genesis, {
        validators: members([1n, 2n, 3n]),
        appHash: bytes('app'),
        consensusParams: { version: { app: 9n }, block: { maxBytes: 1000n, maxGas: 5n } },
      }),
    );
    expect(replaced.validators).toEqual(setOf(1n, 2n, 3n));
    expect(replaced.nextValidators).toEqual(incrementPriority(setOf(1n, 2n, 3n), 1));
    expect(replaced.version).toEqual({ block: 11n, app: 9n });
    expect(replaced.consensusParams).toEqual({
      ...DEFAULT_PARAMS,
      version: { app: 9n },
      block: { maxBytes: 1000n, maxGas: 5n },
    });
    expect(replaced.appHash).toEqual(bytes('app'));
    expect(replaced.lastResultsHash).toHaveLength(32);
    const short = { publicKey: { type: 'ed25519', bytes: new Uint8Array(31) }, power: 1n } as const;
    expect(why(applyInitChain(state, genesis, { validators: [short], appHash: EMPTY_BYTES }))).toBe(
      'update-key-size',
    );
    const kept = okay(applyInitChain(state, genesis, { validators: [], appHash: EMPTY_BYTES }));
    expect(kept.validators).toBe(state.validators);
    expect(kept.version).toEqual({ block: 11n, app: 0n });
  });

  it("is refused when genesis names an app hash that is not the application's", () => {
    const named = genesisOf([5n], { appHash: bytes('this') });
    const start = okay(genesisState(named));
    for (const appHash of [bytes('that'), EMPTY_BYTES]) {
      expect(why(applyInitChain(start, named, { validators: [], appHash }))).toBe('app-hash');
    }
    expect(why(applyInitChain(start, named, { validators: [], appHash: bytes('this') }))).toBe('ok');
  });

  it('is refused when nobody names validators, or names them badly', () => {
    const empty = genesisOf([]);
    const start = okay(genesisState(empty));
    expect(why(applyInitChain(start, empty, { validators: [], appHash: EMPTY_BYTES }))).toBe('no-validators');
    const answered = { validators: members([1n, 0n]), appHash: EMPTY_BYTES };
    expect(why(applyInitChain(start, empty, answered))).toBe('zero-power');
  });
});

describe('a block', () => {
  const links = chainOf([10n, 10n, 10n, 10n], 4);
  const [first, , third] = links;

  it('is valid where it was made for, the initial one included', () => {
    for (const { before, block } of links) expect(validateBlockInState(before, block, checks)).toBeNull();
  });

  const bent: readonly [string, (header: Header) => Partial<Header>, string][] = [
    ['version', () => ({ version: { block: 11n, app: 1n } }), 'block-version'],
    ['block version', () => ({ version: { block: 10n, app: 0n } }), 'block-form'],
    ['chain', () => ({ chainId: 'other' }), 'block-chain-id'],
    ['height', () => ({ height: 4n }), 'block-height'],
    ['last block', () => ({ lastBlockId: someBlockId('x') }), 'block-last-block-id'],
    ['app hash', () => ({ appHash: bytes('x') }), 'block-app-hash'],
    ['parameters', () => ({ consensusHash: someBlockId('x').hash }), 'block-consensus-hash'],
    ['results', () => ({ lastResultsHash: someBlockId('x').hash }), 'block-last-results-hash'],
    ['validators', () => ({ validatorsHash: someBlockId('x').hash }), 'block-validators-hash'],
    ['next validators', () => ({ nextValidatorsHash: someBlockId('x').hash }), 'block-next-validators-hash'],
    ['proposer', () => ({ proposerAddress: person(9).address }), 'block-proposer'],
    ['data', () => ({ dataHash: someBlockId('x').hash }), 'block-form'],
    ['time', ({ timeNs }) => ({ timeNs: timeNs + 1n }), 'block-time'],
    ['earlier time', ({ timeNs }) => ({ timeNs: timeNs - 10n * SECOND_NS }), 'block-time'],
  ];
  for (const [name, change, refused] of bent) {
    it(`is refused with another ${name}`, () => {
      const { block, before } = third!;
      const header = { ...block.header, ...change(block.header) };
      expect(why(validateBlockInState(before, { ...block, header }, checks))).toBe(refused);
    });
  }

  const withCommit = (lastCommit: Commit, link = third!): Block => ({
    ...link.block,
    lastCommit,
    header: { ...link.block.header, lastCommitHash: commitHash(lastCommit) },
  });

  it('is refused with a last commit that proves nothing, unless it was verified before', () => {
    const { before, block } = third!;
    const flags = [FLAG_COMMIT, FLAG_NIL, FLAG_ABSENT];
    const few = withCommit(commitOf(before.lastValidators, before.lastBlockId, 2n, { flags }));
    expect(why(validateBlockInState(before, few, checks))).toBe('not-enough-power');
    const lax = { ...checks, verify: () => false };
    expect(why(validateBlockInState(before, block, lax))).toBe('wrong-signature');
    expect(why(validateBlockInState(before, block, { ...lax, lastCommitVerified: true }))).toBe('ok');
  });

  it('has no commit before the initial one, and its time is genesis time', () => {
    const { before, block } = first!;
    const signed = withCommit(third!.block.lastCommit!, first!);
    expect(why(validateBlockInState(before, signed, checks))).toBe('block-last-commit');
    const header = { ...block.header, timeNs: GENESIS_TIME_NS + 1n };
    expect(why(validateBlockInState(before, { ...block, header }, checks))).toBe('block-time');
  });

  it('is refused ahead of a clock only by who asks the clock', () => {
    const { before, block } = third!;
    const { timeNs } = block.header;
    expect(why(validateBlockInState(before, block, { ...checks, timeLimitNs: timeNs }))).toBe(
      'block-time-ahead',
    );
    expect(why(validateBlockInState(before, block, { ...checks, timeLimitNs: timeNs + 1n }))).toBe('ok');
  });

  it('carries evidence only as large as allowed, and only what holds', () => {
    const { before } = third!;
    const vote = (name: string): Vote => ({
      type: PRECOMMIT,
      height: 1n,
      round: 0,
      blockId: someBlockId(name),
      timeNs: GENESIS_TIME_NS,
      validatorAddress: person(0).address,
      validatorIndex: 0,
      signature: new Uint8Array(64),
      extension: EMPTY_BYTES,
      extensionSignature: EMPTY_BYTES,
    });
    const evidence = [okay(makeDuplicateVote(vote('a'), vote('b'), GENESIS_TIME_NS, before.validators))];
    const { header } = third!.block;
    const block: Block = {
      ...third!.block,
      evidence,
      header: { ...header, evidenceHash: evidenceListHash(evidence) },
    };
    expect(why(validateBlockInState(before, block, checks))).toBe('ok');
    const unbelieving = { ...checks, verifyEvidence: () => refuse('no', 'no') };
    expect(why(validateBlockInState(before, block, unbelieving))).toBe('block-evidence');
    const consensusParams = { ...DEFAULT_PARAMS, evidence: { ...DEFAULT_PARAMS.evidence, maxBytes: 100n } };
    expect(why(validateBlockInState({ ...before, consensusParams }, block, checks))).toBe('block-evidence');
  });
});

describe('the next state', () => {
  it('has validator updates of H in force at H+2, and headers say so one height before', () => {
    const newcomer = { publicKey: person(8).publicKey, power: 90n };
    const links = chainOf([10n, 10n], 3, (height) => (height === 1n ? { validatorUpdates: [newcomer] } : {}));
    const sizes = links.map(({ before }) => [before.validators, before.nextValidators]);
    expect(sizes.map((pair) => pair.map((set) => set.validators.length))).toEqual([
      [2, 2],
      [2, 3],
      [3, 3],
    ]);
    expect(links[1]!.block.header.nextValidatorsHash).toEqual(links[2]!.block.header.validatorsHash);
    expect(links[0]!.after.lastHeightValidatorsChanged).toBe(3n);
    expect(hasAddress(links[2]!.before.validators, person(8).address)).toBe(true);
    expect(hasAddress(links[2]!.before.validators, proposerOf(links[2]!.before.validators).address)).toBe(
      true,
    );
  });

  it('takes a turn each height and keeps the hash of the set', () => {
    const links = chainOf([10n, 20n, 30n], 3);
    for (const { before, after } of links) {
      expect(after.nextValidators).toEqual(incrementPriority(before.nextValidators, 1));
      expect(after.validators).toBe(before.nextValidators);
      expect(after.lastValidators).toBe(before.validators);
      expect(hashOfSet(after.nextValidators)).toEqual(hashOfSet(before.validators));
    }
  });

  it('has parameters of H in force at H+1; any update sets the app version', () => {
    const { before, block, blockId } = chainOf([10n], 1)[0]!;
    const versioned = { ...before, version: { block: 11n, app: 7n } };
    const update = answer({ consensusParamUpdates: { block: { maxBytes: 2_000_000n, maxGas: 3n } } });
    const after = okay(nextState(versioned, blockId, block.header, update));
    expect(after.consensusParams.block).toEqual({ maxBytes: 2_000_000n, maxGas: 3n });
    expect(after.lastHeightConsensusParamsChanged).toBe(2n);
    expect(after.version).toEqual({ block: 11n, app: 0n });
    const untouched = okay(nextState(versioned, blockId, block.header, answer()));
    expect(untouched.version.app).toBe(7n);
    expect(untouched.consensusParams).toBe(before.consensusParams);
  });

  it('takes keys by the parameters before the block, not by those that it sets', () => {
    const { before, block, blockId } = chainOf([10n, 10n], 1)[0]!;
    const answered = (type: 'ed25519' | 'secp256k1', allows: readonly string[]) => {
      const newcomer =
        type === 'ed25519' ? person(8).publicKey : ({ type, bytes: new Uint8Array(33).fill(2) } as const);
      const consensusParamUpdates = { validator: { publicKeyTypes: allows } };
      const more = { validatorUpdates: [{ publicKey: newcomer, power: 1n }], consensusParamUpdates };
      return why(nextState(before, blockId, block.header, answer(more)));
    };
    expect(answered('secp256k1', ['ed25519', 'secp256k1'])).toBe('update-key-type');
    expect(answered('ed25519', ['secp256k1'])).toBe('ok');
  });

  it('is refused after an answer that breaks the rules', () => {
    const { before, block, blockId } = chainOf([10n, 10n], 1)[0]!;
    const afterAnswer = (more: Parameters<typeof answer>[0]) =>
      why(nextState(before, blockId, block.header, answer(more)));
    expect(afterAnswer({ validatorUpdates: members([-1n]) })).toBe('update-negative-power');
    expect(afterAnswer({ validatorUpdates: members([0n, 0n]) })).toBe('empty-set');
    expect(afterAnswer({ consensusParamUpdates: { block: { maxBytes: 0n, maxGas: 0n } } })).toBe('params');
    expect(afterAnswer({ consensusParamUpdates: { abci: { voteExtensionsEnableHeight: 1n } } })).toBe(
      'params',
    );
    expect(afterAnswer({ consensusParamUpdates: { abci: { voteExtensionsEnableHeight: 2n } } })).toBe('ok');
  });
});

describe('what the application is told of a commit', () => {
  const set = setOf(10n, 20n);
  const commit = commitOf(set, someBlockId('b'), 4n, { flags: [FLAG_COMMIT, FLAG_ABSENT], round: 3 });

  it('is every member of the set, with flags', () => {
    const votes = set.validators.map(({ address, power }, i) => ({
      validator: { address, power },
      flag: commit.signatures[i]!.flag,
    }));
    expect(commitInfo(commit, set)).toEqual({ round: 3, votes });
    const nothing = { voteExtension: EMPTY_BYTES, extensionSignature: EMPTY_BYTES };
    expect(extendedCommitInfo(commit, set).votes).toEqual(votes.map((vote) => ({ ...vote, ...nothing })));
  });

  it('is nothing for the initial block, and a bug when sizes differ', () => {
    expect(commitInfo(EMPTY_COMMIT, setOf())).toEqual({ round: 0, votes: [] });
    expect(() => commitInfo(EMPTY_COMMIT, set)).toThrow();
  });
});

describe('the median time', () => {
  it('weighs clocks by power, counts votes for nil and no absent ones', () => {
    const set = setOf(40n, 30n, 20n, 10n);
    const at = (flags: readonly number[]) =>
      medianTime(commitOf(set, someBlockId('b'), 1n, { flags, timeNs: 0n }), set);
    expect(at([])).toBe(1_000_000n); // half of 100: reached by the second
    expect(at([FLAG_NIL])).toBe(1_000_000n);
    expect(at([FLAG_ABSENT])).toBe(1_000_000n);
    expect(at([FLAG_ABSENT, FLAG_ABSENT])).toBe(2_000_000n);
    expect(at([FLAG_ABSENT, FLAG_ABSENT, FLAG_ABSENT, FLAG_ABSENT])).toBe(ZERO_TIME_NS);
  });

  it('does not count on strangers', () => {
    const commit = commitOf(setOf(1n, 1n, 1n), someBlockId('b'), 1n);
    expect(why(medianTime(commit, setOf(1n)))).toBe('unknown-validator');
    expect(weightedMedian([], 0n)).toBe(ZERO_TIME_NS);
  });

  it('is what a proposer puts into a block', () => {
    const { after, commit } = chainOf([10n, 10n], 2)[1]!;
    const block = makeBlock(after, 3n, [], commit, [], person(0).address);
    expect(block.header.timeNs).toBe(medianTime(commit, after.lastValidators));
    const stranger = { ...after, lastValidators: setOf() };
    expect(() => makeBlock(stranger, 3n, [], commit, [], person(0).address)).toThrow();
  });
});
