// Headers, votes, commits, validators, evidence and blocks as RPC prints them (spec 6.4), read back. Takes
// what 0.34 to 0.38 wrote.

import { addressOf } from '../keys.ts';
import {
  type Block,
  type BlockId,
  type BlockMeta,
  type Commit,
  type CommitSig,
  type ConsensusVersion,
  type Evidence,
  type Header,
  type LightBlock,
  type MerkleProof,
  NIL_BLOCK_ID,
  NIL_PART_SET_HEADER,
  type PartSetHeader,
  type Proposal,
  type SignedHeader,
  type Validator,
  type ValidatorSet,
  type Vote,
  ZERO_TIME_NS,
} from '../types.ts';
import { publicKeyAt } from './keys.ts';
import {
  base64At,
  fault,
  hexAt,
  int32At,
  int64At,
  isNothing,
  type JsonObject,
  listAt,
  type MalformedJson,
  objectAt,
  readJson,
  textAt,
  timeAt,
  uint32At,
  uint64At,
  wrappedAt,
} from './reader.ts';

const timeOrZeroAt = (value: unknown, at: string) => (isNothing(value) ? ZERO_TIME_NS : timeAt(value, at));

function partSetHeaderAt(value: unknown, at: string): PartSetHeader {
  if (isNothing(value)) return NIL_PART_SET_HEADER;
  const header = objectAt(value, at);
  return { total: uint32At(header['total'], `${at}.total`), hash: hexAt(header['hash'], `${at}.hash`) };
}

/** The part set header is called `parts`; some tools write its protobuf name. */
function blockIdAt(value: unknown, at: string): BlockId {
  if (isNothing(value)) return NIL_BLOCK_ID;
  const id = objectAt(value, at);
  const parts = partSetHeaderAt(id['parts'] ?? id['part_set_header'], `${at}.parts`);
  return { hash: hexAt(id['hash'], `${at}.hash`), parts };
}

function versionAt(value: unknown, at: string): ConsensusVersion {
  const version = isNothing(value) ? {} : objectAt(value, at);
  return { block: uint64At(version['block'], `${at}.block`), app: uint64At(version['app'], `${at}.app`) };
}

export function headerAt(value: unknown, at: string): Header {
  const header = objectAt(value, at);
  const hash = (key: string) => hexAt(header[key], `${at}.${key}`);
  return {
    version: versionAt(header['version'], `${at}.version`),
    chainId: textAt(header['chain_id'], `${at}.chain_id`),
    height: int64At(header['height'], `${at}.height`),
    timeNs: timeOrZeroAt(header['time'], `${at}.time`),
    lastBlockId: blockIdAt(header['last_block_id'], `${at}.last_block_id`),
    lastCommitHash: hash('last_commit_hash'),
    dataHash: hash('data_hash'),
    validatorsHash: hash('validators_hash'),
    nextValidatorsHash: hash('next_validators_hash'),
    consensusHash: hash('consensus_hash'),
    appHash: hash('app_hash'),
    lastResultsHash: hash('last_results_hash'),
    evidenceHash: hash('evidence_hash'),
    proposerAddress: hash('proposer_address'),
  };
}

function commitSigAt(value: unknown, at: string): CommitSig {
  const sig = objectAt(value, at);
  return {
    flag: int32At(sig['block_id_flag'], `${at}.block_id_flag`),
    validatorAddress: hexAt(sig['validator_address'], `${at}.validator_address`),
    timeNs: timeOrZeroAt(sig['timestamp'], `${at}.timestamp`),
    signature: base64At(sig['signature'], `${at}.signature`),
  };
}

export function commitAt(value: unknown, at: string): Commit {
  const commit = objectAt(value, at);
  return {
    height: int64At(commit['height'], `${at}.height`),
    round: int32At(commit['round'], `${at}.round`),
    blockId: blockIdAt(commit['block_id'], `${at}.block_id`),
    signatures: listAt(commit['signatures'], `${at}.signatures`, commitSigAt),
  };
}

function voteAt(value: unknown, at: string): Vote {
  const vote = objectAt(value, at);
  return {
    type: int32At(vote['type'], `${at}.type`),
    height: int64At(vote['height'], `${at}.height`),
    round: int32At(vote['round'], `${at}.round`),
    blockId: blockIdAt(vote['block_id'], `${at}.block_id`),
    timeNs: timeOrZeroAt(vote['timestamp'], `${at}.timestamp`),
    validatorAddress: hexAt(vote['validator_address'], `${at}.validator_address`),
    validatorIndex: int32At(vote['validator_index'], `${at}.validator_index`),
    signature: base64At(vote['signature'], `${at}.signature`),
    extension: base64At(vote['extension'], `${at}.extension`),
    extensionSignature: base64At(vote['extension_signature'], `${at}.extension_signature`),
  };
}

/** Go prints the proposal's type under `Type`. */
function proposalAt(value: unknown, at: string): Proposal {
  const proposal = objectAt(value, at);
  return {
    type: int32At(proposal['Type'] ?? proposal['type'], `${at}.Type`),
    height: int64At(proposal['height'], `${at}.height`),
    round: int32At(proposal['round'], `${at}.round`),
    polRound: int32At(proposal['pol_round'], `${at}.pol_round`),
    blockId: blockIdAt(proposal['block_id'], `${at}.block_id`),
    timeNs: timeOrZeroAt(proposal['timestamp'], `${at}.timestamp`),
    signature: base64At(proposal['signature'], `${at}.signature`),
  };
}

/** Genesis calls the power `power`, everybody else `voting_power`. */
function validatorAt(value: unknown, at: string): Validator {
  const validator = objectAt(value, at);
  const publicKey = publicKeyAt(validator['pub_key'], `${at}.pub_key`);
  const written = hexAt(validator['address'], `${at}.address`);
  return {
    address: written.length > 0 ? written : addressOf(publicKey),
    publicKey,
    power: int64At(validator['voting_power'] ?? validator['power'], `${at}.voting_power`),
    priority: int64At(validator['proposer_priority'], `${at}.proposer_priority`),
  };
}

const validatorsAt = (value: unknown, at: string): Validator[] => listAt(value, at, validatorAt);

export function validatorSetAt(value: unknown, at: string): ValidatorSet {
  const set = objectAt(value, at);
  const validators = validatorsAt(set['validators'], `${at}.validators`);
  let powerTotal = 0n;
  for (const validator of validators) powerTotal += validator.power;
  const proposer = isNothing(set['proposer']) ? null : validatorAt(set['proposer'], `${at}.proposer`);
  return { validators, proposer, powerTotal };
}

export function signedHeaderAt(value: unknown, at: string): SignedHeader {
  const signed = objectAt(value, at);
  return {
    header: headerAt(signed['header'], `${at}.header`),
    commit: commitAt(signed['commit'], `${at}.commit`),
  };
}

function lightBlockAt(value: unknown, at: string): LightBlock {
  const block = objectAt(value, at);
  return {
    signedHeader: signedHeaderAt(block['signed_header'], `${at}.signed_header`),
    validatorSet: validatorSetAt(block['validator_set'], `${at}.validator_set`),
  };
}

/** Go prints some evidence fields by their Go names; newer alphas and other tools by their protobuf names. */
const eitherOf = (object: JsonObject, goName: string, protoName: string): unknown =>
  object[goName] ?? object[protoName];

function evidenceAt(value: unknown, at: string): Evidence {
  const { name, value: inner } = wrappedAt(value, at);
  const evidence = objectAt(inner, `${at}.value`);
  const powerTotal = int64At(
    eitherOf(evidence, 'TotalVotingPower', 'total_voting_power'),
    `${at}.value.TotalVotingPower`,
  );
  const timeNs = timeOrZeroAt(eitherOf(evidence, 'Timestamp', 'timestamp'), `${at}.value.Timestamp`);
  if (name === 'DuplicateVoteEvidence') {
    return {
      kind: 'duplicate-vote',
      voteA: voteAt(evidence['vote_a'], `${at}.value.vote_a`),
      voteB: voteAt(evidence['vote_b'], `${at}.value.vote_b`),
      powerTotal,
      validatorPower: int64At(
        eitherOf(evidence, 'ValidatorPower', 'validator_power'),
        `${at}.value.ValidatorPower`,
      ),
      timeNs,
    };
  }
  if (name !== 'LightClientAttackEvidence') fault(`${at}.type`, 'the name of a kind of evidence');
  const block = eitherOf(evidence, 'ConflictingBlock', 'conflicting_block');
  const byzantine = eitherOf(evidence, 'ByzantineValidators', 'byzantine_validators');
  return {
    kind: 'light-client-attack',
    conflictingBlock: lightBlockAt(block, `${at}.value.ConflictingBlock`),
    commonHeight: int64At(eitherOf(evidence, 'CommonHeight', 'common_height'), `${at}.value.CommonHeight`),
    byzantineValidators: validatorsAt(byzantine, `${at}.value.ByzantineValidators`),
    powerTotal,
    timeNs,
  };
}

export function blockAt(value: unknown, at: string): Block {
  const block = objectAt(value, at);
  const data = isNothing(block['data']) ? {} : objectAt(block['data'], `${at}.data`);
  const evidence = isNothing(block['evidence']) ? {} : objectAt(block['evidence'], `${at}.evidence`);
  return {
    header: headerAt(block['header'], `${at}.header`),
    txs: listAt(data['txs'], `${at}.data.txs`, base64At),
    evidence: listAt(evidence['evidence'], `${at}.evidence.evidence`, evidenceAt),
    lastCommit: isNothing(block['last_commit']) ? null : commitAt(block['last_commit'], `${at}.last_commit`),
  };
}

function blockMetaAt(value: unknown, at: string): BlockMeta {
  const meta = objectAt(value, at);
  return {
    blockId: blockIdAt(meta['block_id'], `${at}.block_id`),
    blockSize: int64At(meta['block_size'], `${at}.block_size`),
    header: headerAt(meta['header'], `${at}.header`),
    numTxs: int64At(meta['num_txs'], `${at}.num_txs`),
  };
}

function merkleProofAt(value: unknown, at: string): MerkleProof {
  const proof = objectAt(value, at);
  return {
    total: int64At(proof['total'], `${at}.total`),
    index: int64At(proof['index'], `${at}.index`),
    leafHash: base64At(proof['leaf_hash'], `${at}.leaf_hash`),
    aunts: listAt(proof['aunts'], `${at}.aunts`, base64At),
  };
}

/** A public door for each reader: a value that is no such thing is a refusal that names the field. */
const door =
  <T>(name: string, read: (value: unknown, at: string) => T) =>
  (value: unknown): T | MalformedJson =>
    readJson(() => read(value, name));

export const partSetHeaderOfJson = door('parts', partSetHeaderAt);
export const blockIdOfJson = door('block_id', blockIdAt);
export const headerOfJson = door('header', headerAt);
export const commitOfJson = door('commit', commitAt);
export const voteOfJson = door('vote', voteAt);
export const proposalOfJson = door('proposal', proposalAt);
export const validatorOfJson = door('validator', validatorAt);
export const validatorsOfJson = door('validators', validatorsAt);
export const validatorSetOfJson = door('validator_set', validatorSetAt);
export const signedHeaderOfJson = door('signed_header', signedHeaderAt);
export const lightBlockOfJson = door('light_block', lightBlockAt);
export const evidenceOfJson = door('evidence', evidenceAt);
export const blockOfJson = door('block', blockAt);
export const blockMetaOfJson = door('block_meta', blockMetaAt);
export const merkleProofOfJson = door('proof', merkleProofAt);
