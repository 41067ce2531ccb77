// The false greeter: of another network, of another block protocol, somebody else, with nothing to talk about, or in a form that nobody greets in.
// Another flaw in each greeting.

import {
  CHANNEL_GREETING,
  decodeNodeInfo,
  encodeNodeInfo,
  NODE_INFO_BYTES_MAX,
  type NodeInfo,
} from '../../machines/peers/node-info.ts';
import { concatBytes } from '../../protocol/bytes.ts';
import { isRefusal } from '../../protocol/refusal.ts';
import { instead, type Liar } from './liar.ts';

/** No consensus, mempool, evidence or block sync. */
const ELSEWHERE = Uint8Array.from([0x70]);

/** One more than there may be. */
const MANY = Uint8Array.from({ length: 17 }, (_, i) => 0x20 + i);

const flaws: readonly ((info: NodeInfo) => Partial<NodeInfo>)[] = [
  (info) => ({ network: `${info.network}-2` }),
  (info) => ({ blockProtocol: info.blockProtocol + 1n }),
  (info) => ({ nodeId: [...info.nodeId].reverse().join('') }),
  () => ({ channels: ELSEWHERE }),
  ({ channels }) => ({ channels: concatBytes(channels, channels.subarray(0, 1)) }),
  () => ({ channels: MANY }),
  () => ({ moniker: '' }),
  () => ({ txIndex: 'perhaps' }),
  ({ version }) => ({ version: `${version}\n` }),
  () => ({ rpcAddress: ' ' }),
  () => ({ moniker: 'm'.repeat(NODE_INFO_BYTES_MAX) }),
];

export const falseGreeter: Liar = (kit) => {
  let told = 0;
  return instead(kit, ({ channel, bytes }) => {
    if (channel !== CHANNEL_GREETING || bytes.length === 0 || !kit.lies()) return null;
    const info = decodeNodeInfo(bytes);
    const flaw = flaws[told++ % flaws.length];
    if (isRefusal(info) || !flaw) return null;
    kit.count('lie: a false greeting');
    return [{ channel, bytes: encodeNodeInfo({ ...info, ...flaw(info) }) }];
  });
};
