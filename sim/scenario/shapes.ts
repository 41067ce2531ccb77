// The shape of a scenario, field by field: what each may be, and what is said where it is not.

import { utf8Encode } from '#platform';
import { DEFAULT_CONSENSUS } from '../../machines/consensus/config.ts';
import { DEFAULT_MEMPOOL } from '../../machines/mempool/config.ts';
import { DEFAULT_SYNC } from '../../machines/sync/config.ts';
import { BLOCK_BYTES_MAX, CHAIN_ID_LENGTH_MAX } from '../../protocol/types.ts';
import { isSeed, SEED_MAX } from '../choices.ts';
import { type Latency, longestNs } from '../latency.ts';
import {
  also,
  type Check,
  each,
  elsewhere,
  isText,
  listOf,
  maybe,
  object,
  oneOf,
  ordinal,
  ppm,
  record,
  someOf,
  tagged,
  whole,
  without,
  yesOrNo,
} from './checks.ts';
import { type Load, STEP_NAMES } from './play.ts';
import { nonsenseIn, nonsenseOf, nonsenseOfNever } from './sense.ts';

/** Heights of a play are numbers, and no run has so many that they would end at 2^53. */
const INITIAL_HEIGHT_MAX = 4_503_599_627_370_496;

const nodeName: Check = {
  expects: 'a node: v0, c0, f0, ...',
  holds: (value) => typeof value === 'string' && /^[vcf](0|[1-9][0-9]*)$/.test(value),
};
const nodes = listOf(nodeName);
/** Of moments and waits: virtual time ends after 104 days. */
const TIME_MS_MAX = 1_000_000_000;
const time: Check = {
  expects: 'milliseconds, a whole number from 0 to 1000000000 (11 days)',
  holds: (value) => Number.isSafeInteger(value) && Number(value) >= 0 && Number(value) <= TIME_MS_MAX,
};
/** Of clocks: nanoseconds of a time of day must fit 64 bits. */
const SKEW_MS_MAX = 100_000_000_000;
const skew: Check = {
  expects: 'milliseconds, a whole number within 100000000000 (3 years) either way',
  holds: (value) => Number.isSafeInteger(value) && Math.abs(Number(value)) <= SKEW_MS_MAX,
};
/** Ten times as fast: what such an oscillator counts in a run of 10 days is exact. */
const DRIFT_PPM_MAX = 9_000_000;
const drift: Check = {
  expects: 'a whole number above -1000000, at most 9000000',
  holds: (value) =>
    Number.isSafeInteger(value) && Number(value) > -1_000_000 && Number(value) <= DRIFT_PPM_MAX,
};
const who: Check = {
  expects: 'a node, "anyone" or "everyone"',
  holds: (value) => value === 'anyone' || value === 'everyone' || nodeName.holds?.(value) === true,
};
const blockNumber: Check = {
  expects: 'the number of a block from 1, or "nil"',
  holds: (value) => value === 'nil' || (Number.isSafeInteger(value) && (value as number) > 0),
};
const realBlock: Check = {
  expects: 'the number of a block from 1: nobody is locked on nil',
  holds: (value) => value !== 'nil' && blockNumber.holds?.(value) === true,
};
const yes: Check = { expects: 'true', holds: (value) => value === true };
/** Within a span 2^31 steps of a microsecond are drawn at most. */
const SPAN_NS_MAX = 2_000_000_000_000;
const spanWrong = ({ minNs, maxNs }: { minNs: number; maxNs: number }): string | null => {
  if (minNs > maxNs) return 'minNs up to maxNs';
  return maxNs - minNs > SPAN_NS_MAX ? `maxNs at most ${SPAN_NS_MAX} (33 minutes) above minNs` : null;
};
const span = also(object({ minNs: whole, maxNs: whole }), spanWrong);
const latency = also(
  tagged('kind', {
    uniform: { minNs: whole, maxNs: whole },
    exponential: { minNs: whole, meanNs: whole },
    table: { quantilesNs: listOf(whole) },
  }),
  (value: Latency) => {
    if (value.kind === 'uniform') return spanWrong(value);
    if (value.kind === 'exponential')
      return Number.isSafeInteger(longestNs(value))
        ? null
        : 'minNs and 14 times meanNs within 2^53 ns (104 days)';
    const { quantilesNs } = value;
    const isTable = quantilesNs.length >= 2 && quantilesNs.every((ns, i) => ns >= (quantilesNs[i - 1] ?? 0));
    return isTable ? null : 'two ascending quantilesNs at least';
  },
);

const anyCondition = object({
  who,
  does: oneOf([
    'enters',
    'proposes',
    'prevotes',
    'precommits',
    'locks',
    'values',
    'decides',
    'punishes',
    'drops',
    'joins',
    'halts',
    'crashes',
    'starts',
  ]),
  height: maybe(whole),
  round: maybe(whole),
  block: maybe(blockNumber),
  step: maybe(oneOf(Object.keys(STEP_NAMES))),
  against: maybe(nodeName),
  because: maybe(isText),
});
const condition = without(
  'is',
  'what somebody does, as v0.decides(): how somebody is goes with while and finally_',
  also(anyCondition, nonsenseOf),
);

const anyState = tagged('is', {
  'locked-on': { who: nodeName, block: realBlock },
  up: { who: nodeName },
  down: { who: nodeName },
  syncing: { who: nodeName },
  'in-consensus': { who: nodeName },
  'cut-off': { who: nodeName },
  halted: { who: nodeName },
  'of-power': { who: nodeName, power: whole },
  'weaker-than': { who: nodeName, power: whole },
});
const state = without(
  'does',
  'how somebody is, as v0.isUp: what somebody does goes with when, never and sometime',
  anyState,
);

const how = oneOf(['clean', 'lose', 'half', 'drawn']);
const medium = oneOf(['consensus', 'privval', 'chain', 'app']);
const kinds = [
  'proposals',
  'parts',
  'prevotes',
  'precommits',
  'transactions',
  'evidence',
  'block-sync',
  'everything',
] as const;
const effect: Check = {
  expects: '"drop" or {"delayMs": ...}',
  holds: (value) =>
    value === 'drop' ||
    (typeof value === 'object' &&
      value !== null &&
      time.holds?.((value as { delayMs?: unknown }).delayMs) === true),
};

const anyAction = tagged('do', {
  isolate: { node: nodeName, forEver: maybe(yes) },
  partition: { groups: listOf(nodes), forEver: maybe(yes) },
  cut: { from: nodes, to: nodes, forEver: maybe(yes) },
  heal: {},
  clog: { from: nodes, to: nodes, forMs: time },
  reset: { nodes },
  links: {
    change: object({
      latency: maybe(latency),
      lossPpm: maybe(ppm),
      duplicatePpm: maybe(ppm),
      reorderPpm: maybe(ppm),
      corruptPpm: maybe(ppm),
      bytesPerSecond: maybe(whole),
      straggle: maybe(span),
    }),
    from: maybe(nodes),
    to: maybe(nodes),
  },
  calm: {},
  core: { nodes },
  rule: {
    what: oneOf(kinds),
    effect,
    from: maybe(nodes),
    to: maybe(nodes),
    by: maybe(nodes),
    height: maybe(whole),
    round: maybe(whole),
  },
  crash: {
    node: nodeName,
    how,
    restartMs: maybe(time),
    point: elsewhere('{"do":"crash-at"} with node, how, when, op, on, nth'),
  },
  'crash-at': {
    node: nodeName,
    how,
    restartMs: maybe(time),
    when: oneOf(['before', 'inside', 'after']),
    op: oneOf(['append', 'sync', 'trim', 'write', 'flush', 'send', 'sign']),
    on: maybe(medium),
    nth: ordinal,
  },
  restart: { node: nodeName },
  'remove-log': { node: nodeName },
  'back-up': { node: nodeName },
  'put-back': { node: nodeName, media: listOf(medium) },
  pause: { node: nodeName, forMs: maybe(time) },
  unpause: { node: nodeName },
  clock: {
    node: nodeName,
    stepMs: maybe(skew),
    driftPpm: maybe(drift),
    frozen: maybe(yesOrNo),
  },
  disk: { node: nodeName, disk: oneOf(['good', 'slow', 'full']) },
  signer: { node: nodeName, takesMs: time },
  application: { node: nodeName, blocksMs: time, checksMs: time },
  submit: { to: nodeName, tx: isText },
  empower: { node: nodeName, power: whole, via: nodeName },
});

const action = also(anyAction, nonsenseIn);
const actions = listOf(action);
const directive = each('directive', [
  { atMs: time, actions },
  { afterMs: time, actions },
  { when: condition, latestMs: maybe(time), actions },
  { whenever: condition, actions },
]);
const claim = each('claim', [
  { never: also(condition, nonsenseOfNever), while: maybe(state) },
  { sometime: condition },
  { finally: state },
]);
const ending: Check = {
  expects: 'an ending',
  inside: (checker, value, path) => {
    const said = (value as { who?: unknown } | null)?.who;
    const whoEnds: Check = {
      expects: '"everyone", "nobody", "fork", or a list of nodes',
      holds: (names) =>
        names === 'everyone' ||
        names === 'nobody' ||
        names === 'fork' ||
        (Array.isArray(names) && names.every((name) => nodeName.holds?.(name) === true)),
    };
    const shape =
      said === 'nobody'
        ? { who: whoEnds, decides: whole, forMs: whole }
        : said === 'fork'
          ? { who: whoEnds, decides: whole, guilty: nodes, withinMs: whole }
          : { who: whoEnds, decides: whole, withinMs: whole, afterwards: maybe(whole) };
    checker.check(object(shape), value, path);
  },
};

const isFunction = (expects: string): Check => ({
  expects,
  holds: (value) => typeof value === 'function',
});
const isNameOr = (expects: string): Check => ({
  expects,
  holds: (value) => typeof value === 'string' || typeof value === 'function',
});
/** What comes again and again must not come without end. */
const beat: Check = {
  expects: 'a bigint from 1000000n (1 ms; in JSON {"$n":"1000000"})',
  holds: (value) => typeof value === 'bigint' && value >= 1_000_000n,
};
const positive: Check = {
  expects: 'a number above 0',
  holds: (value) => typeof value === 'number' && value > 0 && Number.isFinite(value),
};
/** A transaction each microsecond: more than that would take no time between two. */
const RATE_MAX = 1_000_000;
/** One in eleven days. */
const RATE_MIN = 1 / RATE_MAX;
const rate: Check = {
  expects: 'a number from 0.000001 to 1000000',
  holds: (value) => typeof value === 'number' && value >= RATE_MIN && value <= RATE_MAX,
};

/** In nanoseconds it must fit 64 bits. */
const AGE_MS_MAX = 9_000_000_000_000;
const age: Check = {
  expects: 'milliseconds, a whole number from 1 to 9000000000000 (285 years)',
  holds: (value) => ordinal.holds?.(value) === true && Number(value) <= AGE_MS_MAX,
};
/** As many as CometBFT lets into a set; a run of a hundred takes its time. */
const PEOPLE_MAX = 10_000;
const people: Check = {
  expects: `a whole number from 0 to ${PEOPLE_MAX}`,
  holds: (value) => whole.holds?.(value) === true && Number(value) <= PEOPLE_MAX,
};
const chainId: Check = {
  expects: `a text of 1 to ${CHAIN_ID_LENGTH_MAX} bytes`,
  holds: (value) =>
    typeof value === 'string' && value !== '' && utf8Encode(value).length <= CHAIN_ID_LENGTH_MAX,
};
const blockBytes: Check = {
  expects: `a whole number from 0 to ${BLOCK_BYTES_MAX}`,
  holds: (value) => whole.holds?.(value) === true && Number(value) <= Number(BLOCK_BYTES_MAX),
};

export const scenarioShape = object({
  name: {
    expects: 'a kebab-case name',
    holds: (value) => typeof value === 'string' && /^[a-z0-9-]+$/.test(value),
  },
  title: isText,
  cast: object({
    powers: listOf(whole),
    candidates: maybe(people),
    fullNodes: maybe(people),
    chainId: maybe(chainId),
    initialHeight: maybe({
      expects: `a whole number from 1 to ${INITIAL_HEIGHT_MAX}`,
      holds: (value) =>
        Number.isSafeInteger(value) && Number(value) >= 1 && Number(value) <= INITIAL_HEIGHT_MAX,
    }),
    degree: maybe(whole),
    evidence: maybe(object({ maxAgeBlocks: maybe(ordinal), maxAgeMs: maybe(age) })),
    blockBytes: maybe(blockBytes),
    clocks: maybe(record(nodeName, object({ skewMs: maybe(skew), driftPpm: maybe(drift) }))),
  }),
  act: maybe(listOf(directive)),
  load: maybe(
    also(
      object({
        perSecond: maybe(rate),
        perBlock: maybe(ordinal),
        count: maybe(whole),
        copies: maybe(positive),
        size: blockBytes, // no chain takes a larger one
        make: maybe(isFunction('a function (stream, n) that makes a transaction')),
      }),
      ({ perSecond, perBlock }: Load) =>
        (perSecond ?? perBlock) === undefined ? 'perSecond or perBlock' : null,
    ),
  ),
  holds: maybe(listOf(claim)),
  ends: ending,
  liars: maybe(
    listOf(
      object({
        node: nodeName,
        liar: isNameOr('the name of a liar, or a function that is one'),
        to: nodes,
        ppm: maybe(ppm),
        times: maybe(whole),
        votes: maybe(oneOf(['prevotes', 'precommits'])),
        fromHeight: maybe(whole),
        toHeight: maybe(whole),
        fromRound: maybe(whole),
        toRound: maybe(whole),
      }),
    ),
  ),
  app: maybe(isNameOr('the name of an application, or a function that makes one')),
  oracles: maybe(listOf(isFunction('a function that makes an oracle'))),
  settings: maybe(
    object({
      consensus: maybe(someOf(DEFAULT_CONSENSUS, { gossipNs: beat, reofferNs: beat })),
      mempool: maybe(
        someOf(DEFAULT_MEMPOOL, { kind: oneOf(['flood', 'nop']), gossipPeriodNs: beat, reofferNs: beat }),
      ),
      sync: maybe(someOf(DEFAULT_SYNC, { checkNs: beat, statusNs: beat })),
      blocksync: maybe(yesOrNo),
    }),
  ),
  crypto: maybe(oneOf(['sim', 'ed25519'])),
  liveness: maybe(oneOf(['checked', 'waived'])),
  origin: maybe(
    object({
      oracle: isText,
      what: isText,
      seed: {
        expects: `a whole number from 0 to ${SEED_MAX}, as text`,
        holds: (value) => typeof value === 'string' && isSeed(value),
      },
      commit: isText,
      mutant: maybe(isText),
    }),
  ),
});
