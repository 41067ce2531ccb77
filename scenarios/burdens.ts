// What a liar would make its peers carry by words that are true: parts of blocks said again and again, or with much behind them;
// and that it is behind, again and again.

import type { Payload } from '../actors/turn.ts';
import { concatBytes } from '../protocol/bytes.ts';
import { CHANNEL_DATA, CHANNEL_STATE } from '../protocol/messages.ts';
import { encodeConsensusMessage } from '../protocol/wire/index.ts';
import { encodeWith } from '../protocol/wire/writer.ts';
import { instead, type Liar, type LiarKit } from '../sim/liars/liar.ts';
import { consensusMessage, heightOf } from '../sim/oracles/ghost/messages.ts';
import {
  after,
  at,
  clog,
  drop,
  everyone,
  heal,
  height,
  liar,
  scenario,
  txs,
  v2,
  validators,
  when,
} from '../sim/scenario/words.ts';

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

/** Behind whatever it says of a height, that it is still at the one before. */
const beggar: Liar = (kit) =>
  instead(kit, (payload) => {
    const said = consensusMessage(payload);
    const height = (said ? heightOf(said) : 0n) - 1n;
    if (!said || said.type === 'new-round-step' || height < 1n) return null;
    kit.count('lie: it is behind');
    const bytes = encodeConsensusMessage({
      type: 'new-round-step',
      height,
      round: 0,
      step: 4,
      secondsSinceStart: 0n,
      lastCommitRound: height > 1n ? 0 : -1,
    });
    return [payload, { channel: CHANNEL_STATE, bytes }];
  });

/** The rounds of height 5 fail, and what v2 says in them comes in one moment. */
export const behindAgainAndAgain = scenario(
  'who says again and again that it is behind is served at a pace',
  {
    name: 'behind-again-and-again',
    cast: validators(4),
    liars: [liar('v2', beggar, ['v0'])],
    act: [
      at('0s', drop('proposals', { height: 5 })),
      when(v2.enters('prevote', { height: 5 }), clog(['v2'], ['v0'], '20s')),
      after('20s', heal()),
    ],
    ends: everyone.decides(height(10), { within: '90s' }),
  },
);
