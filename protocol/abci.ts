// ABCI 2.0 words as the node and its applications speak them (spec 3.5). Field names follow the protobuf, in camel case.

import type { ConsensusParams, ConsensusParamsUpdate, PublicKey, TimeNs, ValidatorUpdate } from './types.ts';

export interface EventAttribute {
  readonly key: string;
  readonly value: string;
  readonly index: boolean;
}
export interface AbciEvent {
  readonly type: string;
  readonly attributes: readonly EventAttribute[];
}
export interface ExecTxResult {
  readonly code: number;
  readonly data: Uint8Array;
  readonly log: string;
  readonly info: string;
  readonly gasWanted: bigint;
  readonly gasUsed: bigint;
  readonly events: readonly AbciEvent[];
  readonly codespace: string;
}
export interface AbciValidator {
  readonly address: Uint8Array;
  readonly power: bigint;
}
export interface VoteInfo {
  readonly validator: AbciValidator;
  readonly flag: number;
}
export interface CommitInfo {
  readonly round: number;
  readonly votes: readonly VoteInfo[];
}
export interface ExtendedVoteInfo extends VoteInfo {
  readonly voteExtension: Uint8Array;
  readonly extensionSignature: Uint8Array;
}
export interface ExtendedCommitInfo {
  readonly round: number;
  readonly votes: readonly ExtendedVoteInfo[];
}
export const MISBEHAVIOR_DUPLICATE_VOTE = 1;
export const MISBEHAVIOR_LIGHT_CLIENT_ATTACK = 2;
export interface Misbehavior {
  readonly type: number;
  readonly validator: AbciValidator;
  readonly height: bigint;
  readonly timeNs: TimeNs;
  readonly powerTotal: bigint;
}

export interface RequestInfo {
  readonly version: string;
  readonly blockVersion: bigint;
  readonly p2pVersion: bigint;
  readonly abciVersion: string;
}
export interface ResponseInfo {
  readonly data: string;
  readonly version: string;
  readonly appVersion: bigint;
  readonly lastBlockHeight: bigint;
  readonly lastBlockAppHash: Uint8Array;
}
export interface RequestInitChain {
  readonly timeNs: TimeNs;
  readonly chainId: string;
  readonly consensusParams: ConsensusParams;
  readonly validators: readonly ValidatorUpdate[];
  readonly appStateBytes: Uint8Array;
  readonly initialHeight: bigint;
}
export interface ResponseInitChain {
  readonly consensusParams?: ConsensusParamsUpdate;
  readonly validators: readonly ValidatorUpdate[];
  readonly appHash: Uint8Array;
}
export interface RequestQuery {
  readonly data: Uint8Array;
  readonly path: string;
  readonly height: bigint;
  readonly prove: boolean;
}
export interface ResponseQuery {
  readonly code: number;
  readonly log: string;
  readonly info: string;
  readonly index: bigint;
  readonly key: Uint8Array;
  readonly value: Uint8Array;
  readonly height: bigint;
  readonly codespace: string;
}
export const CHECK_TX_NEW = 0;
export const CHECK_TX_RECHECK = 1;
export interface RequestCheckTx {
  readonly tx: Uint8Array;
  readonly type: number;
}
export interface ResponseCheckTx {
  readonly code: number;
  readonly data: Uint8Array;
  readonly log: string;
  readonly info: string;
  readonly gasWanted: bigint;
  readonly gasUsed: bigint;
  readonly events: readonly AbciEvent[];
  readonly codespace: string;
}
interface ProposalContext {
  readonly txs: readonly Uint8Array[];
  readonly misbehavior: readonly Misbehavior[];
  readonly height: bigint;
  readonly timeNs: TimeNs;
  readonly nextValidatorsHash: Uint8Array;
  readonly proposerAddress: Uint8Array;
}
export interface RequestPrepareProposal extends ProposalContext {
  readonly maxTxBytes: bigint;
  readonly localLastCommit: ExtendedCommitInfo;
}
export interface ResponsePrepareProposal {
  readonly txs: readonly Uint8Array[];
}
export interface RequestProcessProposal extends ProposalContext {
  readonly proposedLastCommit: CommitInfo;
  readonly hash: Uint8Array;
}
export const PROCESS_PROPOSAL_ACCEPT = 1;
export const PROCESS_PROPOSAL_REJECT = 2;
export interface ResponseProcessProposal {
  readonly status: number;
}
export interface RequestFinalizeBlock extends ProposalContext {
  readonly decidedLastCommit: CommitInfo;
  readonly hash: Uint8Array;
}
export interface ResponseFinalizeBlock {
  readonly events: readonly AbciEvent[];
  readonly txResults: readonly ExecTxResult[];
  readonly validatorUpdates: readonly ValidatorUpdate[];
  readonly consensusParamUpdates?: ConsensusParamsUpdate;
  readonly appHash: Uint8Array;
}
export interface ResponseCommit {
  readonly retainHeight: bigint;
}

/** One request, one response, by name: the union that travels between the node and its application. */
export type AbciRequest =
  | { readonly type: 'info'; readonly value: RequestInfo }
  | { readonly type: 'init-chain'; readonly value: RequestInitChain }
  | { readonly type: 'query'; readonly value: RequestQuery }
  | { readonly type: 'check-tx'; readonly value: RequestCheckTx }
  | { readonly type: 'prepare-proposal'; readonly value: RequestPrepareProposal }
  | { readonly type: 'process-proposal'; readonly value: RequestProcessProposal }
  | { readonly type: 'finalize-block'; readonly value: RequestFinalizeBlock }
  | { readonly type: 'commit'; readonly value: Record<never, never> };

export type AbciResponse =
  | { readonly type: 'exception'; readonly value: { readonly error: string } }
  | { readonly type: 'info'; readonly value: ResponseInfo }
  | { readonly type: 'init-chain'; readonly value: ResponseInitChain }
  | { readonly type: 'query'; readonly value: ResponseQuery }
  | { readonly type: 'check-tx'; readonly value: ResponseCheckTx }
  | { readonly type: 'prepare-proposal'; readonly value: ResponsePrepareProposal }
  | { readonly type: 'process-proposal'; readonly value: ResponseProcessProposal }
  | { readonly type: 'finalize-block'; readonly value: ResponseFinalizeBlock }
  | { readonly type: 'commit'; readonly value: ResponseCommit };

export type { PublicKey };
