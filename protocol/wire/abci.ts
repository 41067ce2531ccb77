// The bytes between a node and its application: ABCI 2.0 requests and responses (spec 3.5), without the
// length prefix of the socket.

import type {
  AbciRequest,
  AbciResponse,
  RequestFinalizeBlock,
  RequestInitChain,
  RequestPrepareProposal,
  RequestProcessProposal,
} from '../abci.ts';
import * as proto from '../gen/abci.ts';
import { hotRequest, hotResponse } from './abci-hot.ts';
import {
  fromCommitInfo,
  fromExtendedCommitInfo,
  fromFinalized,
  fromMisbehavior,
  fromResult,
  toCommitInfo,
  toExtendedCommitInfo,
  toFinalized,
  toMisbehavior,
  toResult,
} from './abci-parts.ts';
import {
  decodeGenerated,
  fromParams,
  fromTimestamp,
  fromValidatorUpdate,
  list,
  toParams,
  toTimestamp,
  toValidatorUpdate,
} from './generated.ts';
import { Malformed, type MalformedBytes } from './reader.ts';
import { NO_PARAMS } from './state.ts';

export {
  decodeExecTxResult,
  decodeResponseFinalizeBlock,
  encodeExecTxResult,
  encodeResponseFinalizeBlock,
} from './abci-parts.ts';

type Context = Pick<
  RequestFinalizeBlock,
  'txs' | 'misbehavior' | 'height' | 'timeNs' | 'nextValidatorsHash' | 'proposerAddress'
>;

/** The part that the three requests about a block share. */
const toContext = (request: Context) => ({
  txs: list(request.txs),
  misbehavior: request.misbehavior.map(toMisbehavior),
  height: request.height,
  time: toTimestamp(request.timeNs),
  nextValidatorsHash: request.nextValidatorsHash,
  proposerAddress: request.proposerAddress,
});

const fromContext = (
  request: Omit<ReturnType<typeof toContext>, 'time'> & { time: proto.Misbehavior['time'] },
): Context => ({
  txs: request.txs,
  misbehavior: request.misbehavior.map(fromMisbehavior),
  height: request.height,
  timeNs: fromTimestamp(request.time),
  nextValidatorsHash: request.nextValidatorsHash,
  proposerAddress: request.proposerAddress,
});

const toInitChain = (request: RequestInitChain): proto.RequestInitChain => ({
  time: toTimestamp(request.timeNs),
  chainId: request.chainId,
  consensusParams: toParams(request.consensusParams),
  validators: request.validators.map(toValidatorUpdate),
  appStateBytes: request.appStateBytes,
  initialHeight: request.initialHeight,
});

const fromInitChain = (request: proto.RequestInitChain): RequestInitChain => ({
  timeNs: fromTimestamp(request.time),
  chainId: request.chainId,
  consensusParams: { ...NO_PARAMS, ...(request.consensusParams && fromParams(request.consensusParams)) },
  validators: request.validators.map(fromValidatorUpdate),
  appStateBytes: request.appStateBytes,
  initialHeight: request.initialHeight,
});

const toPrepare = (request: RequestPrepareProposal): proto.RequestPrepareProposal => ({
  ...toContext(request),
  maxTxBytes: request.maxTxBytes,
  localLastCommit: toExtendedCommitInfo(request.localLastCommit),
});

const fromPrepare = (request: proto.RequestPrepareProposal): RequestPrepareProposal => ({
  ...fromContext(request),
  maxTxBytes: request.maxTxBytes,
  localLastCommit: fromExtendedCommitInfo(request.localLastCommit),
});

const toProcess = (request: RequestProcessProposal): proto.RequestProcessProposal => ({
  ...toContext(request),
  proposedLastCommit: toCommitInfo(request.proposedLastCommit),
  hash: request.hash,
});

const fromProcess = (request: proto.RequestProcessProposal): RequestProcessProposal => ({
  ...fromContext(request),
  proposedLastCommit: fromCommitInfo(request.proposedLastCommit),
  hash: request.hash,
});

const toFinalize = (request: RequestFinalizeBlock): proto.RequestFinalizeBlock => ({
  ...toContext(request),
  decidedLastCommit: toCommitInfo(request.decidedLastCommit),
  hash: request.hash,
});

const fromFinalize = (request: proto.RequestFinalizeBlock): RequestFinalizeBlock => ({
  ...fromContext(request),
  decidedLastCommit: fromCommitInfo(request.decidedLastCommit),
  hash: request.hash,
});

function toRequest(request: AbciRequest): NonNullable<proto.Request['value']> {
  switch (request.type) {
    case 'info':
      return { $case: 'info', info: request.value };
    case 'init-chain':
      return { $case: 'initChain', initChain: toInitChain(request.value) };
    case 'query':
      return { $case: 'query', query: request.value };
    case 'check-tx':
      return {
        $case: 'checkTx',
        checkTx: { tx: request.value.tx, type: request.value.type as proto.CheckTxType },
      };
    case 'prepare-proposal':
      return { $case: 'prepareProposal', prepareProposal: toPrepare(request.value) };
    case 'process-proposal':
      return { $case: 'processProposal', processProposal: toProcess(request.value) };
    case 'finalize-block':
      return { $case: 'finalizeBlock', finalizeBlock: toFinalize(request.value) };
    case 'commit':
      return { $case: 'commit', commit: {} };
  }
}

function fromRequest({ value }: proto.Request): AbciRequest {
  switch (value?.$case) {
    case 'info':
      return { type: 'info', value: value.info };
    case 'initChain':
      return { type: 'init-chain', value: fromInitChain(value.initChain) };
    case 'query':
      return { type: 'query', value: value.query };
    case 'checkTx':
      return { type: 'check-tx', value: value.checkTx };
    case 'prepareProposal':
      return { type: 'prepare-proposal', value: fromPrepare(value.prepareProposal) };
    case 'processProposal':
      return { type: 'process-proposal', value: fromProcess(value.processProposal) };
    case 'finalizeBlock':
      return { type: 'finalize-block', value: fromFinalize(value.finalizeBlock) };
    case 'commit':
      return { type: 'commit', value: {} };
    default:
      throw new Malformed(`no request that is spoken here: ${value?.$case ?? 'empty'}`);
  }
}

function toResponse(response: AbciResponse): NonNullable<proto.Response['value']> {
  switch (response.type) {
    case 'exception':
      return { $case: 'exception', exception: response.value };
    case 'info':
      return { $case: 'info', info: response.value };
    case 'init-chain': {
      const { consensusParams, validators, appHash } = response.value;
      const initChain: proto.ResponseInitChain = {
        consensusParams: consensusParams && toParams(consensusParams),
        validators: validators.map(toValidatorUpdate),
        appHash,
      };
      return { $case: 'initChain', initChain };
    }
    case 'query':
      return { $case: 'query', query: { ...response.value, proofOps: undefined } };
    case 'check-tx':
      return { $case: 'checkTx', checkTx: toResult(response.value) };
    case 'prepare-proposal':
      return { $case: 'prepareProposal', prepareProposal: { txs: list(response.value.txs) } };
    case 'process-proposal': {
      const status = response.value.status as proto.ResponseProcessProposal['status'];
      return { $case: 'processProposal', processProposal: { status } };
    }
    case 'finalize-block':
      return { $case: 'finalizeBlock', finalizeBlock: toFinalized(response.value) };
    case 'commit':
      return { $case: 'commit', commit: response.value };
  }
}

function fromResponse({ value }: proto.Response): AbciResponse {
  switch (value?.$case) {
    case 'exception':
      return { type: 'exception', value: value.exception };
    case 'info':
      return { type: 'info', value: value.info };
    case 'initChain': {
      const { consensusParams, validators, appHash } = value.initChain;
      const updates = validators.map(fromValidatorUpdate);
      const params = consensusParams && { consensusParams: fromParams(consensusParams) };
      return { type: 'init-chain', value: { ...params, validators: updates, appHash } };
    }
    case 'query': {
      const { proofOps: _, ...query } = value.query; // proofs are not asked for here
      return { type: 'query', value: query };
    }
    case 'checkTx':
      return { type: 'check-tx', value: fromResult(value.checkTx) };
    case 'prepareProposal':
      return { type: 'prepare-proposal', value: value.prepareProposal };
    case 'processProposal':
      return { type: 'process-proposal', value: value.processProposal };
    case 'finalizeBlock':
      return { type: 'finalize-block', value: fromFinalized(value.finalizeBlock) };
    case 'commit':
      return { type: 'commit', value: value.commit };
    default:
      throw new Malformed(`no response that is spoken here: ${value?.$case ?? 'empty'}`);
  }
}

export const encodeAbciRequest = (request: AbciRequest): Uint8Array =>
  hotRequest(request) ?? encodeAbciRequestGenerated(request);
/** The same bytes by the generated code: the oracle of `abci-hot.ts`. */
export const encodeAbciRequestGenerated = (request: AbciRequest): Uint8Array =>
  proto.Request.encode({ value: toRequest(request) }).finish();
export const decodeAbciRequest = (bytes: Uint8Array): AbciRequest | MalformedBytes =>
  decodeGenerated('abci.Request', bytes, (from) => proto.Request.decode(from), fromRequest);

export const encodeAbciResponse = (response: AbciResponse): Uint8Array =>
  hotResponse(response) ?? encodeAbciResponseGenerated(response);
export const encodeAbciResponseGenerated = (response: AbciResponse): Uint8Array =>
  proto.Response.encode({ value: toResponse(response) }).finish();
export const decodeAbciResponse = (bytes: Uint8Array): AbciResponse | MalformedBytes =>
  decodeGenerated('abci.Response', bytes, (from) => proto.Response.decode(from), fromResponse);

export const encodeRequestFinalizeBlock = (request: RequestFinalizeBlock): Uint8Array =>
  proto.RequestFinalizeBlock.encode(toFinalize(request)).finish();
export const decodeRequestFinalizeBlock = (bytes: Uint8Array): RequestFinalizeBlock | MalformedBytes =>
  decodeGenerated(
    'RequestFinalizeBlock',
    bytes,
    (from) => proto.RequestFinalizeBlock.decode(from),
    fromFinalize,
  );
