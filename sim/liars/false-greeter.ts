// The false greeter: of another network, of another block protocol, somebody else, or with nothing to talk about. Another flaw in each greeting.

import {
  CHANNEL_GREETING,
  decodeNodeInfo,
  encodeNodeInfo,
  type NodeInfo,
} from '../../machines/peers/node-info.ts';
import { isRefusal } from '../../protocol/refusal.ts';
import { instead, type Liar } from './liar.ts';

/** No consensus, mempool, evidence or block sync. */
const ELSEWHERE = Uint8Array.from([0x70]);

const flaws: readonly ((info: NodeInfo) => NodeInfo)[] = [
  (info) => ({ ...info, network: `${info.network}-2` }),
  (info) => ({ ...info, blockProtocol: info.blockProtocol + 1n }),
  (info) => ({ ...info, nodeId: [...info.nodeId].reverse().join('') }),
  (info) => ({ ...info, channels: ELSEWHERE }),
];

export const falseGreeter: Liar = (kit) => {
  let told = 0;
  return instead(kit, ({ channel, bytes }) => {
    if (channel !== CHANNEL_GREETING || bytes.length === 0 || !kit.lies()) return null;
    const info = decodeNodeInfo(bytes);
    const flawed = isRefusal(info) ? undefined : flaws[told++ % flaws.length]?.(info as NodeInfo);
    if (!flawed) return null;
    kit.count('lie: a false greeting');
    return [{ channel, bytes: encodeNodeInfo(flawed) }];
  });
};
