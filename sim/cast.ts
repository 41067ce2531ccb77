// Who is on stage: names, keys and powers, the genesis they share, and how they are connected. From a few numbers, or from real files.

import { ed25519PublicKey, sha256, utf8Encode } from '#platform';
import { DEFAULT_NODE, type NodeConfig } from '../actors/node.ts';
import type { PeerId } from '../actors/turn.ts';
import { whyUnplayable } from '../machines/chain/playable.ts';
import { bytesOfHex, equalBytes, hexOf, hexUpperOf } from '../protocol/bytes.ts';
import { formatGenesis, parseGenesis } from '../protocol/json/genesis.ts';
import { addressOf, type KeyPair } from '../protocol/keys.ts';
import { isRefusal, type Refusal, refuse, unreachable } from '../protocol/refusal.ts';
import { DEFAULT_PARAMS } from '../protocol/rules/params.ts';
import { genesisState } from '../protocol/rules/state.ts';
import { type ConsensusParams, EMPTY_BYTES, type Genesis, type PublicKey } from '../protocol/types.ts';
import type { Stream } from './choices.ts';
import { INITIAL_HEIGHT_MAX, appHash as isHex } from './scenario/amounts.ts';
import { type Check, Checker, isText, listOf, maybe, object, whole } from './scenario/checks.ts';
import { ScenarioError } from './scenario/error.ts';

export interface Member {
  readonly name: string;
  readonly id: PeerId;
  /** ed25519 seed of its validator key; null: a full node. */
  readonly seed: Uint8Array | null;
  readonly publicKey: PublicKey | null;
  /** 0: has a key, and is not (yet) a validator. */
  readonly power: bigint;
}

export interface Cast {
  readonly chainId: string;
  readonly genesis: string;
  readonly members: readonly Member[];
  /** The wall time at which its world begins: that of the genesis. */
  readonly epochNs: bigint;
  /** The first height. */
  readonly initialHeight: bigint;
}

/** 2024-01-01T00:00:00Z: the genesis time of a cast of our own. */
export const EPOCH_NS = 1_704_067_200_000_000_000n;

const keyOf = (seed: Uint8Array): PublicKey => ({ type: 'ed25519', bytes: ed25519PublicKey(seed) });
const peerIdOf = (name: string): PeerId => hexOf(sha256(utf8Encode(`node key of ${name}`)).subarray(0, 20));

type Identity = Pick<Member, 'id' | 'seed' | 'publicKey'>;

const known = new Map<string, Identity>();
/** A member's keys follow from its name: the same in every world, so that stories and traces of two runs compare. */
function identity(name: string, hasKey: boolean): Identity {
  const key = `${name}/${hasKey}`;
  let made = known.get(key);
  if (!made) {
    const seed = hasKey ? sha256(utf8Encode(`validator key of ${name}`)) : null;
    made = { id: peerIdOf(name), seed, publicKey: seed && keyOf(seed) };
    known.set(key, made);
  }
  return made;
}

const member = (name: string, power: bigint, hasKey: boolean): Member => ({
  name,
  ...identity(name, hasKey),
  power,
});

export interface CastOptions {
  readonly powers: readonly bigint[];
  /** Nodes with a key that are no validators at genesis: they may join. */
  readonly candidates?: number;
  readonly fullNodes?: number;
  readonly initialHeight?: bigint;
  readonly chainId?: string;
  readonly params?: ConsensusParams;
  readonly appState?: string;
  /** In hex. */
  readonly appHash?: string;
}

export interface ParamsWords {
  readonly evidence?: { readonly maxAgeBlocks?: number; readonly maxAgeMs?: number };
  readonly blockBytes?: number;
}

/** What a play may say of its genesis. */
interface GenesisWords extends ParamsWords {
  readonly chainId?: string;
  readonly initialHeight?: number;
  /** In hex. */
  readonly appHash?: string;
}

/** Those of every genesis of ours, but for how old evidence may be and how large a block; evidence takes a quarter of that at most. */
export function paramsWith({ evidence = {}, blockBytes }: ParamsWords): ConsensusParams {
  const { maxAgeBlocks, maxAgeMs } = evidence;
  const maxBytes = blockBytes === undefined ? DEFAULT_PARAMS.block.maxBytes : BigInt(blockBytes);
  const quarter = maxBytes / 4n;
  const evidenceBytes = DEFAULT_PARAMS.evidence.maxBytes;
  return {
    ...DEFAULT_PARAMS,
    block: { ...DEFAULT_PARAMS.block, maxBytes },
    evidence: {
      ...DEFAULT_PARAMS.evidence,
      maxBytes: evidenceBytes < quarter ? evidenceBytes : quarter,
      ...(maxAgeBlocks !== undefined && { maxAgeBlocks: BigInt(maxAgeBlocks) }),
      ...(maxAgeMs !== undefined && { maxAgeNs: BigInt(maxAgeMs) * 1_000_000n }),
    },
  };
}

/** What of their genesis is not as the words of a play have it; null: nothing. What is not said may be anything, but for the first height: a play speaks of heights. */
export function otherThanSaid(
  { blockBytes, evidence, chainId, appHash, initialHeight = 1 }: GenesisWords,
  cast: Cast,
): keyof GenesisWords | null {
  if (chainId !== undefined && chainId !== cast.chainId) return 'chainId';
  if (BigInt(initialHeight) !== cast.initialHeight) return 'initialHeight';
  const parsed = parseGenesis(cast.genesis);
  const genesis = isRefusal(parsed) ? unreachable('a cast was made of it') : parsed;
  if (appHash !== undefined && appHash.toLowerCase() !== hexOf(genesis.appHash)) return 'appHash';
  const { block, evidence: allowed } = genesis.consensusParams;
  if (blockBytes !== undefined && BigInt(blockBytes) !== block.maxBytes) return 'blockBytes';
  const wanted = paramsWith({ ...(evidence && { evidence }) }).evidence;
  const isSame = wanted.maxAgeBlocks === allowed.maxAgeBlocks && wanted.maxAgeNs === allowed.maxAgeNs;
  return evidence === undefined || isSame ? null : 'evidence';
}

const isPower: Check = {
  expects: 'a bigint that is not negative, as 10n',
  holds: (value) => typeof value === 'bigint' && value >= 0n,
};
const isBigInt: Check = { expects: 'a bigint, as 10n', holds: (value) => typeof value === 'bigint' };
const areParams = object({
  block: object({ maxBytes: isBigInt, maxGas: isBigInt }),
  evidence: object({ maxAgeBlocks: isBigInt, maxAgeNs: isBigInt, maxBytes: isBigInt }),
  validator: object({ publicKeyTypes: listOf(isText) }),
  version: object({ app: isBigInt }),
  abci: object({ voteExtensionsEnableHeight: isBigInt }),
} satisfies Record<keyof ConsensusParams, Check>);
const isHeight: Check = {
  expects: `a bigint from 1n to ${INITIAL_HEIGHT_MAX}n`,
  holds: (value) => typeof value === 'bigint' && value >= 1n && value <= BigInt(INITIAL_HEIGHT_MAX),
};
const options = object(
  {
    powers: listOf(isPower),
    candidates: maybe(whole),
    fullNodes: maybe(whole),
    initialHeight: maybe(isHeight),
    chainId: maybe(isText),
    params: maybe(areParams),
    appState: maybe(isText),
    appHash: maybe(isHex),
  } satisfies Record<keyof CastOptions, Check>,
  '{ powers: [10n, 10n] }',
);
const keyPairs = listOf({
  expects: 'a key pair, as parsePrivValidatorKey(text).pair',
  holds: (value) => (value as Partial<KeyPair> | null)?.seed instanceof Uint8Array,
});

function mustBe(word: string, check: Check, given: unknown, path = ''): void {
  const checker = new Checker('what it takes');
  checker.check(check, given, path);
  if (checker.problem !== null) throw new ScenarioError(`${word}: ${checker.problem}`);
}

/**
 * Validators v0, v1, ...; candidates c0, ...; full nodes f0, ....
 * @throws ScenarioError that names the option, where one is not as its type says.
 */
export function makeCast(wanted: CastOptions): Cast {
  mustBe('makeCast', options, wanted);
  const cast = castOfPeople(wanted);
  const genesis = parseGenesis(cast.genesis);
  const because = isRefusal(genesis) ? genesis.because : whyNoChain(genesis, cast.members.length);
  if (because !== null) throw new ScenarioError(`makeCast: ${because}`);
  return cast;
}

/** The same, of what was checked before. */
export function castOfPeople(wanted: CastOptions): Cast {
  const { chainId = 'rehearsal', initialHeight = 1n } = wanted;
  const members = [
    ...wanted.powers.map((power, i) => member(`v${i}`, power, true)),
    ...Array.from({ length: wanted.candidates ?? 0 }, (_, i) => member(`c${i}`, 0n, true)),
    ...Array.from({ length: wanted.fullNodes ?? 0 }, (_, i) => member(`f${i}`, 0n, false)),
  ];
  const genesis: Genesis = {
    genesisTimeNs: EPOCH_NS,
    chainId,
    initialHeight,
    consensusParams: wanted.params ?? DEFAULT_PARAMS,
    validators: members.flatMap(({ publicKey, power, name }) =>
      publicKey && power > 0n ? [{ address: addressOf(publicKey), publicKey, power, name }] : [],
    ),
    appHash: bytesOfHex(wanted.appHash ?? '') ?? EMPTY_BYTES,
    appState: utf8Encode(wanted.appState ?? ''),
  };
  return { chainId, genesis: formatGenesis(genesis), members, epochNs: EPOCH_NS, initialHeight };
}

/** A genesis that is well formed may still be of a chain that cannot begin: why; null: it can. */
function whyNoChain(genesis: Genesis, people: number): string | null {
  if (genesis.validators.length === 0) return 'the genesis names no validators';
  const state = genesisState(genesis);
  if (isRefusal(state)) return `validators: ${state.because}`;
  const refusal = whyUnplayable(genesis.consensusParams, people);
  return refusal ? `consensus_params: ${refusal.because}` : null;
}

/**
 * The validators of a real genesis as v0, v1, ... in its order, each with its own key. Keys of others are left aside.
 * @param genesisText what the file holds
 * @param keys `parsePrivValidatorKey(text).pair` of each key file
 * @returns a refusal where the genesis is none, or no key is that of one of its validators
 * @throws ScenarioError where texts or key pairs are something else
 */
export function castFromFiles(genesisText: string, keys: readonly KeyPair[]): Cast | Refusal {
  mustBe('castFromFiles', isText, genesisText, 'genesisText');
  mustBe('castFromFiles', keyPairs, keys, 'keys');
  const genesis = parseGenesis(genesisText);
  if (isRefusal(genesis)) return genesis;
  if (genesis.validators.length === 0) return refuse('no-validators', 'the genesis names no validators');
  const members: Member[] = [];
  for (const { address, publicKey, power } of genesis.validators) {
    const who = `validator ${hexUpperOf(address)}`;
    if (publicKey.type !== 'ed25519')
      return refuse('key-type', `${who} has a ${publicKey.type} key: only ed25519 keys vote`);
    const pair = keys.find((key) => equalBytes(key.address, address));
    if (!pair) return refuse('missing-key', `there is no key for ${who}`);
    const name = `v${members.length}`;
    members.push({ name, id: peerIdOf(name), seed: pair.seed, publicKey, power });
  }
  const because = whyNoChain(genesis, members.length);
  if (because !== null) return refuse('no-chain', because);
  const { chainId, genesisTimeNs: epochNs, initialHeight } = genesis;
  return { chainId, genesis: genesisText, members, epochNs, initialHeight };
}

/** Pairs of member indexes that may talk. */
export type Edges = readonly (readonly [number, number])[];

export function fullMesh(size: number): Edges {
  const edges: [number, number][] = [];
  for (let a = 0; a < size; a++) for (let b = a + 1; b < size; b++) edges.push([a, b]);
  return edges;
}

/** A ring, so that all are connected, and random chords until the mean degree is reached. */
export function randomMesh(size: number, degree: number, stream: Stream): Edges {
  if (degree >= size - 1) return fullMesh(size);
  const edges = new Map<number, [number, number]>();
  const add = (a: number, b: number): void => {
    if (a !== b) edges.set(Math.min(a, b) * size + Math.max(a, b), [Math.min(a, b), Math.max(a, b)]);
  };
  const order = stream.shuffle(Array.from({ length: size }, (_, i) => i));
  order.forEach((each, i) => {
    add(each, order[(i + 1) % size] as number);
  });
  const wanted = Math.floor((size * degree) / 2);
  while (edges.size < wanted) add(stream.draw(size), stream.draw(size));
  return [...edges.values()];
}

export const addressOfMember = (member: Member): string => `sim://${member.name}`;

/** How every node is configured, where it is not as `DEFAULT_NODE` says. */
export interface Settings {
  readonly consensus?: Partial<NodeConfig['consensus']>;
  readonly mempool?: Partial<Omit<NodeConfig['mempool'], 'notifyTxs' | 'blockTxBytesMax' | 'gasMax'>>;
  readonly sync?: Partial<NodeConfig['sync']>;
  readonly blocksync?: boolean;
}

/** One node's configuration. */
export function configOf(
  cast: Cast,
  index: number,
  edges: Edges,
  { consensus, mempool, sync, ...settings }: Settings & Partial<Pick<NodeConfig, 'app' | 'crypto'>>,
): NodeConfig {
  const member = cast.members[index] as Member;
  const neighbours = edges.flatMap(([a, b]) => (a === index ? [b] : b === index ? [a] : []));
  return {
    ...DEFAULT_NODE,
    ...settings,
    consensus: { ...DEFAULT_NODE.consensus, ...consensus },
    mempool: { ...DEFAULT_NODE.mempool, ...mempool },
    sync: { ...DEFAULT_NODE.sync, ...sync },
    id: member.id,
    name: member.name,
    genesis: cast.genesis,
    publicKey: member.publicKey && hexOf(member.publicKey.bytes),
    peers: neighbours.map((n) => {
      const other = cast.members[n] as Member;
      return { peer: other.id, address: addressOfMember(other) };
    }),
    listenAddress: addressOfMember(member),
  };
}
