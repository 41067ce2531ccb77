// An application that has a will of its own: what it says at each of its turns, the chain does.

import { REJECT } from '../machines/apps/base.ts';
import { KvStore } from '../machines/apps/kvstore.ts';
import { DEFAULT_CONSENSUS } from '../machines/consensus/config.ts';
import {
  type AbciRequest,
  type AbciResponse,
  CHECK_TX_RECHECK,
  type RequestProcessProposal,
} from '../protocol/abci.ts';
import { compareBytes } from '../protocol/bytes.ts';
import { EMPTY_BYTES } from '../protocol/types.ts';
import { SECOND } from '../sim/latency.ts';
import {
  after,
  anyone,
  at,
  calm,
  crash,
  disk,
  drop,
  everyone,
  f0,
  heal,
  height,
  isolate,
  liar,
  links,
  powers,
  restart,
  scenario,
  sometime,
  submit,
  these,
  txs,
  v0,
  v1,
  v3,
  validators,
  when,
  whenever,
} from '../sim/scenario/words.ts';

/**
 * Powers of 10, 15, 20, ... and blocks of three megabytes, whatever the genesis says; every third block of one validator refused; other
 * parameters every fourth height; and each transaction has data in its result: its own last byte.
 */
class Wilful extends KvStore {
  override answer(request: AbciRequest): AbciResponse {
    if (request.type === 'init-chain') {
      const chosen = request.value.validators.map((each, i) => ({ ...each, power: BigInt(10 + 5 * i) }));
      const answer = super.answer({ type: 'init-chain', value: { ...request.value, validators: chosen } });
      return answer.type === 'init-chain'
        ? {
            ...answer,
            value: {
              ...answer.value,
              validators: chosen,
              consensusParams: { block: { maxBytes: 3_000_000n, maxGas: -1n } },
            },
          }
        : answer;
    }
    if (request.type === 'process-proposal' && isUnwelcome(request.value)) return REJECT;
    const plain = super.answer(request);
    if (request.type !== 'finalize-block' || plain.type !== 'finalize-block') return plain;
    const txResults = plain.value.txResults.map((result, i) => ({
      ...result,
      data: request.value.txs[i]?.slice(-1) ?? EMPTY_BYTES,
    }));
    const answer = { ...plain, value: { ...plain.value, txResults } };
    if (request.value.height % 4n !== 0n) return answer;
    const block = { maxBytes: 2_000_000n + request.value.height, maxGas: -1n };
    const evidence = {
      maxAgeBlocks: 1_000n + request.value.height,
      maxAgeNs: 3_600_000_000_000n,
      maxBytes: 10_000n,
    };
    const { height } = request.value;
    // From the eighth on validators may have other keys, too, and each update of the parameters is a new version of the application.
    const more =
      height < 8n
        ? {}
        : { validator: { publicKeyTypes: ['ed25519', 'secp256k1'] }, version: { app: height } };
    return { ...answer, value: { ...answer.value, consensusParamUpdates: { block, evidence, ...more } } };
  }
}

/** From height 4 on blocks may be as large as any. */
class Boundless extends KvStore {
  override answer(request: AbciRequest): AbciResponse {
    const answer = super.answer(request);
    if (request.type !== 'finalize-block' || answer.type !== 'finalize-block' || request.value.height !== 4n)
      return answer;
    const block = { maxBytes: -1n, maxGas: -1n };
    return { ...answer, value: { ...answer.value, consensusParamUpdates: { block } } };
  }
}

/** A block of height 3 takes two of them, one of height 5 all that wait. */
export const noLimitOfItsOwn = scenario(
  'an application may set no limit to blocks, and evidence still has one',
  {
    name: 'no-limit-of-its-own',
    cast: validators(4, { blockBytes: 100_000 }),
    app: () => new Boundless(),
    load: txs({ perBlock: 4, size: 40_000 }),
    ends: everyone.decides(height(10), { within: '120s' }),
  },
);

/** Of whoever has the greatest address, at every third height. */
function isUnwelcome({ height, proposerAddress, proposedLastCommit }: RequestProcessProposal): boolean {
  const addresses = proposedLastCommit.votes.map(({ validator }) => validator.address);
  return height % 3n === 0n && addresses.every((address) => compareBytes(address, proposerAddress) <= 0);
}

export const applicationDecides = scenario(
  'an application chooses the powers, refuses proposals and changes the parameters',
  {
    name: 'application-decides',
    cast: validators(4),
    app: () => new Wilful(),
    load: txs({ perSecond: 3 }),
    act: [when(v0.decides(height(5)), crash('v1', { restart: '3s' }))],
    holds: [sometime(anyone.enters('propose', { round: 1 }))],
    ends: everyone.decides(height(16), { within: '240s', afterwards: 1 }),
  },
);

/** Wants the latest blocks, so many, and no others. */
class Forgetful extends KvStore {
  private latest = 0n;
  private readonly wanted: bigint;

  constructor(wanted: bigint) {
    super();
    this.wanted = wanted;
  }

  override answer(request: AbciRequest): AbciResponse {
    const answer = super.answer(request);
    if (request.type === 'finalize-block') this.latest = request.value.height;
    if (answer.type !== 'commit' || this.latest < this.wanted) return answer;
    return { ...answer, value: { retainHeight: this.latest - this.wanted + 1n } };
  }
}

export const lastBlockAlone = scenario('an application may want the last block alone', {
  name: 'last-block-alone',
  cast: validators(4),
  app: () => new Forgetful(1n),
  load: txs({ perSecond: 2 }),
  ends: everyone.decides(height(14), { within: '120s' }),
});

export const oldBlocksGo = scenario('blocks that the application wants no more go, and no others', {
  name: 'old-blocks-go',
  cast: validators(4),
  app: () => new Forgetful(5n),
  load: txs({ perSecond: 2 }),
  act: [
    when(v0.decides(height(6)), crash('v1', { restart: '3s' })),
    when(v0.decides(height(9)), isolate('v2')),
    when(v0.decides(height(12)), heal()),
  ],
  ends: everyone.decides(height(16), { within: '240s', afterwards: 1 }),
});

/** Lets nothing succeed before height 10. */
class Late extends Forgetful {
  private executing = 0n;

  override answer(request: AbciRequest): AbciResponse {
    const answer = super.answer(request);
    if (request.type === 'finalize-block') this.executing = request.value.height;
    if (answer.type !== 'finalize-block' || this.executing >= 10n) return answer;
    const txResults = answer.value.txResults.map((result) => ({ ...result, code: 1 }));
    return { ...answer, value: { ...answer.value, txResults } };
  }
}

/** v0 dies with block 8 stored and not executed. It executes it as it starts, and lets go of the block with the transaction while it reads what its pool has to know. */
export const failedInABlockThatGoes = scenario(
  'what failed may be given again though its block goes as the node starts',
  {
    name: 'failed-in-a-block-that-goes',
    cast: validators(4),
    app: () => new Late(4n),
    act: [
      when(v0.decides(height(3)), submit('v0', 'late=1')),
      when(
        v0.prevotes({}, { height: 8 }),
        crash('v0', {
          how: 'clean',
          restart: '1s',
          point: { when: 'after', op: 'flush', on: 'chain', nth: 1 },
        }),
      ),
      when(v0.joins()),
      after('5s', submit('v0', 'late=1')),
    ],
    ends: everyone.decides(height(20), { within: '120s' }),
  },
);

/** Asked about a transaction a second time, it fails. */
class Forgetting extends KvStore {
  override answer(request: AbciRequest): AbciResponse {
    if (request.type === 'check-tx' && request.value.type === CHECK_TX_RECHECK)
      return { type: 'exception', value: { error: 'asked and answered' } };
    return super.answer(request);
  }
}

export const failsWhenAskedAgain = scenario('who fails at a transaction has refused it', {
  name: 'fails-when-asked-again',
  cast: validators(4, { blockBytes: 14_800 }),
  app: () => new Forgetting(),
  load: txs({ perSecond: 12, size: 150 }),
  ends: everyone.decides(height(15), { within: '120s' }),
});

/** A thousand bytes of evidence in a block: two proofs of a double vote. */
class Lenient extends KvStore {
  override answer(request: AbciRequest): AbciResponse {
    const answer = super.answer(request);
    const evidence = { maxAgeBlocks: 1_000n, maxAgeNs: 3_600_000_000_000n, maxBytes: 1_000n };
    if (answer.type !== 'init-chain') return answer;
    return { ...answer, value: { ...answer.value, consensusParams: { evidence } } };
  }
}

/** Two vote twice, prevotes and precommits: four proofs a height. */
export const littleEvidence = scenario('a block carries as much evidence as it may, and the rest waits', {
  name: 'little-evidence',
  cast: validators(7),
  app: () => new Lenient(),
  liars: (['v5', 'v6'] as const).map((name) =>
    liar(name, 'double-voter', ['v0', 'v1', 'v2', 'v3', 'v4'], { toHeight: 8 }),
  ),
  act: [when(everyone.punishes('v5')), when(everyone.punishes('v6'))],
  ends: these('v0', 'v1', 'v2').decides(height(14), { within: '200s' }),
});

/** Once, in the middle of the run, it wants nothing before a block that is far away. */
class Mistaken extends Forgetful {
  override answer(request: AbciRequest): AbciResponse {
    const answer = super.answer(request);
    if (answer.type !== 'commit' || answer.value.retainHeight !== 5n) return answer;
    return { ...answer, value: { retainHeight: 1_000n } };
  }
}

export const farTooFar = scenario(
  'an application that lets go of what is not there yet has made a mistake, and nothing goes for it',
  {
    name: 'far-too-far',
    cast: validators(4),
    app: () => new Mistaken(5n),
    load: txs({ perSecond: 2 }),
    act: [when(v0.decides(height(11)), crash('v1', { restart: '2s' }))],
    ends: everyone.decides(height(16), { within: '120s', afterwards: 1 }),
  },
);

/**
 * v3 was away while the others let their blocks go. f0 begins when v3 is back, and gets its first blocks from v3, for nobody else says to have
 * them. Blocks 7 to 15 are gone everywhere, so v3 and f0 stay behind: without a snapshot nobody catches up over that.
 */
export const askedOfWhoHasThem = scenario('a block is asked of who says to have it', {
  name: 'asked-of-who-has-them',
  cast: validators(4, { fullNodes: 1 }),
  app: () => new Forgetful(5n),
  load: txs({ perSecond: 2 }),
  act: [
    at('0s', crash('f0')),
    when(v3.decides(height(6)), crash('v3')),
    when(v0.decides(height(20)), restart('v3'), restart('f0')),
    when(f0.decides(height(5))),
  ],
  ends: { who: ['v0', 'v1', 'v2'], decides: 24, withinMs: 120_000, afterwards: 1 },
  liveness: 'waived',
});

/**
 * Two hundred heights at ten a second, with all that makes a node remember something: blocks that come and go, a set that changes as v3 is punished for each
 * of its double votes, transactions, and f0, which dies as soon as it has caught up, and asks for blocks again.
 */
export const nothingIsKeptForEver = scenario('what nodes keep in mind does not grow with the chain', {
  name: 'nothing-is-kept-for-ever',
  cast: { ...powers(1000, 1000, 1000, 600), fullNodes: 1, evidence: { maxAgeBlocks: 120, maxAgeMs: 2000 } },
  app: () => new Forgetful(100n),
  load: txs({ perBlock: 2 }),
  liars: [liar('v3', 'double-voter', ['v0', 'v1', 'v2'])],
  settings: { consensus: { ...DEFAULT_CONSENSUS, timeoutCommitNs: 100_000_000n } },
  act: [whenever(f0.joins(), crash('f0', { restart: '1s' }))],
  holds: [sometime(f0.crashes())],
  ends: everyone.decides(height(200), { within: '300s' }),
});

/**
 * v0 alone has evidence of height 8, and proposes that at height 15: it is old in blocks by then, and not in time. The block that it speaks of is
 * gone, from the memory of the others, too. (With four equal validators v0 proposes round 0 of heights 11 and 15.)
 */
export const goneBlocksAreRemembered = scenario('evidence is judged by blocks that are gone', {
  name: 'gone-blocks-are-remembered',
  cast: validators(4, { evidence: { maxAgeBlocks: 1 } }),
  app: () => new Forgetful(5n),
  liars: [liar('v3', 'double-voter', ['v0'], { votes: 'prevotes', fromHeight: 8, toHeight: 8 })],
  act: [
    at('0s', drop('evidence'), drop('proposals', { height: 11, round: 0 })),
    when(
      everyone.decides(height(14)),
      ...(['v1', 'v2', 'v3'] as const).map((name) => crash(name, { how: 'clean', restart: '1s' })),
    ),
    when(everyone.punishes('v3')),
  ],
  ends: everyone.decides(height(22), { within: '240s' }),
});

/** Of the attacks of v0 the blocks are gone by then, and those of v3's double votes are not; who starts again has in mind the last 64 heights alone. */
const SHOWN_AT = 116;

/** f0 alone has both, proposes nothing, and is heard when it is long ago. Some peers find each other after four seconds only: the lies begin later. */
export const longAgo = scenario('what was done long ago is judged by what the disk has of it', {
  name: 'long-ago',
  cast: { ...powers(40, 20, 20, 20), fullNodes: 1 },
  app: () => new Forgetful(75n),
  settings: { consensus: { ...DEFAULT_CONSENSUS, timeoutCommitNs: 100_000_000n } },
  liars: [
    liar('v0', 'attack-inventor', ['f0'], { fromHeight: 32, toHeight: 38, times: 3 }),
    liar('v3', 'double-voter', ['f0'], { votes: 'prevotes', fromHeight: 48, toHeight: 52 }),
  ],
  act: [
    at('0s', drop('evidence', { from: ['f0'] })),
    when(
      everyone.decides(height(SHOWN_AT)),
      heal(),
      ...(['v1', 'v2', 'v3', 'f0'] as const).map((name) => crash(name, { how: 'clean', restart: '1s' })),
    ),
    when(everyone.punishes('v0')),
  ],
  holds: [sometime(everyone.punishes('v3'))],
  ends: everyone.decides(height(SHOWN_AT + 6), { within: '60s', afterwards: 2 }),
});

/** v1's disk is slow, so what it lets go of is long gone when it loses its power with what was not durable. */
export const goneBlocksAreNotNeeded = scenario('who lets blocks go has made durable what they led to', {
  name: 'gone-blocks-are-not-needed',
  cast: validators(4),
  app: () => new Forgetful(3n),
  load: txs({ perSecond: 2 }),
  act: [
    when(v0.decides(height(2)), disk('v1', 'slow')),
    ...[9, 17, 25].flatMap((at) => [
      when(v1.decides(height(at)), crash('v1', { how: 'lose', restart: '1s' })),
      when(v1.joins()),
    ]),
  ],
  ends: everyone.decides(height(30), { within: '400s', afterwards: 1 }),
});

/** Peers let a block go with each that comes, and say so often; v3 catches up over slow lines meanwhile. */
export const blocksGoMeanwhile = scenario('who lets blocks go may still be asked for the others', {
  name: 'blocks-go-meanwhile',
  cast: validators(4),
  app: () => new Forgetful(65n),
  load: txs({ perSecond: 2 }),
  settings: { sync: { statusNs: BigInt(SECOND), requestsPerPeerMax: 1 } },
  act: [
    when(v0.decides(height(30)), isolate('v3')),
    when(v0.decides(height(70)), heal(), crash('v3', { how: 'clean', restart: '1s' })),
    when(
      v3.starts(),
      links({ latency: { kind: 'uniform', minNs: SECOND / 4, maxNs: SECOND / 2 } }, { to: ['v3'] }),
    ),
    when(v3.joins(), calm()),
  ],
  ends: everyone.decides(height(80), { within: '150s', afterwards: 1 }),
});
