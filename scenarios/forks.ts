// More than a third lies, and the chain forks: the one promise that is left is that the liars can be named.
// With four equal validators v2 proposes round 0 of height 13, and v1 round 1. Where more than two thirds lie nobody honest is left to fork from.

import { utf8Encode } from '#platform';
import { commitHash, dataHash, headerHash } from '../protocol/hashes.ts';
import { CHANNEL_BLOCKSYNC } from '../protocol/messages.ts';
import { PartSet } from '../protocol/part-set.ts';
import { unreachable } from '../protocol/refusal.ts';
import {
  type Block,
  type Commit,
  type CommitSig,
  EMPTY_BYTES,
  FLAG_ABSENT,
  PRECOMMIT,
  ZERO_TIME_NS,
} from '../protocol/types.ts';
import { encodeBlock, encodeBlocksyncMessage } from '../protocol/wire/index.ts';
import {
  blockGiven,
  instead,
  isItsPlace,
  type Liar,
  type LiarKit,
  Remembered,
  signedAs,
} from '../sim/liars/liar.ts';
import { aboutOwnBlocks } from '../sim/liars/own-blocks.ts';
import {
  at,
  block,
  chain,
  crash,
  cut,
  drop,
  f0,
  finally_,
  height,
  isolate,
  liar,
  node,
  powers,
  restart,
  scenario,
  sometime,
  these,
  v0,
  v1,
  v2,
  v3,
  validators,
  when,
} from '../sim/scenario/words.ts';

const FORK = 13;
const f1 = node('f1');
const there = { fromHeight: FORK, toHeight: FORK };

/** v0 and v1 each hear a block and votes that make two thirds with their own. */
export const forkByTwoVotes = scenario('two of four vote twice, the chain forks, and both are named', {
  name: 'fork-by-two-votes',
  cast: validators(4),
  liars: [
    liar('v2', 'proposal-equivocator', ['v0'], there),
    liar('v2', 'vote-equivocator', ['v0'], there),
    liar('v3', 'vote-equivocator', ['v0'], there),
  ],
  ends: chain.forksAt(height(FORK), { guilty: ['v2', 'v3'], within: '60s' }),
});

const first = { height: FORK, round: 0 };
const second = { height: FORK, round: 1 };
const later = { ...there, fromRound: 1 };

/**
 * No key signs two votes for one round. v0 alone decides block 1 in round 0; in round 1 v2 and v3, who
 * precommitted it too, vote for block 2, though nobody has shown them two thirds for that.
 */
export const forkByAmnesia = scenario('two of four forget their lock, the chain forks, and both are named', {
  name: 'fork-by-amnesia',
  cast: validators(4),
  liars: [
    liar('v2', 'amnesiac', ['v0', 'v1', 'v3'], later),
    liar('v3', 'amnesiac', ['v0', 'v1', 'v2'], later),
  ],
  act: [
    at(
      '0s',
      drop('proposals', { ...first, to: ['v1'] }),
      drop('parts', { ...first, to: ['v1'] }),
      drop('prevotes', { ...first, by: ['v0'], to: ['v1'] }),
      drop('precommits', { ...first, by: ['v0'] }),
    ),
    when(v0.decides(height(FORK)), isolate('v0')),
  ],
  holds: [sometime(v0.precommits(block(1), first)), sometime(v1.precommits(block(2), second))],
  ends: chain.forksAt(height(FORK), { guilty: ['v2', 'v3'], within: '60s' }),
});

const WRONG = new Uint8Array(32).fill(0xee);
const ofAnotherState: Liar = (kit) =>
  aboutOwnBlocks(kit, 'lie: an invalid block', ({ header, ...block }) => ({
    block: { ...block, header: { ...header, appHash: WRONG } },
  }));
const INVALID = '+2/3 committed an invalid block';

/** v0 votes alone for what it proposes, and that decides. */
export const twoThirdsLie = scenario(
  'what the rules forbid is followed by nobody, though two thirds decide it',
  {
    name: 'two-thirds-lie',
    cast: powers(9, 1, 1, 1),
    liars: [
      liar('v0', ofAnotherState, ['v1', 'v2', 'v3'], { fromHeight: FORK }),
      liar('v0', 'vote-equivocator', ['v1', 'v2', 'v3'], { fromHeight: FORK }),
    ],
    holds: [v1, v2, v3].flatMap((each) => [sometime(each.halts(INVALID)), finally_(each.isHalted)]),
    ends: these().decides(height(FORK + 7), { within: '120s' }),
  },
);

/** In block sync: a block that the rules forbid, and the next one with a last commit for it, which the liar alone signs. */
const serves =
  (forbidden: (block: Block) => Block): Liar =>
  (kit) => {
    const served = new Remembered<Block | null>();
    const lieAbout = (block: Block): Block | null => {
      const { header, lastCommit } = block;
      if (!lastCommit || !isItsPlace(kit.words, header.height, 0)) return null;
      kit.count('lie: an invalid block');
      const before = served.get(String(header.height - 1n), () => null);
      if (!before) return forbidden(block);
      const own = signedAlone(kit, before, lastCommit);
      const next = { ...header, lastBlockId: own.blockId, lastCommitHash: commitHash(own) };
      return { ...block, lastCommit: own, header: next };
    };
    return instead(kit, (payload) => {
      const message = blockGiven(payload);
      const block = message && served.get(String(message.block.header.height), () => lieAbout(message.block));
      return block && [{ channel: CHANNEL_BLOCKSYNC, bytes: encodeBlocksyncMessage({ ...message, block }) }];
    });
  };

const withAnotherState = ({ header, ...block }: Block): Block => ({
  ...block,
  header: { ...header, appHash: WRONG },
});

const BLOCK_BYTES = 16_000;
function tooLarge({ header, ...block }: Block): Block {
  const txs = [utf8Encode('large='.padEnd(BLOCK_BYTES, 'v'))];
  return { ...block, txs, header: { ...header, dataHash: dataHash(txs) } };
}

const ABSENT: CommitSig = {
  flag: FLAG_ABSENT,
  validatorAddress: EMPTY_BYTES,
  timeNs: ZERO_TIME_NS,
  signature: EMPTY_BYTES,
};

/** The strongest stands first in the set. */
function signedAlone(kit: LiarKit, block: Block, { height, round, signatures }: Commit): Commit {
  const [mine = unreachable('it signs what decides'), ...others] = signatures;
  const parts = PartSet.whole(encodeBlock(block)).header;
  const blockId = { hash: headerHash(block.header), parts };
  const { signature } = signedAs(kit, {
    type: PRECOMMIT,
    height,
    round,
    blockId,
    timeNs: mine.timeNs,
    validatorAddress: mine.validatorAddress,
    validatorIndex: 0,
    signature: EMPTY_BYTES,
    extension: EMPTY_BYTES,
    extensionSignature: EMPTY_BYTES,
  });
  return { height, round, blockId, signatures: [{ ...mine, signature }, ...others.map(() => ABSENT)] };
}

/** f0 and f1 are away for some heights, and have all blocks from v0. */
export const twoThirdsLieToOneBehind = scenario(
  'what the rules forbid is not followed in block sync either, though two thirds signed it',
  {
    name: 'two-thirds-lie-to-one-behind',
    cast: { ...powers(9, 1, 1, 1), fullNodes: 2, blockBytes: BLOCK_BYTES },
    liars: [
      liar('v0', serves(withAnotherState), ['f0'], { fromHeight: FORK, toHeight: FORK + 1 }),
      liar('v0', serves(tooLarge), ['f1'], { fromHeight: FORK, toHeight: FORK + 1 }),
    ],
    act: [
      at(
        '0s',
        cut(['v1', 'v2', 'v3'], ['f0', 'f1'], 'for-ever'),
        cut(['f0', 'f1'], ['v1', 'v2', 'v3'], 'for-ever'),
      ),
      when(v1.decides(height(3)), crash('f0'), crash('f1')),
      when(v1.decides(height(FORK + 7)), restart('f0'), restart('f1')),
    ],
    holds: [
      sometime(f0.halts(`${INVALID} at height ${FORK}: wrong Block.Header.AppHash`)),
      sometime(f1.halts(`block.max_bytes allows ${BLOCK_BYTES}`)),
      finally_(f0.isHalted),
      finally_(f1.isHalted),
    ],
    ends: these('v1', 'v2', 'v3').decides(height(FORK + 12), { within: '120s' }),
  },
);
