import fc from 'fast-check';
import { expect, it } from 'vitest';
import {
  decodeNodeInfo,
  encodeNodeInfo,
  judgeGreeting,
  type NodeInfo,
  nodeInfoOf,
} from '../../machines/peers/node-info.ts';
import { hexOf } from '../../protocol/bytes.ts';
import { isRefusal } from '../../protocol/refusal.ts';

const [A, B] = ['a'.repeat(40), 'b'.repeat(40)];
const own = nodeInfoOf({ nodeId: A, listenAddress: 'tcp://0.0.0.0:26656', network: 'c', moniker: 'one' });
const theirs = nodeInfoOf({ nodeId: B, listenAddress: 'tcp://0.0.0.0:26656', network: 'c', moniker: 'two' });

const rows: readonly { readonly says: string; readonly theirs: Partial<NodeInfo>; readonly peer?: string }[] =
  [
    { says: 'welcome', theirs: {} },
    { says: 'welcome', theirs: { p2pProtocol: 9n, appProtocol: 7n, version: '1.0.0' } },
    { says: 'wrong-id', theirs: { nodeId: A } },
    { says: 'wrong-id', theirs: { nodeId: A }, peer: A },
    { says: 'other-protocol', theirs: { blockProtocol: 12n } },
    { says: 'other-network', theirs: { network: 'd' } },
    { says: 'welcome', theirs: { channels: Uint8Array.of(0x00, 0x22, 0x60, 0x61) } },
    { says: 'no-common-channel', theirs: { channels: Uint8Array.of(0x60) } },
    { says: 'malformed-node-info', theirs: { channels: Uint8Array.of(0x20, 0x20) } },
    {
      says: 'malformed-node-info',
      theirs: { channels: Uint8Array.from({ length: 17 }, (_, i) => 0x20 + i) },
    },
    { says: 'malformed-node-info', theirs: { moniker: ' ' } },
    { says: 'malformed-node-info', theirs: { moniker: 'ü' } },
    { says: 'malformed-node-info', theirs: { txIndex: 'maybe' } },
    { says: 'malformed-node-info', theirs: { version: '\u0007' } },
    { says: 'malformed-node-info', theirs: { rpcAddress: 'ö' } },
  ];

it.each(rows)('$theirs: $says', ({ says, theirs: changed, peer }) => {
  const refusal = judgeGreeting(own, { ...theirs, ...changed }, peer ?? B);
  expect(refusal ? refusal.refused : 'welcome').toBe(says);
});

it('its bytes are those of DefaultNodeInfo', () => {
  const bytes = encodeNodeInfo({ ...own, nodeId: 'id', listenAddress: 'l', rpcAddress: 'r' });
  const wanted = [
    '0a04 0808 100b', // protocol version {8, 11}
    '1202 6964 1a01 6c 2201 63',
    `2a07 ${hexOf(new TextEncoder().encode('0.38.26'))}`,
    '3207 40202122233038',
    '3a03 6f6e65',
    '4208 0a03 6f6666 1201 72',
  ];
  expect(hexOf(bytes)).toBe(wanted.join('').replaceAll(' ', ''));
});

it('comes back as it went, and other bytes are refused', () => {
  const word = fc.string({ maxLength: 20 });
  const number = fc.bigInt(0n, (1n << 64n) - 1n);
  const any = fc.record<NodeInfo>({
    p2pProtocol: number,
    blockProtocol: number,
    appProtocol: number,
    nodeId: word,
    listenAddress: word,
    network: word,
    version: word,
    channels: fc.uint8Array({ maxLength: 20 }),
    moniker: word,
    txIndex: word,
    rpcAddress: word,
  });
  fc.assert(
    fc.property(any, (info) => {
      expect(decodeNodeInfo(encodeNodeInfo(info))).toEqual(info);
    }),
  );
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 60 }), (bytes) => {
      decodeNodeInfo(bytes); // whatever it says, it does not throw
    }),
  );
  expect(isRefusal(decodeNodeInfo(Uint8Array.of(0x0a, 9)))).toBe(true);
  expect(isRefusal(decodeNodeInfo(new Uint8Array(10_241)))).toBe(true);
});
