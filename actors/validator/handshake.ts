// Recovery between the stores and the application: the handshake table of spec 5.8, one stage at a time, each waiting for an answer.

import { utf8Encode } from '#platform';
import {
  blockKey,
  GENESIS_KEY,
  paramsKey,
  responseKey,
  STATE_KEY,
  seenCommitKey,
  validatorsKey,
} from '../../machines/chain/keys.ts';
import { whyUnplayable } from '../../machines/chain/playable.ts';
import type {
  AbciResponse,
  ResponseFinalizeBlock,
  ResponseInfo,
  ResponseInitChain,
} from '../../protocol/abci.ts';
import { equalBytes, hexUpperOf } from '../../protocol/bytes.ts';
import { headerHash } from '../../protocol/hashes.ts';
import { PartSet } from '../../protocol/part-set.ts';
import { isRefusal, unreachable } from '../../protocol/refusal.ts';
import {
  applyInitChain,
  genesisState,
  heightAfter,
  validateBlockInState,
} from '../../protocol/rules/state.ts';
import {
  ABCI_VERSION,
  BLOCK_PROTOCOL,
  type Block,
  type BlockId,
  type Commit,
  P2P_PROTOCOL,
  SOFTWARE_VERSION,
} from '../../protocol/types.ts';
import {
  decodeBlock,
  decodeCommit,
  decodeResponseFinalizeBlock,
  encodeChainState,
  encodeConsensusParams,
  encodeValidatorSet,
} from '../../protocol/wire/index.ts';
import { type KeyValue, put } from '../turn.ts';
import { answerOf, COMMIT, execute, finalize, onCommitted } from './execute.ts';
import { readValidators, recallValidators } from './recall.ts';
import { sharedStart } from './shared.ts';
import type { Handshake, Read, ValidatorState } from './state.ts';

/** Asks the application where it stands. `whenDone` is called once stores and application agree. */
export function beginHandshake(v: ValidatorState, whenDone: (v: ValidatorState) => void): void {
  v.mode = 'handshake';
  v.handshake = {
    stage: 'info',
    appHeight: 0n,
    appHash: new Uint8Array(0),
    read: null,
    lastCommit: null,
    response: null,
    txs: 0,
    whenDone,
  };
  v.ask(
    { for: 'handshake' },
    {
      type: 'info',
      value: {
        version: SOFTWARE_VERSION,
        blockVersion: BLOCK_PROTOCOL,
        p2pVersion: P2P_PROTOCOL,
        abciVersion: ABCI_VERSION,
      },
    },
  );
}

const running = (v: ValidatorState): Handshake => v.handshake ?? unreachable('no handshake runs');

export function onHandshakeAnswer(v: ValidatorState, response: AbciResponse): void {
  const { stage } = running(v);
  if (stage === 'info' && response.type === 'info') return onInfo(v, response.value);
  if (stage === 'init-chain' && response.type === 'init-chain') return onInitChain(v, response.value);
  unreachable(`answer ${response.type} in stage ${stage} of the handshake`);
}

function onInfo(v: ValidatorState, info: ResponseInfo): void {
  const shaking = running(v);
  if (info.lastBlockHeight < 0n)
    return v.halt(`the application reports the height ${info.lastBlockHeight}, below 0`);
  shaking.appHeight = info.lastBlockHeight;
  shaking.appHash = info.lastBlockAppHash;
  // An application that has blocks of this chain answered InitChain before: what it said then stands in the stored state.
  if (v.chain.lastBlockHeight === 0n && (info.lastBlockHeight === 0n || v.store.height === 0n)) {
    v.chain = { ...v.chain, version: { block: v.chain.version.block, app: info.appVersion } };
  }
  if (info.lastBlockHeight > 0n) return compare(v);
  const { genesis } = v.config;
  shaking.stage = 'init-chain';
  v.ask(
    { for: 'handshake' },
    {
      type: 'init-chain',
      value: {
        timeNs: genesis.genesisTimeNs,
        chainId: genesis.chainId,
        consensusParams: genesis.consensusParams,
        // In the order of the set, not of the file (spec 5.8 step 2).
        validators: genesisUpdates(v),
        appStateBytes: genesis.appState,
        initialHeight: genesis.initialHeight,
      },
    },
  );
}

function onInitChain(v: ValidatorState, response: ResponseInitChain): void {
  const next = applyInitChain(v.chain, v.config.genesis, response);
  if (isRefusal(next)) return v.halt(`InitChain: ${next.because}`);
  // To an application that lost its data the chain is told from its beginning: what it says of that counts no more.
  const isNew = v.chain.lastBlockHeight === 0n;
  const refusal = isNew && whyUnplayable(next.consensusParams, next.validators.validators.length);
  if (refusal) return v.halt(`InitChain: consensus parameters: ${refusal.because}`);
  // An application that names none stands where the genesis says that it does.
  const usual = isNew ? next.appHash : v.config.genesis.appHash;
  running(v).appHash = response.appHash.length > 0 ? response.appHash : usual;
  if (isNew) {
    v.chain = next;
    saveGenesis(v);
  }
  compare(v);
}

/** Of the genesis file, whatever an earlier InitChain put in their place. */
function genesisUpdates(v: ValidatorState) {
  const first = genesisState(v.config.genesis);
  if (isRefusal(first)) return unreachable('the genesis file was checked before');
  return first.validators.validators.map(({ publicKey, power }) => ({ publicKey, power }));
}

function saveGenesis(v: ValidatorState): void {
  const first = v.config.genesis.initialHeight;
  v.history.setFrom(first, v.chain.validators);
  v.history.setFrom(first + 1n, v.chain.nextValidators);
  const writes = [
    put(validatorsKey(v.chain.lastHeightValidatorsChanged), encodeValidatorSet(v.chain.validators)),
    put(paramsKey(v.chain.initialHeight), encodeConsensusParams(v.chain.consensusParams)),
    put(STATE_KEY, encodeChainState(v.chain)),
    put(GENESIS_KEY, utf8Encode(v.config.genesisText)),
  ];
  v.does({ type: 'store', store: 'chain', durable: true, writes });
}

/** The height that the state is after: the one before the chain's first when there is no block yet. */
const stateHeight = ({ chain }: ValidatorState): bigint =>
  chain.lastBlockHeight === 0n ? chain.initialHeight - 1n : chain.lastBlockHeight;

/**
 * The handshake table: A is the application's height, S the state's, B the block store's, b its base.
 *
 * | stores | application | what is done |
 * |---|---|---|
 * | B = 0 | A before the chain | hashes are compared |
 * | B = S | A < S | blocks A+1 to S are executed again, by the application alone |
 * | | A = S | hashes are compared |
 * | B = S+1 | A < S | blocks A+1 to S by the application alone, then B is executed as one that was just decided |
 * | | A = S | B is executed as one that was just decided |
 * | | A = B | the saved answer to B stands in for the application |
 *
 * An application at 0 is asked to begin the chain first (InitChain). In every other row the node halts (`refusalOf`).
 */
function compare(v: ValidatorState): void {
  const shaking = running(v);
  const A = shaking.appHeight;
  const S = stateHeight(v);
  const { base: b, height: B } = v.store;
  const refusal = refusalOf(A, S, B, b, v.config.genesis.initialHeight);
  if (refusal) return v.halt(refusal);
  if (B === 0n) {
    if (!equalBytes(shaking.appHash, v.chain.appHash)) return mismatch(v, shaking.appHash);
    if (shaking.stage === 'info') saveGenesis(v); // it was not asked to begin the chain
    return done(v);
  }
  readHeight(v, nextToRead(A, S, B, v.config.genesis.initialHeight));
}

/** Which height to work on next; B itself when only its commit and header are needed. */
function nextToRead(A: bigint, S: bigint, B: bigint, initialHeight: bigint): bigint {
  const from = A === 0n ? initialHeight : A + 1n;
  const lastOnApp = B === S ? B : S; // heights that the application alone lacks
  return from <= lastOnApp ? from : B;
}

function refusalOf(A: bigint, S: bigint, B: bigint, b: bigint, initialHeight: bigint): string | null {
  // A chain that begins: an application may have a past from before it, and none from it.
  if (B === 0n && S < initialHeight && A < initialHeight) return null;
  if (B > 0n && A === 0n && initialHeight < b) {
    return `app block height (0) is too low: the block store begins at ${b}. Restore the application's data, or resync`;
  }
  if (A > 0n && A < b - 1n) {
    return `app block height (${A}) is too far below the block store's base (${b}). Restore the application's data, or resync`;
  }
  if (B < A) {
    return `app block height (${A}) is higher than core (${B}). The application's data belongs to a longer chain: reset it`;
  }
  if (B < S)
    return `state height (${S}) is above the block store's (${B}): the stores do not belong together`;
  if (B > S + 1n)
    return `block store height (${B}) is more than one above the state's (${S}): the stores do not belong together`;
  return null;
}

function readHeight(v: ValidatorState, height: bigint): void {
  const shaking = running(v);
  shaking.stage = 'reading';
  const due: Read[] = ['block', 'commit', 'response'];
  shaking.read = { height, due, found: {} };
  for (const key of [blockKey, seenCommitKey, responseKey]) {
    v.load({ for: 'handshake' }, key(height), key(height + 1n), 1);
  }
  if (height === v.config.genesis.initialHeight || v.history.validators(height - 1n)) return;
  due.push('voters');
  readValidators(v, { for: 'handshake' }, height - 1n);
}

export function onHandshakeRead(v: ValidatorState, found: readonly KeyValue[]): void {
  const shaking = running(v);
  const read = shaking.read ?? unreachable('nothing is being read');
  const what = read.due.shift() ?? unreachable('nothing more is asked');
  const value = found[0]?.value;
  if (value) read.found[what] = value;
  if (read.due.length > 0) return;
  const block = read.found.block ? decodeBlock(read.found.block) : null;
  const commit = read.found.commit ? decodeCommit(read.found.commit) : null;
  if (!block || isRefusal(block) || !commit || isRefusal(commit)) {
    return v.halt(`block ${read.height} or its commit is missing or broken in the store. Resync this node`);
  }
  onHeightRead(v, block, commit);
}

/** One row of the table for one height: the next one is read when it is done. */
function onHeightRead(v: ValidatorState, block: Block, commit: Commit): void {
  const shaking = running(v);
  const { height } = block.header;
  const read = shaking.read ?? unreachable('read');
  const B = v.store.height;
  const S = stateHeight(v);
  const A = shaking.appHeight;
  const id: BlockId = commit.blockId;
  if (!equalBytes(headerHash(block.header), id.hash)) {
    return v.halt(`block ${height} in the store does not hash to its commit. Resync this node`);
  }
  // Of the block that the application executes next: its header says what came out of the one before (replayBlocks).
  if (A < height && !equalBytes(shaking.appHash, block.header.appHash)) {
    return mismatch(v, shaking.appHash, block.header.appHash, height - 1n);
  }
  if (height <= S && A < height) {
    // The application lags behind the state: execute again, without touching the state.
    shaking.stage = 'replaying';
    shaking.txs = block.txs.length;
    shaking.lastCommit = commit;
    v.history.addBlock(block);
    if (read.found.voters && !recallValidators(v, height - 1n, read.found.voters)) return;
    if (height > v.config.genesis.initialHeight && !v.history.validators(height - 1n))
      return v.halt(`the validators of height ${height - 1n} are missing in the store. Resync this node`);
    finalize(v, block, id);
    return;
  }
  if (height === S) {
    if (!equalBytes(shaking.appHash, v.chain.appHash)) return mismatch(v, shaking.appHash);
    v.history.addBlock(block);
    shaking.lastCommit = commit;
    return done(v);
  }
  if (height !== B || B !== S + 1n) unreachable('the handshake table has no such row');
  // InitChain may have answered otherwise than before. Its evidence was judged when it was decided (CometBFT replayBlock).
  const refusal = validateBlockInState(v.chain, block, {
    verify: v.config.verify,
    verifyEvidence: () => null,
  });
  if (refusal)
    return v.halt(
      `block ${height} in the store does not follow from the state: ${refusal.because}. Did the application answer InitChain otherwise than before?`,
    );
  shaking.lastCommit = commit;
  shaking.stage = 'applying';
  if (A === B) return applySavedAnswer(v, block, commit, read.found.response);
  const parts = PartSet.whole(read.found.block ?? unreachable('decoded'));
  execute(v, { id, block, parts }, commit.round, commit, 'handshake');
}

/** The application committed this block already: its saved answer stands in for it. */
function applySavedAnswer(
  v: ValidatorState,
  block: Block,
  commit: Commit,
  saved: Uint8Array | undefined,
): void {
  const response = saved ? decodeResponseFinalizeBlock(saved) : null;
  if (!response || isRefusal(response)) {
    return v.halt(
      `the application's answer for height ${block.header.height} is missing in the store. Resync this node`,
    );
  }
  const { appHash } = running(v);
  if (!equalBytes(appHash, response.appHash))
    return mismatch(v, appHash, response.appHash, block.header.height);
  const { round, blockId: id } = commit;
  const answer = answerOf(v, { id, block }, response, saved ?? unreachable('decoded'));
  if (isRefusal(answer))
    return v.halt(
      `the saved answer for height ${block.header.height} breaks the chain: ${answer.because}. Resync this node`,
    );
  v.execution = { id, block, round, commit, source: 'handshake', answer };
  onCommitted(v, 0n);
  afterApply(v);
}

/** FinalizeBlock and Commit answers while the application catches up alone. */
export function onReplayFinalized(v: ValidatorState, response: ResponseFinalizeBlock): void {
  const shaking = running(v);
  const results = response.txResults.length;
  if (results !== shaking.txs)
    return v.halt(
      `the application gives ${results} results for ${shaking.txs} transactions of a block that it executes again. Fix it and restart this node`,
    );
  shaking.response = response;
  shaking.stage = 'committing';
  v.ask({ for: 'commit' }, COMMIT);
}

export function onReplayCommitted(v: ValidatorState): void {
  const shaking = running(v);
  const response = shaking.response ?? unreachable('finalized');
  const read = shaking.read ?? unreachable('read');
  shaking.appHeight = read.height;
  shaking.appHash = response.appHash;
  const S = stateHeight(v);
  const B = v.store.height;
  if (shaking.appHeight < S || B > S) return readHeight(v, shaking.appHeight + 1n);
  if (!equalBytes(response.appHash, v.chain.appHash)) return mismatch(v, response.appHash);
  done(v);
}

/** ApplyBlock of the last stored block is done. */
export function afterApply(v: ValidatorState): void {
  if (v.mode === 'handshake') done(v);
}

/** @param expected by the state, or by the next block's header, of the application at this height */
function mismatch(
  v: ValidatorState,
  got: Uint8Array,
  expected = v.chain.appHash,
  height = v.chain.lastBlockHeight,
): void {
  v.halt(
    `state.AppHash does not match AppHash after replay. Got ${hexUpperOf(got)}, expected ${hexUpperOf(expected)}` +
      ` at height ${height}. Did you reset the node without resetting your application's data?`,
  );
}

function done(v: ValidatorState): void {
  const shaking = running(v);
  shaking.stage = 'done';
  v.chain = sharedStart(v.chain);
  const first = heightAfter(v.chain);
  v.history.setFrom(first, v.chain.validators);
  v.history.setFrom(first + 1n, v.chain.nextValidators);
  shaking.whenDone(v);
}
