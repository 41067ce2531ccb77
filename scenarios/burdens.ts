// What a liar would make its peers carry by words that are true: parts of blocks said again and again, or with much behind them;
// and that it is behind, again and again.

import { utf8Encode } from '#platform';
import type { Payload } from '../actors/turn.ts';
import { concatBytes } from '../protocol/bytes.ts';
import { CHANNEL_DATA, CHANNEL_MEMPOOL, CHANNEL_STATE } from '../protocol/messages.ts';
import { PREVOTE } from '../protocol/types.ts';
import { encodeConsensusMessage, encodeMempoolMessage } from '../protocol/wire/index.ts';
import { encodeWith } from '../protocol/wire/writer.ts';
import { instead, type Liar, type LiarKit } from '../sim/liars/liar.ts';
import { aboutOwnVotes } from '../sim/liars/own-votes.ts';
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

const BEGGED = 40;

/** Behind each prevote, that it is still where it was. An envelope is split where a word is for another actor: so each is a word of its own. */
const beggar: Liar = (kit) => {
  const tx = utf8Encode('between=words');
  const between = { channel: CHANNEL_MEMPOOL, bytes: encodeMempoolMessage({ type: 'txs', txs: [tx] }) };
  kit.submitted(tx);
  return aboutOwnVotes(kit, 'lie: it is behind', (vote, payload) => {
    const height = vote.height - 1n;
    if (vote.type !== PREVOTE || height < 1n) return null;
    const bytes = encodeConsensusMessage({
      type: 'new-round-step',
      height,
      round: 0,
      step: 4,
      secondsSinceStart: 0n,
      lastCommitRound: height > 1n ? 0 : -1,
    });
    const step = { channel: CHANNEL_STATE, bytes };
    return [payload, ...Array.from({ length: BEGGED }, () => [between, step]).flat()];
  });
};

export const behindAgainAndAgain = scenario(
  'who says again and again that it is behind is served at a pace',
  {
    name: 'behind-again-and-again',
    cast: validators(4),
    liars: [liar('v2', beggar, ['v0'])],
    ends: everyone.decides(height(10), { within: '60s' }),
  },
);
