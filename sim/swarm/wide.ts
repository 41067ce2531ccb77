// The wide swarm: a run of the swarm in other settings, with limits, first heights, slow keys and applications, deaths that nobody
// notices, and liars that the swarm leaves out. Most of them matter seldom, and what they cost would thin out what the swarm is for; but what nobody draws nobody tests.

import { type ConsensusConfig, DEFAULT_CONSENSUS } from '../../machines/consensus/config.ts';
import type { MempoolConfig } from '../../machines/mempool/config.ts';
import { NS_PER_MS } from '../../protocol/time.ts';
import type { Stream } from '../choices.ts';
import { LIAR_NAMES, type LiarName } from '../liars/index.ts';
import { mustBeStream } from '../scenario/must-be.ts';
import type { Action, CastWords, Directive, LiarWords, NodeName, Scenario } from '../scenario/play.ts';
import { txs } from '../scenario/words.ts';
import { swarmPlay } from './index.ts';

/** Heights that take one byte and three, and some at which what is special of height 1 is not. */
const FIRST_HEIGHTS = [2, 5, 100, 1_000_000];
/** Whoever counts heights in seven, eight, sixteen or thirty-two bits has to count further. */
const BEFORE_BYTES = [125, 253, 65_533, 2_147_483_645, 4_294_967_293];
/** In the longest, what is signed is longer than one byte can say. */
const NAME_BYTES = [1, 25, 50];
/** `block.max_bytes`: what header, commit and evidence of so many validators need, and so much more. */
const BYTES_PER_VALIDATOR = 4_000;
const BLOCK_BYTES_MORE = [1_000, 20_000, 100_000];
const EVIDENCE_AGES = [{ maxAgeBlocks: 2, maxAgeMs: 2_000 }, { maxAgeBlocks: 1 }, { maxAgeMs: 1_000 }];
/** From a moment to more than a height takes. */
const SIGNATURE_MS = [50, 200, 500, 1_000, 2_500];
const BLOCK_MS = [20, 100, 300, 1_000];
const CHECK_MS = [0, 5, 50];
const SLOW_WITHIN_MS = 3_000;

/**
 * What `wide-swarm` draws: a run of the swarm in other settings, with every liar, slow keys and slow applications. It is given to `drawn`.
 * @throws ScenarioError when it is given no stream.
 */
export function widePlay(stream: Stream): Scenario {
  mustBeStream('widePlay', stream);
  const base = swarmPlay(stream);
  const timeouts = drawConsensus(stream, { ...DEFAULT_CONSENSUS, ...base.settings?.consensus });
  const limits = drawCast(stream, base.cast);
  const others = base.liars.map((words) => drawLiar(stream, words));
  const act = [...drawSigners(stream, base.cast), ...base.act];
  const pools = drawMempool(stream);
  // Power changes are for kvstore: to these they are transactions like others, or none.
  const app = stream.chance(1, 6) ? stream.pick(['counter', 'noop']) : base.app;
  const liars = others.map((words) => drawUnheard(stream, words));
  const consensus = { ...timeouts, ...drawGossip(stream) };
  const mempool = { ...pools, ...drawOffers(stream) };
  const cast = { ...limits, ...drawChain(stream) };
  act.unshift(...drawApplications(stream, base.cast));
  const heightsMore = (cast.initialHeight ?? 1) - 1;
  const deaths = drawDeaths(stream, act);
  return {
    ...base,
    cast,
    act: deaths.map((directive) => raised(directive, heightsMore)),
    liars: liars.map((words) => raised(words, heightsMore)),
    // A chain without empty blocks goes on as long as there is something to decide.
    ...(!consensus.createEmptyBlocks && { load: txs({ perSecond: 2, size: 60 }) }),
    settings: { ...base.settings, consensus, mempool },
    ends: { ...base.ends, decides: base.ends.decides + heightsMore },
    app,
  };
}

function drawConsensus(stream: Stream, usual: ConsensusConfig): ConsensusConfig {
  const between = (lo: number, hi: number): bigint => BigInt(stream.between(lo, hi)) * NS_PER_MS;
  const isEmpty = stream.chance(4, 5);
  return {
    ...usual,
    ...(stream.chance(1, 2) && {
      timeoutProposeNs: between(400, 3_500),
      timeoutProposeDeltaNs: between(100, 700),
      timeoutPrevoteNs: between(200, 1_500),
      timeoutPrevoteDeltaNs: between(50, 700),
      timeoutPrecommitNs: between(200, 1_500),
      timeoutPrecommitDeltaNs: between(50, 700),
      timeoutCommitNs: between(100, 1_500),
    }),
    skipTimeoutCommit: stream.chance(1, 4),
    createEmptyBlocks: isEmpty,
    createEmptyBlocksIntervalNs: !isEmpty && stream.chance(1, 2) ? between(500, 5_000) : 0n,
  };
}

const drawMempool = (stream: Stream): Partial<MempoolConfig> => ({
  ...(stream.chance(1, 3) && { txsMax: stream.between(2, 32), cacheSize: stream.between(4, 64) }),
  ...(stream.chance(1, 5) && { recheck: false }),
  ...(stream.chance(1, 10) && { broadcast: false }),
  ...(stream.chance(1, 5) && { keepInvalidTxsInCache: true }),
});

const drawCast = (stream: Stream, cast: CastWords): CastWords => ({
  ...cast,
  ...(stream.chance(2, 5) && { initialHeight: stream.pick(FIRST_HEIGHTS) }),
  ...(stream.chance(1, 3) && {
    blockBytes:
      BYTES_PER_VALIDATOR * (cast.powers.length + (cast.candidates ?? 0)) + stream.pick(BLOCK_BYTES_MORE),
  }),
  ...(stream.chance(1, 3) && { evidence: stream.pick(EVIDENCE_AGES) }),
});

/** How often nodes offer, and again what may have been lost. */
const drawGossip = (stream: Stream): Partial<ConsensusConfig> => ({
  ...(stream.chance(1, 4) && { gossipNs: BigInt(stream.between(20, 300)) * NS_PER_MS }),
  ...(stream.chance(1, 4) && { reofferNs: BigInt(stream.between(300, 3_000)) * NS_PER_MS }),
});

const drawOffers = (stream: Stream): Partial<MempoolConfig> => ({
  ...(stream.chance(1, 6) && { gossipPeriodNs: BigInt(stream.between(20, 1_000)) * NS_PER_MS }),
  ...(stream.chance(1, 6) && { reofferNs: BigInt(stream.between(1_000, 20_000)) * NS_PER_MS }),
});

const drawChain = (stream: Stream): Partial<CastWords> => ({
  ...(stream.chance(1, 4) && { chainId: 'n'.repeat(stream.pick(NAME_BYTES)) }),
  ...(stream.chance(1, 6) && { initialHeight: stream.pick(BEFORE_BYTES) }),
});

/** They say what nobody takes for a word, or for an answer. */
const UNHEARD: readonly LiarName[] = ['babbler', 'block-pusher'];
const HEARD = LIAR_NAMES.filter((name) => !UNHEARD.includes(name));

/** It lies to who is behind, and has no key for other lies. */
const isFullNode = (name: NodeName): boolean => name.startsWith('f');

/** Two of three tell another lie, in any round: not every lie knows of rounds. */
function drawLiar(stream: Stream, words: LiarWords): LiarWords {
  if (stream.chance(1, 3) || isFullNode(words.node)) return words;
  const { fromRound: _, ...others } = words;
  return { ...others, liar: stream.pick(HEARD) };
}

/** One in eight. */
function drawUnheard(stream: Stream, words: LiarWords): LiarWords {
  if (!stream.chance(1, 8) || isFullNode(words.node)) return words;
  const { fromRound: _, ...others } = words;
  return { ...others, liar: stream.pick(UNHEARD) };
}

function drawSigners(stream: Stream, { powers }: CastWords): Directive[] {
  if (!stream.chance(1, 3)) return [];
  const slow = powers.flatMap((_, i): Directive[] => {
    if (stream.chance(1, 2)) return [];
    const takesMs = stream.pick(SIGNATURE_MS);
    return [
      { atMs: stream.draw(SLOW_WITHIN_MS), actions: [{ do: 'signer', node: `v${i}` as NodeName, takesMs }] },
    ];
  });
  return slow.sort((a, b) => ('atMs' in a && 'atMs' in b ? a.atMs - b.atMs : 0));
}

function drawApplications(stream: Stream, { powers }: CastWords): Directive[] {
  if (!stream.chance(1, 4)) return [];
  const actions = powers.flatMap((_, i): Action[] => {
    if (stream.chance(1, 2)) return [];
    const [blocksMs, checksMs] = [stream.pick(BLOCK_MS), stream.pick(CHECK_MS)];
    return [{ do: 'application', node: `v${i}` as NodeName, blocksMs, checksMs }];
  });
  return actions.length > 0 ? [{ atMs: stream.draw(SLOW_WITHIN_MS), actions }] : [];
}

/** In one run of three machines lose their power, and then half of the deaths are such. */
function drawDeaths(stream: Stream, act: readonly Directive[]): readonly Directive[] {
  if (!stream.chance(1, 3)) return act;
  const drawn = (action: Action): Action =>
    (action.do === 'crash' || action.do === 'crash-at') && stream.chance(1, 2)
      ? { ...action, unnoticed: true }
      : action;
  return act.map((directive) => ({ ...directive, actions: directive.actions.map(drawn) }));
}

const HEIGHTS = ['height', 'fromHeight', 'toHeight'];

/** What is said of a height, of one so much later. */
function raised<T>(value: T, by: number): T {
  if (by === 0 || typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map((each) => raised(each, by)) as T;
  const entries = Object.entries(value).map(([name, each]) => [
    name,
    HEIGHTS.includes(name) && typeof each === 'number' ? each + by : raised(each, by),
  ]);
  return Object.fromEntries(entries) as T;
}
