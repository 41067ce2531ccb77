// The pieces that ABCI messages share (spec 3.5), between their generated and their domain forms.

import type {
  AbciEvent,
  AbciValidator,
  CommitInfo,
  ExecTxResult,
  ExtendedCommitInfo,
  Misbehavior,
  ResponseCheckTx,
  ResponseFinalizeBlock,
} from '../abci.ts';
import * as proto from '../gen/abci.ts';
import type { BlockIDFlag } from '../gen/types.ts';
import { EMPTY_BYTES } from '../types.ts';
import { finalizedBytes } from './abci-hot.ts';
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
import type { MalformedBytes } from './reader.ts';

const NO_VALIDATOR: AbciValidator = { address: EMPTY_BYTES, power: 0n };

const toEvent = (event: AbciEvent): proto.Event => ({ type: event.type, attributes: list(event.attributes) });

/** ExecTxResult and ResponseCheckTx have the same fields under the same numbers. */
export const toResult = (result: ExecTxResult | ResponseCheckTx): proto.ExecTxResult => ({
  code: result.code,
  data: result.data,
  log: result.log,
  info: result.info,
  gasWanted: result.gasWanted,
  gasUsed: result.gasUsed,
  events: result.events.map(toEvent),
  codespace: result.codespace,
});
export const fromResult = (result: proto.ExecTxResult): ExecTxResult => result;

export const toCommitInfo = (info: CommitInfo): proto.CommitInfo => ({
  round: info.round,
  votes: info.votes.map((vote) => ({ validator: vote.validator, blockIdFlag: vote.flag as BlockIDFlag })),
});

export const fromCommitInfo = (info: proto.CommitInfo | undefined): CommitInfo => ({
  round: info?.round ?? 0,
  votes: (info?.votes ?? []).map((vote) => ({
    validator: vote.validator ?? NO_VALIDATOR,
    flag: vote.blockIdFlag,
  })),
});

export const toExtendedCommitInfo = (info: ExtendedCommitInfo): proto.ExtendedCommitInfo => ({
  round: info.round,
  votes: info.votes.map((vote) => ({
    validator: vote.validator,
    voteExtension: vote.voteExtension,
    extensionSignature: vote.extensionSignature,
    blockIdFlag: vote.flag as BlockIDFlag,
  })),
});

export const fromExtendedCommitInfo = (info: proto.ExtendedCommitInfo | undefined): ExtendedCommitInfo => ({
  round: info?.round ?? 0,
  votes: (info?.votes ?? []).map((vote) => ({
    validator: vote.validator ?? NO_VALIDATOR,
    flag: vote.blockIdFlag,
    voteExtension: vote.voteExtension,
    extensionSignature: vote.extensionSignature,
  })),
});

export const toMisbehavior = (one: Misbehavior): proto.Misbehavior => ({
  type: one.type as proto.MisbehaviorType,
  validator: one.validator,
  height: one.height,
  time: toTimestamp(one.timeNs),
  totalVotingPower: one.powerTotal,
});

export const fromMisbehavior = (one: proto.Misbehavior): Misbehavior => ({
  type: one.type,
  validator: one.validator ?? NO_VALIDATOR,
  height: one.height,
  timeNs: fromTimestamp(one.time),
  powerTotal: one.totalVotingPower,
});

export const toFinalized = (response: ResponseFinalizeBlock): proto.ResponseFinalizeBlock => ({
  events: response.events.map(toEvent),
  txResults: response.txResults.map(toResult),
  validatorUpdates: response.validatorUpdates.map(toValidatorUpdate),
  consensusParamUpdates: response.consensusParamUpdates && toParams(response.consensusParamUpdates),
  appHash: response.appHash,
});

export const fromFinalized = (response: proto.ResponseFinalizeBlock): ResponseFinalizeBlock => ({
  events: response.events,
  txResults: response.txResults,
  validatorUpdates: response.validatorUpdates.map(fromValidatorUpdate),
  ...(response.consensusParamUpdates && {
    consensusParamUpdates: fromParams(response.consensusParamUpdates),
  }),
  appHash: response.appHash,
});

export const encodeExecTxResult = (result: ExecTxResult): Uint8Array =>
  proto.ExecTxResult.encode(toResult(result)).finish();
export const decodeExecTxResult = (bytes: Uint8Array): ExecTxResult | MalformedBytes =>
  decodeGenerated('ExecTxResult', bytes, (from) => proto.ExecTxResult.decode(from), fromResult);

/** What is stored of a block's execution, and asked for again by RPC and by recovery. */
export const encodeResponseFinalizeBlock = (response: ResponseFinalizeBlock): Uint8Array =>
  response.consensusParamUpdates ? encodeFinalizedGenerated(response) : finalizedBytes(response);
export const encodeFinalizedGenerated = (response: ResponseFinalizeBlock): Uint8Array =>
  proto.ResponseFinalizeBlock.encode(toFinalized(response)).finish();
export const decodeResponseFinalizeBlock = (bytes: Uint8Array): ResponseFinalizeBlock | MalformedBytes =>
  decodeGenerated(
    'ResponseFinalizeBlock',
    bytes,
    (from) => proto.ResponseFinalizeBlock.decode(from),
    fromFinalized,
  );
