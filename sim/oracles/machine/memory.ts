// Memory: what a node keeps in mind does not grow with the chain, and a peer cannot make it keep more than its share, whatever
// the names of what it keeps: collections of its actors are counted from outside, now and then in a long life, and when somebody talks very much.

import { type Census, censusOf, entriesIn } from '../../census.ts';
import type { Machine } from '../../machine.ts';
import type { Oracle, OracleMaker } from '../../oracle.ts';
import { STEP } from '../../steps.ts';
import { type GhostChain, isSameSet } from '../ghost/ghost.ts';
import { PerMachine } from '../ghost/per-machine.ts';

/** Heights between two looks at a node, in the first so many of a life; then seldom, for a look takes as long as a height. */
const HEIGHTS_APART = 32;
const HEIGHTS_YOUNG = 256;
const HEIGHTS_APART_LATER = 1024;

/** It grows with the chain: each of so many looks in a row found more than the one before ... */
const STEPS = 5;
/** ... and the last so many more than the first. */
const GROWTH_MIN = 16;

/** What grows because people make it grow, or up to a limit of its own that a configuration names. */
const MAY_GROW: readonly string[] = [
  'app.', // the content of the chain
  'validator.evidencePool.committed', // one entry for each crime that was punished
  'mempool.pool.', // transactions that wait, and those seen of late: `size`, `cache_size`
];

/** Who has which of the transactions that wait, and how many wait: the one grows with the other, and else by no more than chance. */
const OFFERED = 'mempool.gossip.';
const WAITING = 'mempool.pool.txs';
const OFFERED_GROWTH_MIN = 4;

/** Where each has the same memory it is enough to look at so many. */
const LOOKED_AT = 8;

/**
 * Rounds between two looks at a height of many: what grows with them are the votes, who is known to have which, what is seen of who votes twice
 * (so much of each validator), and what applications said of blocks.
 */
const ROUNDS_APART = 4;
/** The last of `STEPS` looks found so many more than the first: one in two rounds. */
const GROWTH_OF_ROUNDS_MIN = (STEPS * ROUNDS_APART) / 2;
const MAY_GROW_WITH_ROUNDS: readonly string[] = [
  'validator.consensus.rounds.',
  'validator.consensus.blocks.answers',
  'validator.evidencePool.conflicts',
  'validator.views',
];

/** Who heard so much for each validator since the last look is looked at again before it hears more: many say much. */
const WORDS_APART = 512;
/** What one peer may make a validator keep: some words for the next height, and what it is known to have. */
const ENTRIES_PER_PEER = 2_048;
/** Votes of a round and of a commit, by validator; the commits of so many heights, and what is known of them. */
const PER_VALIDATOR_AND_ROUND = 32;
const PER_VALIDATOR = 1_024;

/** What a block holds is bounded by its bytes, and nobody's share: what lies behind these names. */
const NAMES_OF_BLOCKS: ReadonlySet<string> = new Set(['txs', 'txResults']);
const OF_BLOCKS = new RegExp(`\\.(${[...NAMES_OF_BLOCKS].join('|')})(?![a-zA-Z])`);

/** Of so many heights a node remembers what was: their blocks, and the sets of validators that were others than the ones before, with a few of the latest. */
const HISTORY = 'validator.history.';
const HEIGHTS_REMEMBERED = 131;
const SETS_OF_THE_LATEST = 16;

interface Life {
  heights: number;
  /** Messages heard since the last look. */
  words: number;
  /** The latest, oldest first. */
  readonly looks: Look[];
  /** Those of the height that it is in. */
  readonly ofRounds: Look[];
}

interface Look {
  readonly height: bigint;
  readonly found: Census;
}

export const memoryOracle =
  (ghost: GhostChain): OracleMaker =>
  (report, about): Oracle => {
    const lives = new PerMachine<Life>(() => ({ heights: 0, words: 0, looks: [], ofRounds: [] }));
    /** Heights whose block changed the validators, the latest of them. */
    const changes: bigint[] = [];
    let latest = -1n;
    const wordsApart = WORDS_APART * about.machines.length;
    const isLookedAt = ({ index }: Machine): boolean =>
      index % Math.ceil(about.machines.length / LOOKED_AT) === 0;

    const look = (at: Machine, { looks }: Life, height: bigint): void => {
      looks.push({ height, found: countIn(at) });
      if (looks.length <= STEPS) return;
      const first = looks[looks.length - 1 - STEPS] as Life['looks'][number];
      const last = looks[looks.length - 1] as Life['looks'][number];
      for (const [place, count] of last.found) {
        if (mayGrow(place) || !isGrowing(looks, place, GROWTH_MIN)) continue;
        if (
          place.startsWith(OFFERED) &&
          perWaiting(last, place) < OFFERED_GROWTH_MIN * perWaiting(first, place)
        )
          continue;
        if (place.startsWith(HISTORY) && count <= remembered(place, height)) continue;
        const more = count - (first.found.get(place) ?? 0);
        const what = `${at.name} keeps more and more in ${place}: ${more} entries more than at height ${first.height}`;
        return report(`${what}, and at each look between`, at, height);
      }
      looks.shift();
    };

    const lookAtRound = (at: Machine, { ofRounds }: Life, height: bigint, round: number): void => {
      if (ofRounds[0]?.height !== height) ofRounds.length = 0;
      ofRounds.push({ height, found: countIn(at, ['validator']) });
      if (ofRounds.length <= STEPS) return;
      for (const [place, count] of ofRounds.at(-1)?.found ?? []) {
        if (mayGrowWithRounds(place) || !isGrowing(ofRounds, place, GROWTH_OF_ROUNDS_MIN)) continue;
        const more = count - (ofRounds.at(-1 - STEPS)?.found.get(place) ?? 0);
        const what = `${at.name} keeps more and more in ${place} as rounds fail: ${more} entries more than ${STEPS * ROUNDS_APART} rounds before ${round}`;
        return report(`${what}, and at each look between`, at, height);
      }
      ofRounds.shift();
    };

    /** A block that nobody had committed before. */
    const notes = (height: bigint): void => {
      if (height <= latest) return;
      latest = height;
      const [before, after] = [ghost.set(height + 1n), ghost.set(height + 2n)];
      if (before && after && !isSameSet(before, after)) changes.push(height);
      if (changes.length > HEIGHTS_REMEMBERED) changes.shift();
    };

    /** What of its past it may hold there after this height. */
    const remembered = (place: string, height: bigint): number => {
      let entries = HEIGHTS_REMEMBERED;
      if (place.startsWith(`${HISTORY}sets`))
        entries =
          SETS_OF_THE_LATEST + changes.filter((at) => at > height - BigInt(HEIGHTS_REMEMBERED)).length;
      return entries * (place.includes('[]') ? about.machines.length : 1);
    };

    /** What its validator keeps in all, however short its life so far. */
    const weigh = (at: Machine): void => {
      const { length: people } = about.machines;
      const ofPeople = PER_VALIDATOR + PER_VALIDATOR_AND_ROUND * (at.round + 1) + ENTRIES_PER_PEER;
      const most = people * ofPeople;
      const sum = entriesIn(at.node?.peek('validator'), NAMES_OF_BLOCKS);
      if (sum <= most) return;
      report(`${at.name} keeps ${sum} entries, and its peers may make it keep ${most}`, at, at.height + 1n);
    };

    return {
      name: 'memory',
      effects: [],
      events: ['committed', 'step'],
      started(at) {
        lives.delete(at);
      },
      heard(at, _from, payloads) {
        const life = lives.of(at);
        if (life.words > wordsApart) {
          life.words = 0;
          if (about.isHonest(at)) weigh(at);
        }
        life.words += payloads.length;
      },
      published(at, _actor, event) {
        if (event.type === 'step') {
          const { height, round, step } = event;
          const isDue = step === STEP.propose && round > 0 && round % ROUNDS_APART === 0;
          if (isDue && about.isHonest(at) && isLookedAt(at)) lookAtRound(at, lives.of(at), height, round);
          return;
        }
        if (event.type !== 'committed') return;
        notes(event.height);
        if (!about.isHonest(at) || !isLookedAt(at)) return;
        const life = lives.of(at);
        const heights = ++life.heights;
        const apart = heights <= HEIGHTS_YOUNG ? HEIGHTS_APART : HEIGHTS_APART_LATER;
        if (heights % apart === 0) look(at, life, event.height);
      },
    };
  };

const mayGrow = (place: string): boolean =>
  OF_BLOCKS.test(place) || MAY_GROW.some((prefix) => place.startsWith(prefix));

const mayGrowWithRounds = (place: string): boolean =>
  mayGrow(place) || MAY_GROW_WITH_ROUNDS.some((prefix) => place.startsWith(prefix));

const perWaiting = ({ found }: Life['looks'][number], place: string): number =>
  (found.get(place) ?? 0) / (1 + (found.get(WAITING) ?? 0));

function isGrowing(looks: readonly Look[], place: string, least: number): boolean {
  const counts = looks.slice(-1 - STEPS).map(({ found }) => found.get(place) ?? 0);
  const [first] = counts as [number];
  return (
    counts.every((count, i) => i === 0 || count > (counts[i - 1] as number)) &&
    (counts.at(-1) as number) - first >= least
  );
}

/** Of all its actors; those of the same kind (`peer:...`) together. */
function countIn({ node }: Machine, actors = node?.actors ?? []): Census {
  const all = new Map<string, number>();
  for (const actor of actors) {
    const kind = actor.split(':')[0] as string;
    for (const [place, count] of censusOf(node?.peek(actor)))
      all.set(`${kind}${place}`, (all.get(`${kind}${place}`) ?? 0) + count);
  }
  return all;
}
