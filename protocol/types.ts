// The core types of the chain as everybody above speaks of them: 64-bit numbers are bigint, times are nanoseconds since 1970 as bigint.
// Values are immutable once made: nodes, memos and caches share them by reference. Shapes follow CometBFT 0.38 `types/`.

/** SHA-256 of a header, a part set, ...: 32 bytes, or 0 bytes for "none". */
export type Hash = Uint8Array;
/** First 20 bytes of SHA-256 of an ed25519 key (or RIPEMD160(SHA256) of a secp256k1 key). */
export type Address = Uint8Array;
/** Nanoseconds since 1970-01-01T00:00:00Z; `ZERO_TIME_NS` is Go's zero time. */
export type TimeNs = bigint;

export const EMPTY_BYTES: Uint8Array = new Uint8Array(0);

export const BLOCK_PROTOCOL = 11n;
export const P2P_PROTOCOL = 8n;
export const SOFTWARE_VERSION = '0.38.26';
export const ABCI_VERSION = '2.0.0';
export const CHAIN_ID_LENGTH_MAX = 50;
export const BLOCK_BYTES_MAX = 104_857_600n;
/**
 * Ours alone (docs/decisions/0016): a block of the default size may hold eleven million empty transactions, and nobody has the memory to hash them
 * side by side.
 */
export const BLOCK_TXS_MAX = 262_144;
/** The same, of signatures, validators and pieces of evidence together, whatever of one message holds them: four sets of the largest size, with what they sign, have room. */
export const MEMBERS_MAX = 131_072;
export const BLOCK_PART_BYTES = 65_536;
export const BLOCK_PARTS_MAX = 1601;
export const VOTES_MAX = 10_000;
export const SIGNATURE_BYTES_MAX = 3309;
export const VOTE_EXTENSION_BYTES_MAX = 1_048_576;
export const HEADER_BYTES_MAX = 626n;
export const BLOCK_OVERHEAD_BYTES_MAX = 11n;
export const COMMIT_OVERHEAD_BYTES_MAX = 94n;
export const COMMIT_SIG_BYTES_MAX = 3355n;
export const VOTING_POWER_TOTAL_MAX = 1_152_921_504_606_846_975n;
export const PRIORITY_WINDOW_SIZE_FACTOR = 2n;
export const MERKLE_AUNTS_MAX = 100;
/** 0001-01-01T00:00:00Z, Go's zero time. */
export const ZERO_TIME_NS: TimeNs = -62_135_596_800_000_000_000n;

export interface PublicKey {
  readonly type: 'ed25519' | 'secp256k1';
  /** 32 bytes (ed25519) or 33 bytes, compressed (secp256k1). */
  readonly bytes: Uint8Array;
}

export interface PartSetHeader {
  readonly total: number;
  readonly hash: Hash;
}

export interface BlockId {
  readonly hash: Hash;
  readonly parts: PartSetHeader;
}

export const NIL_PART_SET_HEADER: PartSetHeader = { total: 0, hash: EMPTY_BYTES };
export const NIL_BLOCK_ID: BlockId = { hash: EMPTY_BYTES, parts: NIL_PART_SET_HEADER };

export interface MerkleProof {
  readonly total: bigint;
  readonly index: bigint;
  readonly leafHash: Hash;
  readonly aunts: readonly Hash[];
}

export interface Part {
  readonly index: number;
  readonly bytes: Uint8Array;
  readonly proof: MerkleProof;
}

/** SignedMsgType. */
export const PREVOTE = 1;
export const PRECOMMIT = 2;
export const PROPOSAL = 32;
export type VoteType = typeof PREVOTE | typeof PRECOMMIT;

export interface Vote {
  readonly type: number;
  readonly height: bigint;
  readonly round: number;
  readonly blockId: BlockId;
  readonly timeNs: TimeNs;
  readonly validatorAddress: Address;
  readonly validatorIndex: number;
  readonly signature: Uint8Array;
  readonly extension: Uint8Array;
  readonly extensionSignature: Uint8Array;
}

export interface Proposal {
  readonly type: number;
  readonly height: bigint;
  readonly round: number;
  /** -1: none. */
  readonly polRound: number;
  readonly blockId: BlockId;
  readonly timeNs: TimeNs;
  readonly signature: Uint8Array;
}

/** BlockIDFlag. */
export const FLAG_ABSENT = 1;
export const FLAG_COMMIT = 2;
export const FLAG_NIL = 3;

export interface CommitSig {
  readonly flag: number;
  readonly validatorAddress: Address;
  readonly timeNs: TimeNs;
  readonly signature: Uint8Array;
}

export interface Commit {
  readonly height: bigint;
  readonly round: number;
  readonly blockId: BlockId;
  readonly signatures: readonly CommitSig[];
}

export interface ExtendedCommitSig extends CommitSig {
  readonly extension: Uint8Array;
  readonly extensionSignature: Uint8Array;
}

export interface ExtendedCommit {
  readonly height: bigint;
  readonly round: number;
  readonly blockId: BlockId;
  readonly signatures: readonly ExtendedCommitSig[];
}

export interface ConsensusVersion {
  readonly block: bigint;
  readonly app: bigint;
}

export interface Header {
  readonly version: ConsensusVersion;
  readonly chainId: string;
  readonly height: bigint;
  readonly timeNs: TimeNs;
  readonly lastBlockId: BlockId;
  readonly lastCommitHash: Hash;
  readonly dataHash: Hash;
  readonly validatorsHash: Hash;
  readonly nextValidatorsHash: Hash;
  readonly consensusHash: Hash;
  readonly appHash: Uint8Array;
  readonly lastResultsHash: Hash;
  readonly evidenceHash: Hash;
  readonly proposerAddress: Address;
}

export interface Block {
  readonly header: Header;
  readonly txs: readonly Uint8Array[];
  readonly evidence: readonly Evidence[];
  /** Null only in a malformed block: the initial block carries an empty commit. */
  readonly lastCommit: Commit | null;
}

export interface BlockMeta {
  readonly blockId: BlockId;
  readonly blockSize: bigint;
  readonly header: Header;
  readonly numTxs: bigint;
}

export interface Validator {
  readonly address: Address;
  readonly publicKey: PublicKey;
  readonly power: bigint;
  readonly priority: bigint;
}

/** Members by power descending, then address ascending. `proposer` is the cached one of the last increment. */
export interface ValidatorSet {
  readonly validators: readonly Validator[];
  readonly proposer: Validator | null;
  readonly powerTotal: bigint;
}

export interface ValidatorUpdate {
  readonly publicKey: PublicKey;
  /** 0 removes. */
  readonly power: bigint;
}

export interface SignedHeader {
  readonly header: Header;
  readonly commit: Commit;
}

export interface LightBlock {
  readonly signedHeader: SignedHeader;
  readonly validatorSet: ValidatorSet;
}

export interface DuplicateVoteEvidence {
  readonly kind: 'duplicate-vote';
  readonly voteA: Vote;
  readonly voteB: Vote;
  readonly powerTotal: bigint;
  readonly validatorPower: bigint;
  readonly timeNs: TimeNs;
}

export interface LightClientAttackEvidence {
  readonly kind: 'light-client-attack';
  readonly conflictingBlock: LightBlock;
  readonly commonHeight: bigint;
  readonly byzantineValidators: readonly Validator[];
  readonly powerTotal: bigint;
  readonly timeNs: TimeNs;
}

export type Evidence = DuplicateVoteEvidence | LightClientAttackEvidence;

export interface ConsensusParams {
  readonly block: { readonly maxBytes: bigint; readonly maxGas: bigint };
  readonly evidence: {
    readonly maxAgeBlocks: bigint;
    readonly maxAgeNs: bigint;
    readonly maxBytes: bigint;
  };
  readonly validator: { readonly publicKeyTypes: readonly string[] };
  readonly version: { readonly app: bigint };
  readonly abci: { readonly voteExtensionsEnableHeight: bigint };
}

/** Sub-messages that are present replace all their fields; absent ones are untouched. */
export interface ConsensusParamsUpdate {
  readonly block?: ConsensusParams['block'];
  readonly evidence?: ConsensusParams['evidence'];
  readonly validator?: ConsensusParams['validator'];
  readonly version?: ConsensusParams['version'];
  readonly abci?: ConsensusParams['abci'];
}

export interface GenesisValidator {
  readonly address: Address;
  readonly publicKey: PublicKey;
  readonly power: bigint;
  readonly name: string;
}

export interface Genesis {
  readonly genesisTimeNs: TimeNs;
  readonly chainId: string;
  /** >= 1 once completed. */
  readonly initialHeight: bigint;
  readonly consensusParams: ConsensusParams;
  readonly validators: readonly GenesisValidator[];
  readonly appHash: Uint8Array;
  /** The raw JSON text of `app_state`, as UTF-8 bytes; empty when absent. */
  readonly appState: Uint8Array;
}

/** What is true after block `lastBlockHeight` (CometBFT `state.State`): sets of H, H+1 and H+2. */
export interface ChainState {
  readonly version: ConsensusVersion;
  readonly chainId: string;
  readonly initialHeight: bigint;
  readonly lastBlockHeight: bigint;
  readonly lastBlockId: BlockId;
  readonly lastBlockTimeNs: TimeNs;
  readonly nextValidators: ValidatorSet;
  readonly validators: ValidatorSet;
  readonly lastValidators: ValidatorSet;
  readonly lastHeightValidatorsChanged: bigint;
  readonly consensusParams: ConsensusParams;
  readonly lastHeightConsensusParamsChanged: bigint;
  readonly lastResultsHash: Hash;
  readonly appHash: Uint8Array;
}

export interface BitArray {
  readonly bits: number;
  /** Bit i is bit i % 64 of element i / 64; `ceil(bits / 64)` elements. */
  readonly elems: readonly bigint[];
}
