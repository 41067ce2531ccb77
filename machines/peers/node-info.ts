// Who a peer says it is (spec 8.2): p2p.DefaultNodeInfo, its bytes, and whether we can talk to it.

import { type Refusal, refuse } from '../../protocol/refusal.ts';
import { BLOCK_PROTOCOL, EMPTY_BYTES, P2P_PROTOCOL, SOFTWARE_VERSION } from '../../protocol/types.ts';
import { decodeWith, type ProtoReader } from '../../protocol/wire/reader.ts';
import { encodeWith } from '../../protocol/wire/writer.ts';

/** The greeting's channel: ours alone, where CometBFT sends it before there are channels. */
export const CHANNEL_GREETING = 0x01;
/** CometBFT MaxNodeInfoSize. */
export const NODE_INFO_BYTES_MAX = 10_240;
const CHANNELS_MAX = 16;

export interface NodeInfo {
  readonly p2pProtocol: bigint;
  readonly blockProtocol: bigint;
  readonly appProtocol: bigint;
  readonly nodeId: string;
  readonly listenAddress: string;
  /** The chain id. */
  readonly network: string;
  readonly version: string;
  /** One byte each. */
  readonly channels: Uint8Array;
  readonly moniker: string;
  readonly txIndex: string;
  readonly rpcAddress: string;
}

/** consensus 20-23, mempool 30, evidence 38, block sync 40. */
export const CHANNELS: Uint8Array = Uint8Array.from([0x40, 0x20, 0x21, 0x22, 0x23, 0x30, 0x38]);

export function nodeInfoOf(
  own: Pick<NodeInfo, 'nodeId' | 'listenAddress' | 'network' | 'moniker'> & Partial<NodeInfo>,
): NodeInfo {
  return {
    p2pProtocol: P2P_PROTOCOL,
    blockProtocol: BLOCK_PROTOCOL,
    appProtocol: 0n,
    version: SOFTWARE_VERSION,
    channels: CHANNELS,
    txIndex: 'off',
    rpcAddress: '',
    ...own,
  };
}

export const encodeNodeInfo = (info: NodeInfo): Uint8Array =>
  encodeWith((writer) => {
    const protocol = writer.open(0x0a);
    writer.int64(0x08, info.p2pProtocol);
    writer.int64(0x10, info.blockProtocol);
    writer.int64(0x18, info.appProtocol);
    writer.close(protocol);
    writer.text(0x12, info.nodeId);
    writer.text(0x1a, info.listenAddress);
    writer.text(0x22, info.network);
    writer.text(0x2a, info.version);
    writer.bytes(0x32, info.channels);
    writer.text(0x3a, info.moniker);
    const other = writer.open(0x42);
    writer.text(0x0a, info.txIndex);
    writer.text(0x12, info.rpcAddress);
    writer.close(other);
  }, null);

const NOTHING: NodeInfo = {
  p2pProtocol: 0n,
  blockProtocol: 0n,
  appProtocol: 0n,
  nodeId: '',
  listenAddress: '',
  network: '',
  version: '',
  channels: EMPTY_BYTES,
  moniker: '',
  txIndex: '',
  rpcAddress: '',
};

type Draft = { -readonly [Name in keyof NodeInfo]: NodeInfo[Name] };

export function decodeNodeInfo(bytes: Uint8Array): NodeInfo | Refusal {
  if (bytes.length > NODE_INFO_BYTES_MAX) {
    return refuse('node-info', `node info has ${bytes.length} bytes, the maximum is ${NODE_INFO_BYTES_MAX}`);
  }
  return decodeWith('node info', bytes, readNodeInfo, NOTHING);
}

function readNodeInfo(reader: ProtoReader, was: NodeInfo): NodeInfo {
  const info: Draft = { ...was };
  while (reader.next()) {
    if (reader.tag === 0x0a) Object.assign(info, reader.message(readProtocol, info));
    else if (reader.tag === 0x12) info.nodeId = reader.text();
    else if (reader.tag === 0x1a) info.listenAddress = reader.text();
    else if (reader.tag === 0x22) info.network = reader.text();
    else if (reader.tag === 0x2a) info.version = reader.text();
    else if (reader.tag === 0x32) info.channels = reader.bytes();
    else if (reader.tag === 0x3a) info.moniker = reader.text();
    else if (reader.tag === 0x42) Object.assign(info, reader.message(readOther, info));
    else reader.skip(8);
  }
  return info;
}

function readProtocol(reader: ProtoReader, was: Draft): Draft {
  const info = { ...was };
  while (reader.next()) {
    if (reader.tag === 0x08) info.p2pProtocol = reader.uint64();
    else if (reader.tag === 0x10) info.blockProtocol = reader.uint64();
    else if (reader.tag === 0x18) info.appProtocol = reader.uint64();
    else reader.skip(3);
  }
  return info;
}

function readOther(reader: ProtoReader, was: Draft): Draft {
  const info = { ...was };
  while (reader.next()) {
    if (reader.tag === 0x0a) info.txIndex = reader.text();
    else if (reader.tag === 0x12) info.rpcAddress = reader.text();
    else reader.skip(2);
  }
  return info;
}

/** Printable and not blank. */
const ASCII = /^[ -~]*[!-~][ -~]*$/;

export type GreetingRefusal = Refusal<
  'wrong-id' | 'malformed-node-info' | 'other-protocol' | 'other-network' | 'no-common-channel'
>;

/**
 * Null: welcome. `peer` is the id that the connection came with. P2P, application and software versions are not
 * compared.
 */
export function judgeGreeting(own: NodeInfo, theirs: NodeInfo, peer: string): GreetingRefusal | null {
  if (peer === own.nodeId) return refuse('wrong-id', 'this is our own node id: we reached ourselves');
  if (theirs.nodeId !== peer) {
    return refuse('wrong-id', `it says its id is ${theirs.nodeId}, the connection says ${peer}`);
  }
  const malformed = formOf(theirs);
  if (malformed !== null) return refuse('malformed-node-info', malformed);
  if (theirs.blockProtocol !== own.blockProtocol) {
    const because = `its block protocol is ${theirs.blockProtocol}, ours is ${own.blockProtocol}`;
    return refuse('other-protocol', because);
  }
  if (theirs.network !== own.network) {
    return refuse('other-network', `its network is ${theirs.network}, ours is ${own.network}`);
  }
  const hasCommon = own.channels.length === 0 || theirs.channels.some((id) => own.channels.includes(id));
  return hasCommon ? null : refuse('no-common-channel', 'it has no channel in common with us');
}

function formOf({ version, channels, moniker, txIndex, rpcAddress }: NodeInfo): string | null {
  if (version !== '' && !ASCII.test(version)) return 'version is not printable ASCII';
  if (channels.length > CHANNELS_MAX) return `it has ${channels.length} channels, at most ${CHANNELS_MAX}`;
  if (new Set(channels).size !== channels.length) return 'it names a channel twice';
  if (!ASCII.test(moniker)) return 'moniker is not printable ASCII';
  if (txIndex !== '' && txIndex !== 'on' && txIndex !== 'off') return `tx_index is ${txIndex}, not on or off`;
  return rpcAddress !== '' && !ASCII.test(rpcAddress) ? 'rpc_address is not printable ASCII' : null;
}
