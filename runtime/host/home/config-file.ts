// config.toml of a node (spec 2.7): the keys that this node reads, written with CometBFT's names and defaults. Other tables of CometBFT's are
// left alone; elsewhere a name that neither knows is a slip.

import { parse, TomlError, type TomlTable } from 'smol-toml';
import { DEFAULT_NODE, type NodeConfig } from '../../../actors/node.ts';
import { applicationNamed } from '../../../machines/apps/named.ts';
import type { ConsensusConfig } from '../../../machines/consensus/config.ts';
import type { MempoolConfig } from '../../../machines/mempool/config.ts';
import {
  decodeNodeInfo,
  encodeNodeInfo,
  judgeGreeting,
  nodeInfoOf,
} from '../../../machines/peers/node-info.ts';
import { isRefusal } from '../../../protocol/refusal.ts';
import { readText, SetupError } from '../disk/files.ts';
import { INBOUND_MAX } from '../net/net.ts';
import { formatWsAddress, parseWsAddress } from '../net/net-address.ts';
import { durationNs, durationText } from './durations.ts';

/** Where the other files of a node are: relative to its home, unless absolute. */
export interface FilesOfNode {
  readonly genesis: string;
  readonly nodeKey: string;
  readonly validatorKey: string;
  readonly signState: string;
}

export const USUAL_FILES: FilesOfNode = {
  genesis: 'config/genesis.json',
  nodeKey: 'config/node_key.json',
  validatorKey: 'config/priv_validator_key.json',
  signState: 'data/priv_validator_state.json',
};

/** What stands before all tables is of this one. */
const TOP = '';

/** Keys of CometBFT 0.38 in tables that are read, for parts that this node does not have; first its tables, too. */
const OF_OTHERS: Readonly<Record<string, readonly string[]>> = {
  [TOP]: [
    'version',
    'home',
    'db_backend',
    'db_dir',
    'log_level',
    'log_format',
    'priv_validator_laddr',
    'abci',
    'filter_peers',
    'event_bus_buffer_capacity',
    'rpc',
    'statesync',
    'blocksync',
    'storage',
    'tx_index',
    'instrumentation',
  ],
  p2p: [
    'external_address',
    'seeds',
    'addr_book_file',
    'addr_book_strict',
    'max_num_outbound_peers',
    'persistent_peers_max_dial_period',
    'flush_throttle_timeout',
    'max_packet_msg_payload_size',
    'send_rate',
    'recv_rate',
    'pex',
    'seed_mode',
    'private_peer_ids',
    'allow_duplicate_ip',
    'handshake_timeout',
    'dial_timeout',
    'test_dial_fail',
    'test_fuzz',
    'test_fuzz_config',
  ],
  mempool: [
    'recheck_timeout',
    'wal_dir',
    'max_batch_bytes',
    'experimental_max_gossip_connections_to_persistent_peers',
    'experimental_max_gossip_connections_to_non_persistent_peers',
  ],
  consensus: ['wal_file', 'double_sign_check_height', 'peer_query_maj23_sleep_duration'],
};

/** What the file says of a node, in the words of `NodeConfig`; and where its other files are. */
export interface ConfigFile {
  readonly files: FilesOfNode;
  readonly settings: Pick<NodeConfig, 'name' | 'app' | 'consensus' | 'mempool' | 'peers' | 'listenAddress'>;
  readonly inbound: Inbound;
}

/** Who may dial this node. */
export interface Inbound {
  /** Peers at a time, without those of the configuration. */
  readonly most: number;
  /** Ids of peers that always may: those of persistent_peers, and unconditional_peer_ids. */
  readonly always: readonly string[];
}

export interface PeerAt {
  readonly id: string;
  readonly host: string;
  readonly port: number;
}

const peerText = ({ id, host, port }: PeerAt): string => `${id}@${host}:${port}`;

/** The file of a new node. */
export function configText(moniker: string, self: PeerAt, peers: readonly PeerAt[]): string {
  const { consensus, mempool } = DEFAULT_NODE;
  return `# The configuration of one node. Durations are texts such as "1.5s" and "100ms".

version = "0.38.26"
# An application in the same process: kvstore, counter or noop.
proxy_app = "${DEFAULT_NODE.app}"
moniker = ${JSON.stringify(moniker)}
genesis_file = "${USUAL_FILES.genesis}"
priv_validator_key_file = "${USUAL_FILES.validatorKey}"
priv_validator_state_file = "${USUAL_FILES.signState}"
node_key_file = "${USUAL_FILES.nodeKey}"

[p2p]
# WebSocket. Peers do not prove who they are yet, so only addresses of this machine are accepted.
laddr = "tcp://${self.host}:${self.port}"
persistent_peers = "${peers.map(peerText).join(',')}"
# Of those that dial this node; persistent peers, and those of unconditional_peer_ids, are not counted.
max_num_inbound_peers = ${INBOUND_MAX}
unconditional_peer_ids = ""
addr_book_strict = false
allow_duplicate_ip = true

[mempool]
type = "${mempool.kind}"
recheck = ${mempool.recheck}
broadcast = ${mempool.broadcast}
size = ${mempool.txsMax}
max_txs_bytes = ${mempool.bytesMax}
cache_size = ${mempool.cacheSize}
keep-invalid-txs-in-cache = ${mempool.keepInvalidTxsInCache}
max_tx_bytes = ${mempool.txBytesMax}

[consensus]
timeout_propose = "${durationText(consensus.timeoutProposeNs)}"
timeout_propose_delta = "${durationText(consensus.timeoutProposeDeltaNs)}"
timeout_prevote = "${durationText(consensus.timeoutPrevoteNs)}"
timeout_prevote_delta = "${durationText(consensus.timeoutPrevoteDeltaNs)}"
timeout_precommit = "${durationText(consensus.timeoutPrecommitNs)}"
timeout_precommit_delta = "${durationText(consensus.timeoutPrecommitDeltaNs)}"
timeout_commit = "${durationText(consensus.timeoutCommitNs)}"
skip_timeout_commit = ${consensus.skipTimeoutCommit}
create_empty_blocks = ${consensus.createEmptyBlocks}
create_empty_blocks_interval = "${durationText(consensus.createEmptyBlocksIntervalNs)}"
peer_gossip_sleep_duration = "${durationText(consensus.gossipNs)}"
block_time_tolerance = "${durationText(consensus.blockTimeToleranceNs)}"
`;
}

/** Refuses (SetupError) what this node cannot follow, naming file and key. */
export function readConfigFile(path: string): ConfigFile {
  const keys = new Keys(path, parsed(path));
  const app = keys.text('proxy_app', DEFAULT_NODE.app);
  const named = applicationNamed(app);
  if (isRefusal(named)) throw keys.wrong('proxy_app', `the name of an application: ${named.because}`);
  const mempool = mempoolOf(keys);
  const consensus = consensusOf(keys);
  if (mempool.kind === 'nop' && !consensus.createEmptyBlocks) {
    throw keys.wrong(
      'consensus.create_empty_blocks',
      'true with mempool.type "nop", or no block is ever made',
    );
  }
  const p2p = { listenAddress: listenAddress(keys), peers: peersOf(keys) };
  const inbound = inboundOf(keys, p2p.peers);
  const [files, name] = [filesOf(keys), monikerOf(keys)];
  keys.mustBeKnown(OF_OTHERS);
  return { files, settings: { name, app, ...p2p, mempool, consensus }, inbound };
}

function parsed(path: string): TomlTable {
  const text = readText('the configuration', path);
  try {
    return parse(text);
  } catch (error) {
    if (!(error instanceof TomlError)) throw error;
    const [what] = error.message.split('\n');
    throw new SetupError(
      `the configuration ${path} is not valid: line ${error.line}, column ${error.column}: ${what}`,
    );
  }
}

/** Judged as a peer will judge it, which greets this node or not at all: with all else as it should be. */
function monikerOf(keys: Keys): string {
  const moniker = keys.text('moniker', 'anonymous');
  const [id, own] = ['1'.repeat(40), '2'.repeat(40)];
  const info = nodeInfoOf({ nodeId: id, listenAddress: USUAL_LISTEN, network: 'chain', moniker });
  const theirs = decodeNodeInfo(encodeNodeInfo(info));
  const refusal = isRefusal(theirs) ? theirs : judgeGreeting({ ...info, nodeId: own }, theirs, id);
  if (refusal === null) return moniker;
  return keys.fails('moniker', `a short name in printable ASCII, such as "node0": ${refusal.because}`);
}

function filesOf(keys: Keys): FilesOfNode {
  const file = (key: string, usual: string): string =>
    keys.text(key, usual) || keys.fails(key, 'the path of a file');
  return {
    genesis: file('genesis_file', USUAL_FILES.genesis),
    nodeKey: file('node_key_file', USUAL_FILES.nodeKey),
    validatorKey: file('priv_validator_key_file', USUAL_FILES.validatorKey),
    signState: file('priv_validator_state_file', USUAL_FILES.signState),
  };
}

function mempoolOf(keys: Keys): MempoolConfig {
  const { mempool } = DEFAULT_NODE;
  const kind = keys.text('mempool.type', mempool.kind) || 'flood'; // empty: from before there was a choice
  if (kind !== 'flood' && kind !== 'nop') throw keys.wrong('mempool.type', '"flood" or "nop"');
  return {
    ...mempool,
    kind,
    recheck: keys.flag('mempool.recheck', mempool.recheck),
    broadcast: keys.flag('mempool.broadcast', mempool.broadcast),
    txsMax: keys.count('mempool.size', mempool.txsMax),
    bytesMax: keys.count('mempool.max_txs_bytes', mempool.bytesMax),
    cacheSize: keys.count('mempool.cache_size', mempool.cacheSize),
    keepInvalidTxsInCache: keys.flag('mempool.keep-invalid-txs-in-cache', mempool.keepInvalidTxsInCache),
    txBytesMax: keys.count('mempool.max_tx_bytes', mempool.txBytesMax),
  };
}

function consensusOf(keys: Keys): ConsensusConfig {
  const { consensus } = DEFAULT_NODE;
  const time = (key: string, usual: bigint): bigint => keys.duration(`consensus.${key}`, usual);
  return {
    ...consensus,
    timeoutProposeNs: time('timeout_propose', consensus.timeoutProposeNs),
    timeoutProposeDeltaNs: time('timeout_propose_delta', consensus.timeoutProposeDeltaNs),
    timeoutPrevoteNs: time('timeout_prevote', consensus.timeoutPrevoteNs),
    timeoutPrevoteDeltaNs: time('timeout_prevote_delta', consensus.timeoutPrevoteDeltaNs),
    timeoutPrecommitNs: time('timeout_precommit', consensus.timeoutPrecommitNs),
    timeoutPrecommitDeltaNs: time('timeout_precommit_delta', consensus.timeoutPrecommitDeltaNs),
    timeoutCommitNs: time('timeout_commit', consensus.timeoutCommitNs),
    skipTimeoutCommit: keys.flag('consensus.skip_timeout_commit', consensus.skipTimeoutCommit),
    createEmptyBlocks: keys.flag('consensus.create_empty_blocks', consensus.createEmptyBlocks),
    createEmptyBlocksIntervalNs: time('create_empty_blocks_interval', consensus.createEmptyBlocksIntervalNs),
    gossipNs: keys.period('consensus.peer_gossip_sleep_duration', consensus.gossipNs),
    blockTimeToleranceNs: keys.some('consensus.block_time_tolerance', consensus.blockTimeToleranceNs),
  };
}

const USUAL_LISTEN = 'tcp://127.0.0.1:26656';
const PLACE = /^(?:tcp:\/\/)?(\[[0-9a-fA-F:]+\]|[^/:@[\]]+):([0-9]{1,5})$/;

/** `ws://host:port` of `tcp://host:port`; null when it is none. */
function wsAddress(text: string): string | null {
  const [, host, port] = PLACE.exec(text) ?? [];
  if (host === undefined || port === undefined || Number(port) > 65_535) return null;
  return formatWsAddress({ host: host.replace(/^\[|\]$/g, ''), port: Number(port) });
}

function listenAddress(keys: Keys): string {
  const address = wsAddress(keys.text('p2p.laddr', USUAL_LISTEN));
  if (address === null) return keys.fails('p2p.laddr', `an address such as "${USUAL_LISTEN}"`);
  const listens = parseWsAddress(address);
  if (!isRefusal(listens)) return address;
  return keys.fails('p2p.laddr', `an address to listen on, such as "${USUAL_LISTEN}": ${listens.because}`);
}

function peersOf(keys: Keys): ConfigFile['settings']['peers'] {
  return namesIn(keys.text('p2p.persistent_peers', '')).map((entry) => {
    const [, peer, place] = /^([^@]+)@(.+)$/.exec(entry) ?? [];
    const address = place === undefined ? null : wsAddress(place);
    if (peer === undefined || !PEER_ID.test(peer) || address === null) {
      return keys.fails('p2p.persistent_peers', `a list of id@host:port, and not "${entry}"`);
    }
    const dialled = parseWsAddress(address);
    if (isRefusal(dialled)) {
      return keys.fails('p2p.persistent_peers', `a list of peers that can be dialled: ${dialled.because}`);
    }
    return { peer, address };
  });
}

const PEER_ID = /^[0-9a-f]{40}$/;

/** Of a list with commas, without spaces. */
const namesIn = (list: string): string[] =>
  list
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '');

/**
 * As in CometBFT, but that persistent peers are unconditional, too: of two that name each other the lower id dials, and strangers that came before
 * must not keep the higher one from it.
 */
function inboundOf(keys: Keys, peers: ConfigFile['settings']['peers']): Inbound {
  const key = 'p2p.unconditional_peer_ids';
  const ids = namesIn(keys.text(key, ''));
  const odd = ids.find((id) => !PEER_ID.test(id));
  if (odd !== undefined) keys.fails(key, `a list of ids, each of 40 lower-case hex digits, and not "${odd}"`);
  const most = keys.count('p2p.max_num_inbound_peers', INBOUND_MAX);
  return { most, always: [...peers.map(({ peer }) => peer), ...ids] };
}

const PERIOD_LEAST_NS = 1_000_000n;

/** The values of one file; what is missing has its usual value. */
class Keys {
  private readonly path: string;
  private readonly tables: TomlTable;
  /** By table: what was asked for. */
  private readonly asked = new Map<string, Set<string>>();

  constructor(path: string, tables: TomlTable) {
    this.path = path;
    this.tables = tables;
  }

  /** Of `table.key`, or of a key that stands before all tables. */
  private value(name: string): unknown {
    const [first = '', key] = name.split('.');
    const found = this.tables[first];
    this.ask(TOP, first);
    if (key !== undefined) this.ask(first, key);
    if (key === undefined || found === undefined) return found;
    if (typeof found !== 'object' || Array.isArray(found)) return this.fails(first, `a table: [${first}]`);
    return (found as TomlTable)[key];
  }

  private ask(table: string, key: string): void {
    const asked = this.asked.get(table);
    if (asked) asked.add(key);
    else this.asked.set(table, new Set([key]));
  }

  wrong(key: string, wants: string): SetupError {
    return new SetupError(`the configuration ${this.path} is not valid: ${key} must be ${wants}`);
  }

  fails(key: string, wants: string): never {
    throw this.wrong(key, wants);
  }

  /** Of the tables named there is nothing in the file but what was asked for, and these. */
  mustBeKnown(others: Readonly<Record<string, readonly string[]>>): void {
    for (const [table, more] of Object.entries(others)) {
      const asked = [...(this.asked.get(table) ?? [])];
      const found = table === TOP ? this.tables : (this.tables[table] ?? {});
      const odd = Object.keys(found).find((key) => !asked.includes(key) && !more.includes(key));
      if (odd === undefined) continue;
      const name = table === TOP ? odd : `${table}.${odd}`;
      throw new SetupError(
        `the configuration ${this.path} is not valid: there is no ${name}; this node reads ${asked.join(', ')}`,
      );
    }
  }

  text(key: string, usual: string): string {
    const value = this.value(key) ?? usual;
    return typeof value === 'string' ? value : this.fails(key, 'a text in quotes');
  }

  flag(key: string, usual: boolean): boolean {
    const value = this.value(key) ?? usual;
    return typeof value === 'boolean' ? value : this.fails(key, 'true or false');
  }

  count(key: string, usual: number): number {
    const value = this.value(key) ?? usual;
    if (typeof value === 'number' && value >= 0 && Number.isSafeInteger(value)) return value;
    return this.fails(key, 'a whole number from 0 on');
  }

  duration(key: string, usual: bigint): bigint {
    const value = this.value(key);
    if (value === undefined) return usual;
    const ns = typeof value === 'string' ? durationNs(value) : null;
    return ns ?? this.fails(key, 'a duration such as "1.5s" or "100ms", not negative');
  }

  /** What comes again and again must not come without end. */
  period(key: string, usual: bigint): bigint {
    const ns = this.duration(key, usual);
    return ns >= PERIOD_LEAST_NS ? ns : this.fails(key, 'a duration from "1ms" on');
  }

  /** Without any, what it is for could not be. */
  some(key: string, usual: bigint): bigint {
    const ns = this.duration(key, usual);
    return ns > 0n ? ns : this.fails(key, 'a duration of more than "0s"');
  }
}
