// ABCI messages that a block costs, written by hand: the generated code allocates an object per field and is the oracle in the tests.

import type {
  AbciEvent,
  AbciRequest,
  AbciResponse,
  AbciValidator,
  CommitInfo,
  ExecTxResult,
  ExtendedCommitInfo,
  Misbehavior,
  RequestFinalizeBlock,
  RequestPrepareProposal,
  RequestProcessProposal,
  ResponseCheckTx,
  ResponseFinalizeBlock,
} from '../abci.ts';
import { Lately } from '../lately.ts';
import type { ValidatorUpdate } from '../types.ts';
import { encodeWith, type ProtoWriter } from './writer.ts';

function validator(w: ProtoWriter, { address, power }: AbciValidator): void {
  w.bytes(0x0a, address);
  w.int64(0x18, power);
}

function commitInfo(w: ProtoWriter, info: CommitInfo): void {
  w.int(0x08, info.round);
  for (const vote of info.votes) {
    const start = w.open(0x12);
    w.message(0x0a, validator, vote.validator);
    w.int(0x18, vote.flag);
    w.close(start);
  }
}

function extendedCommitInfo(w: ProtoWriter, info: ExtendedCommitInfo): void {
  w.int(0x08, info.round);
  for (const vote of info.votes) {
    const start = w.open(0x12);
    w.message(0x0a, validator, vote.validator);
    w.bytes(0x1a, vote.voteExtension);
    w.bytes(0x22, vote.extensionSignature);
    w.int(0x28, vote.flag);
    w.close(start);
  }
}

function misbehavior(w: ProtoWriter, one: Misbehavior): void {
  w.int(0x08, one.type);
  w.message(0x12, validator, one.validator);
  w.int64(0x18, one.height);
  w.time(0x22, one.timeNs);
  w.int64(0x28, one.powerTotal);
}

function prepare(w: ProtoWriter, request: RequestPrepareProposal): void {
  w.int64(0x08, request.maxTxBytes);
  for (const tx of request.txs) w.chosenBytes(0x12, tx);
  w.message(0x1a, extendedCommitInfo, request.localLastCommit);
  for (const one of request.misbehavior) w.message(0x22, misbehavior, one);
  tail(w, request);
}

function aboutBlock(
  w: ProtoWriter,
  request: RequestProcessProposal | RequestFinalizeBlock,
  info: CommitInfo,
): void {
  for (const tx of request.txs) w.chosenBytes(0x0a, tx);
  w.message(0x12, commitInfo, info);
  for (const one of request.misbehavior) w.message(0x1a, misbehavior, one);
  w.bytes(0x22, request.hash);
  tail(w, request);
}

/** Fields 5 to 8 of the three requests about a block. */
function tail(w: ProtoWriter, request: Omit<RequestFinalizeBlock, 'decidedLastCommit' | 'hash'>): void {
  w.int64(0x28, request.height);
  w.time(0x32, request.timeNs);
  w.bytes(0x3a, request.nextValidatorsHash);
  w.bytes(0x42, request.proposerAddress);
}

function event(w: ProtoWriter, { type, attributes }: AbciEvent): void {
  w.text(0x0a, type);
  for (const { key, value, index } of attributes) {
    const start = w.open(0x12);
    w.text(0x0a, key);
    w.text(0x12, value);
    w.bool(0x18, index);
    w.close(start);
  }
}

function txResult(w: ProtoWriter, result: ExecTxResult | ResponseCheckTx): void {
  w.int(0x08, result.code);
  w.bytes(0x12, result.data);
  w.text(0x1a, result.log);
  w.text(0x22, result.info);
  w.int64(0x28, result.gasWanted);
  w.int64(0x30, result.gasUsed);
  for (const each of result.events) w.message(0x3a, event, each);
  w.text(0x42, result.codespace);
}

function update(w: ProtoWriter, { publicKey, power }: ValidatorUpdate): void {
  const start = w.open(0x0a);
  w.chosenBytes(publicKey.type === 'ed25519' ? 0x0a : 0x12, publicKey.bytes);
  w.close(start);
  w.int64(0x10, power);
}

/** Without parameter updates, which are seldom and left to the generated code. */
function writeFinalized(w: ProtoWriter, response: ResponseFinalizeBlock): void {
  for (const each of response.events) w.message(0x0a, event, each);
  for (const each of response.txResults) w.message(0x12, txResult, each);
  for (const each of response.validatorUpdates) w.message(0x1a, update, each);
  w.bytes(0x2a, response.appHash);
}

const finalized = new Lately<ResponseFinalizeBlock, Uint8Array>(16);

/** Without parameter updates. What is told to the node is what it stores. */
export const finalizedBytes = (response: ResponseFinalizeBlock): Uint8Array =>
  finalized.of(response, encodeFinalized);

const encodeFinalized = (response: ResponseFinalizeBlock): Uint8Array => encodeWith(writeFinalized, response);

/** Tags of oneof members above 15 take two bytes. */
const FAR = { prepareProposal: 130, processProposal: 138, finalizeBlock: 162 } as const;
const FAR_ANSWER = { prepareProposal: 138, processProposal: 146, finalizeBlock: 170 } as const;

/** Null: not one of the hot ones. */
export function hotRequest(request: AbciRequest): Uint8Array | null {
  switch (request.type) {
    case 'check-tx':
      return encodeWith((w, { tx, type }) => {
        const start = w.open(0x42);
        w.bytes(0x0a, tx);
        w.int(0x10, type);
        w.close(start);
      }, request.value);
    case 'prepare-proposal':
      return encodeWith((w, value) => w.farMessage(FAR.prepareProposal, prepare, value), request.value);
    case 'process-proposal':
      return encodeWith((w, value) => {
        const start = w.openFar(FAR.processProposal);
        aboutBlock(w, value, value.proposedLastCommit);
        w.close(start);
      }, request.value);
    case 'finalize-block':
      return encodeWith((w, value) => {
        const start = w.openFar(FAR.finalizeBlock);
        aboutBlock(w, value, value.decidedLastCommit);
        w.close(start);
      }, request.value);
    case 'commit':
      return Uint8Array.of(0x5a, 0);
    default:
      return null;
  }
}

export function hotResponse(response: AbciResponse): Uint8Array | null {
  switch (response.type) {
    case 'check-tx':
      return encodeWith((w, value) => w.message(0x4a, txResult, value), response.value);
    case 'prepare-proposal':
      return encodeWith((w, { txs }) => {
        const start = w.openFar(FAR_ANSWER.prepareProposal);
        for (const tx of txs) w.chosenBytes(0x0a, tx);
        w.close(start);
      }, response.value);
    case 'process-proposal':
      return encodeWith((w, { status }) => {
        const start = w.openFar(FAR_ANSWER.processProposal);
        w.int(0x08, status);
        w.close(start);
      }, response.value);
    case 'finalize-block':
      if (response.value.consensusParamUpdates) return null;
      return encodeWith(
        (w, bytes) => w.farBytes(FAR_ANSWER.finalizeBlock, bytes),
        finalizedBytes(response.value),
      );
    case 'commit':
      return encodeWith((w, { retainHeight }) => {
        const start = w.open(0x62);
        w.int64(0x18, retainHeight);
        w.close(start);
      }, response.value);
    default:
      return null;
  }
}
