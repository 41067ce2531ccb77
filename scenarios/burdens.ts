// What a liar would make its peers carry by words that are true: parts of blocks said again and again, or with much behind them.

import type { Payload } from '../actors/turn.ts';
import { concatBytes } from '../protocol/bytes.ts';
import { CHANNEL_DATA } from '../protocol/messages.ts';
import { encodeWith } from '../protocol/wire/writer.ts';
import { instead, type Liar, type LiarKit } from '../sim/liars/liar.ts';
import { consensusMessage } from '../sim/oracles/ghost/messages.ts';
import { everyone, height, liar, scenario, txs, validators } from '../sim/scenario/words.ts';

const TIMES = 10;
const PADDING_BYTES = 200 * 1_024;
/** Field 15, bytes: nobody knows it. */
const PADDING = encodeWith((writer, size) => writer.bytes(0x7a, new Uint8Array(size)), PADDING_BYTES);

/** Each proposal, and each part of a block, whosever it is, leaves the liar as `change` says. */
function aboutBlocks(kit: LiarKit, what: string, change: (payload: Payload) => readonly Payload[]) {
  return instead(kit, (payload) => {
    const message = payload.channel === CHANNEL_DATA ? consensusMessage(payload) : null;
    if (message?.type !== 'proposal' && message?.type !== 'block-part') return null;
    kit.count(what);
    return change(payload);
  });
}

const repeater: Liar = (kit) =>
  aboutBlocks(kit, 'lie: the same again', (payload) => Array.from({ length: TIMES }, () => payload));

const padder: Liar = (kit) =>
  aboutBlocks(kit, 'lie: much behind a word', ({ channel, bytes }) => [
    { channel, bytes: concatBytes(bytes, PADDING) },
  ]);

/** Blocks of three parts. */
export const saidAgainAndAgain = scenario('what is said again and again is kept once', {
  name: 'said-again-and-again',
  cast: validators(4),
  load: txs({ perBlock: 4, size: 40_000 }),
  liars: [liar('v2', repeater, ['v0', 'v1', 'v3'])],
  ends: everyone.decides(height(8), { within: '120s' }),
});

export const paddedBlocks = scenario('what hangs behind a word of a block is not kept', {
  name: 'padded-blocks',
  cast: validators(4),
  load: txs({ perBlock: 4, size: 40_000 }),
  liars: [liar('v2', padder, ['v0', 'v1', 'v3'])],
  ends: everyone.decides(height(8), { within: '120s' }),
});
