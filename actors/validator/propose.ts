// Makes a proposal in our turn: evidence and transactions that have room, what the application makes of them, a block, a signature; or the
// valid block again. Log, sync, and only then send it.

import { commitOf, timelyCommit } from '../../machines/chain/commits.ts';
import type { Said } from '../../machines/consensus/said.ts';
import type { ResponsePrepareProposal } from '../../protocol/abci.ts';
import { settled } from '../../protocol/bytes.ts';
import { headerHash } from '../../protocol/hashes.ts';
import { PartSet } from '../../protocol/part-set.ts';
import { isRefusal, unreachable } from '../../protocol/refusal.ts';
import { roomInBlock } from '../../protocol/rules/block-room.ts';
import { blockBytesMax } from '../../protocol/rules/params.ts';
import { extendedCommitInfo, makeBlock, misbehaviorOf } from '../../protocol/rules/state.ts';
import { hashOfSet } from '../../protocol/rules/validator-set.ts';
import { protoSizeOfTx } from '../../protocol/tx-size.ts';
import {
  BLOCK_BYTES_MAX,
  BLOCK_TXS_MAX,
  type BlockId,
  type Commit,
  EMPTY_BYTES,
  NIL_BLOCK_ID,
  PROPOSAL,
  type Proposal,
} from '../../protocol/types.ts';
import { encodeBlock } from '../../protocol/wire/index.ts';
import { broadcast } from './gossiping.ts';
import { ownRecord } from './logbook.ts';
import type { ValidatorState } from './state.ts';
import { payloadOf, rememberBlock } from './words.ts';

export function propose(v: ValidatorState, said: Extract<Said, { say: 'propose' }>): void {
  if (v.isReplaying) {
    v.unproposed = said.round; // what was said is in the log, and comes next; what was not may still be said after it
    return;
  }
  const { consensus, chain } = v;
  if (said.valid) {
    requestProposal(v, said.round, said.polRound, said.valid.id);
    return;
  }
  const params = chain.consensusParams;
  const [voters, signers] = [consensus.validators.validators.length, chain.lastValidators.validators.length];
  const found = roomInBlock(blockBytesMax(params), voters, signers);
  // The commit may be smaller, as some were absent: the block is measured when it is made.
  const most = isRefusal(found) && found.refused === 'commit-too-large' ? 0n : found;
  if (isRefusal(most)) return v.halt(`no block can be proposed: ${most.because}`); // so it was synced
  // Evidence may be allowed more than a block has room for: liars would stop whoever proposes (CometBFT panics: "Negative MaxDataBytes").
  const { evidence, bytes } = v.evidencePool.take(
    params.evidence.maxBytes < most ? params.evidence.maxBytes : most,
  );
  const room = most - bytes;
  v.proposing = {
    height: consensus.height,
    round: said.round,
    evidence,
    bytesMax: room,
    lastCommit: null,
  };
  const reapMax = params.block.maxBytes === -1n ? REAP_BYTES_MAX : room;
  v.reapsDue++;
  v.tell('mempool', { type: 'reap', bytesMax: reapMax, gasMax: params.block.maxGas });
}

/**
 * Where a block has no bound of its own the application may choose among so much: CometBFT gives it all of the mempool, which may be a GiB, and here
 * that were one message, and one record of a trace.
 */
const REAP_BYTES_MAX = 2n * BLOCK_BYTES_MAX;

/** Of a round that we have left, or of a height that is decided: the application has its block, and is asked for no other. */
function isStale(v: ValidatorState): boolean {
  const { proposing, consensus } = v;
  if (!proposing || consensus.decision !== null) return true;
  return proposing.height !== consensus.height || proposing.round !== consensus.round;
}

/** The commit that our proposal carries: what we saw decide the height before. History keeps it longer than the votes. */
function lastCommitOf(v: ValidatorState): Commit {
  const { consensus, chain } = v;
  if (!consensus.lastCommit) return { height: 0n, round: 0, blockId: NIL_BLOCK_ID, signatures: [] };
  const { precommits, round } = consensus.lastCommit;
  const commit = commitOf(precommits, chain.lastBlockHeight, round, chain.lastBlockId);
  const signatures = commit.signatures.map((each) => ({
    ...each,
    validatorAddress: settled(each.validatorAddress),
    signature: settled(each.signature),
  }));
  return { ...commit, signatures };
}

export function onReaped(v: ValidatorState, txs: readonly Uint8Array[]): void {
  v.reapsDue--;
  if (v.reapsDue > 0 || isStale(v) || v.mode !== 'consensus') return;
  const proposing = v.proposing ?? unreachable('checked');
  const { chain, config } = v;
  const lastCommit = timelyCommit(lastCommitOf(v), chain.lastValidators, chain.lastBlockTimeNs);
  proposing.lastCommit = lastCommit;
  const draft = makeBlock(chain, proposing.height, [], lastCommit, proposing.evidence, addressOf(v));
  v.ask(
    { for: 'prepare', height: proposing.height, round: proposing.round },
    {
      type: 'prepare-proposal',
      value: {
        maxTxBytes: proposing.bytesMax,
        txs,
        localLastCommit:
          lastCommit.signatures.length === 0
            ? { round: 0, votes: [] }
            : extendedCommitInfo(lastCommit, chain.lastValidators),
        misbehavior: misbehaviorOf(proposing.evidence),
        height: proposing.height,
        timeNs: draft.header.timeNs,
        nextValidatorsHash: hashOfSet(chain.nextValidators),
        proposerAddress: (config.key ?? unreachable('only validators propose')).address,
      },
    },
  );
}

const addressOf = (v: ValidatorState): Uint8Array =>
  (v.config.key ?? unreachable('only validators propose')).address;

/** An application may take longer over it than a round lasts: what it prepared for one has no place in the next. */
export function onPrepared(v: ValidatorState, round: number, response: ResponsePrepareProposal): void {
  if (isStale(v) || v.mode !== 'consensus') return;
  const proposing = v.proposing ?? unreachable('checked');
  if (proposing.round !== round) return;
  const { consensus, chain } = v;
  const size = response.txs.reduce((sum, tx) => sum + BigInt(protoSizeOfTx(tx.length)), 0n);
  if (size > proposing.bytesMax) {
    v.halt(
      `PrepareProposal returned ${size} bytes of transactions; max_tx_bytes was ${proposing.bytesMax}. Fix the application`,
    );
    return;
  }
  if (response.txs.length > BLOCK_TXS_MAX) {
    const what = `PrepareProposal returned ${response.txs.length} transactions; no block has more than ${BLOCK_TXS_MAX}`;
    return v.halt(`${what}. Fix the application`);
  }
  const block = makeBlock(
    chain,
    proposing.height,
    response.txs,
    proposing.lastCommit ?? unreachable('reaped before it was prepared'),
    proposing.evidence,
    addressOf(v),
  );
  v.proposing = null; // its commit would keep the votes of its height in memory until we propose again
  const bytes = encodeBlock(block);
  const bytesMax = blockBytesMax(chain.consensusParams);
  if (BigInt(bytes.length) > bytesMax)
    return v.halt(`no block can be proposed: the least takes ${bytes.length} bytes of ${bytesMax}`);
  rememberBlock(bytes, block);
  const parts = PartSet.whole(bytes);
  const id: BlockId = { hash: headerHash(block.header), parts: parts.header };
  consensus.blocks.put(id, parts, block, proposing.round);
  requestProposal(v, proposing.round, -1, id);
}

function requestProposal(v: ValidatorState, round: number, polRound: number, blockId: BlockId): void {
  const proposal: Proposal = {
    type: PROPOSAL,
    height: v.consensus.height,
    round,
    polRound,
    blockId,
    timeNs: v.turn.wallNs,
    signature: EMPTY_BYTES,
  };
  v.does({ type: 'sync', log: 'consensus' });
  v.tell('signer', { type: 'sign-proposal', proposal });
}

export function onSignedProposal(v: ValidatorState, proposal: Proposal): void {
  const { consensus } = v;
  if (v.mode !== 'consensus' || proposal.height !== consensus.height) return;
  const entry = consensus.blocks.get(proposal.blockId);
  if (!entry?.block) return; // the signer remembered a proposal of an earlier life, whose block is gone
  consensus.blocks.endSigning(proposal.round);
  consensus.onProposal(proposal);
  const payloads = [payloadOf({ type: 'proposal', proposal })];
  for (let i = 0; i < entry.id.parts.total; i++) {
    const part = entry.parts.part(i) ?? unreachable('our own block is whole');
    payloads.push(payloadOf({ type: 'block-part', height: proposal.height, round: proposal.round, part }));
  }
  for (const payload of payloads) {
    v.does({ type: 'append', log: 'consensus', record: ownRecord(payload) });
  }
  v.does({ type: 'sync', log: 'consensus' });
  broadcast(v, payloads, (view) => {
    if (view.height !== consensus.height) return;
    view.takeProposal(proposal.round, proposal.blockId);
    view.takeMissingParts(entry.id.parts, (index) => entry.parts.part(index), entry.id.parts.total);
  });
}
