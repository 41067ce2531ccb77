// Which actors make a node, and what each is told at birth: the same composition in both worlds, and for a replay.

import type { Application } from '../machines/apps/application.ts';
import { applicationNamed } from '../machines/apps/named.ts';
import { type ConsensusConfig, DEFAULT_CONSENSUS } from '../machines/consensus/config.ts';
import { DEFAULT_MEMPOOL, type MempoolConfig } from '../machines/mempool/config.ts';
import { CHANNEL_GREETING, nodeInfoOf } from '../machines/peers/node-info.ts';
import { DEFAULT_SYNC, type SyncConfig } from '../machines/sync/config.ts';
import { bytesOfHex } from '../protocol/bytes.ts';
import { parseGenesis } from '../protocol/json/genesis.ts';
import { addressOf } from '../protocol/keys.ts';
import { CHANNEL_BLOCKSYNC, CHANNEL_MEMPOOL } from '../protocol/messages.ts';
import { isRefusal, type Refusal, unreachable } from '../protocol/refusal.ts';
import { maxDataBytes } from '../protocol/rules/block-room.ts';
import { blockBytesMax } from '../protocol/rules/params.ts';
import type { Verify } from '../protocol/signatures.ts';
import type { Genesis, PublicKey } from '../protocol/types.ts';
import { appLogic } from './app.ts';
import { blocksyncLogic } from './blocksync.ts';
import { DEFAULT_DIALER, dialerLogic } from './dialer.ts';
import { mempoolLogic } from './mempool.ts';
import { GREET_AGAIN_NS, peerLogic } from './peer.ts';
import { signerLogic } from './signer.ts';
import { type ActorName, type NodeCast, type PeerId, peerActorOf, peerOfActor } from './turn.ts';
import { validatorLogic } from './validator/validator.ts';

/** All that a node's actors are built from; stands in the header of a trace as JSON (`configValue`). */
export interface NodeConfig {
  readonly id: PeerId;
  readonly name: string;
  /** The genesis document's text. */
  readonly genesis: string;
  /** ed25519 public key, hex; null: a full node. */
  readonly publicKey: string | null;
  /** A name of `machines/apps`, or one that the caller's `application` knows. */
  readonly app: string;
  /** Which signatures this network makes. */
  readonly crypto: 'ed25519' | 'sim';
  readonly consensus: ConsensusConfig;
  readonly mempool: MempoolConfig;
  readonly sync: SyncConfig;
  /** False: join consensus at once after the handshake. */
  readonly blocksync: boolean;
  readonly peers: readonly { readonly peer: PeerId; readonly address: string }[];
  readonly listenAddress: string;
}

export const DEFAULT_NODE = {
  app: 'kvstore',
  crypto: 'ed25519',
  consensus: DEFAULT_CONSENSUS,
  mempool: DEFAULT_MEMPOOL,
  sync: DEFAULT_SYNC,
  blocksync: true,
  peers: [],
  listenAddress: '',
} as const satisfies Partial<NodeConfig>;

/** What a world gives to the actors beside their configuration. */
export interface Gifts {
  readonly verify: Verify;
  /** A fresh application by name, for every life; undefined: one of `machines/apps`. */
  readonly application?: (name: string) => Application | undefined;
}

/** The actors of a node, in the order in which they start: who is asked stands before who asks. */
export function nodeCast(config: NodeConfig, gifts: Gifts): NodeCast {
  const genesis = parseGenesis(config.genesis);
  if (isRefusal(genesis)) return unreachable(`the genesis text was checked before: ${genesis.because}`);
  const publicKey = config.publicKey === null ? null : keyOf(config.publicKey);
  const key = publicKey && { publicKey, address: addressOf(publicKey) };
  const { chainId } = genesis;
  const application = (): Application => newApplication(config.app, gifts);
  const signers = key
    ? [signerLogic({ chainId, address: key.address, publicKey: key.publicKey, extensionsEnableHeight: 0n })]
    : [];
  const validator = validatorLogic({
    genesis,
    genesisText: config.genesis,
    key,
    consensus: config.consensus,
    verify: gifts.verify,
    blocksync: config.blocksync,
  });
  return {
    logics: [
      appLogic({ application }),
      ...signers,
      mempoolLogic(mempoolConfig(config, genesis)),
      blocksyncLogic({
        ...config.sync,
        peersKnown: config.peers.map(({ peer }) => peer).filter((peer) => peer !== config.id),
      }),
      validator,
      dialerLogic({ ...DEFAULT_DIALER, self: config.id, peers: config.peers }),
    ],
    spawn: (actor) => {
      const name = peerOfActor(actor) ?? unreachable(`only peers are spawned, not ${actor}`);
      // The very string of the configuration: two of one content are compared letter by letter, and whatever is heard names its sender.
      const peer = config.peers.find((each) => each.peer === name)?.peer ?? name;
      const info = nodeInfoOf({
        nodeId: config.id,
        listenAddress: config.listenAddress,
        network: chainId,
        moniker: config.name,
      });
      return peerLogic({ peer, info, greetAgainNs: GREET_AGAIN_NS });
    },
  };
}

function keyOf(hex: string): PublicKey {
  return { type: 'ed25519', bytes: bytesOfHex(hex) ?? unreachable('publicKey is hex') };
}

function newApplication(name: string, gifts: Gifts): Application {
  const own = gifts.application?.(name);
  if (own) return own;
  const found = applicationNamed(name);
  return isRefusal(found) ? unreachable(found.because) : found;
}

/** The validator waits for transactions only when empty blocks are not made at once; only then is it told of them. */
function mempoolConfig(config: NodeConfig, genesis: Genesis): MempoolConfig {
  const { createEmptyBlocks, createEmptyBlocksIntervalNs } = config.consensus;
  const params = genesis.consensusParams;
  const room: bigint | Refusal = maxDataBytes(blockBytesMax(params), 0n, genesis.validators.length);
  return {
    ...config.mempool,
    notifyTxs: !createEmptyBlocks || createEmptyBlocksIntervalNs > 0n,
    blockTxBytesMax: isRefusal(room) ? 0n : room,
    gasMax: params.block.maxGas,
  };
}

/** Which actor hears a channel of the wire. */
export function ownerOf(channel: number, peer: PeerId): ActorName {
  if (channel === CHANNEL_MEMPOOL) return 'mempool';
  if (channel === CHANNEL_BLOCKSYNC) return 'blocksync';
  if (channel === CHANNEL_GREETING) return peerActorOf(peer);
  return 'validator';
}

// --- as text -----------------------------------------------------------------------------------------------------------

const BIG = '$n';

/** JSON in which bigints survive: `{"$n":"5"}`. */
export const configValue = (config: NodeConfig): unknown =>
  JSON.parse(
    JSON.stringify(config, (_, value) => (typeof value === 'bigint' ? { [BIG]: String(value) } : value)),
  );

export const configOfValue = (value: unknown): NodeConfig => revive(value) as NodeConfig;

function revive(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(revive);
  const entries = Object.entries(value);
  if (entries.length === 1 && entries[0]?.[0] === BIG) return BigInt(String(entries[0][1]));
  return Object.fromEntries(entries.map(([key, each]) => [key, revive(each)]));
}
