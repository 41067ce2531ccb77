// The shape of a scenario, field by field: what each may be, and what is said where it is not.

import { DEFAULT_CONSENSUS } from '../../machines/consensus/config.ts';
import { DEFAULT_MEMPOOL } from '../../machines/mempool/config.ts';
import { DEFAULT_SYNC } from '../../machines/sync/config.ts';
import { isSeed, SEED_MAX } from '../choices.ts';
import {
  age,
  appHash,
  beat,
  blockBytes,
  blockNumber,
  chainId,
  copies,
  drift,
  initialHeight,
  latency,
  nodeName,
  nodes,
  people,
  perBlock,
  powers,
  rate,
  realBlock,
  skew,
  span,
  time,
  who,
  yes,
} from './amounts.ts';
import {
  also,
  type Check,
  each,
  elsewhere,
  isText,
  isUncalled,
  listOf,
  maybe,
  object,
  oneOf,
  ordinal,
  ppm,
  record,
  type Shape,
  someOf,
  tagged,
  whole,
  without,
  yesOrNo,
} from './checks.ts';
import { type Action, type Load, STEP_NAMES } from './play.ts';
import { DEEDS, MESSAGE_KINDS, nonsenseIn, nonsenseOf, nonsenseOfNever, OPERATION_NAMES } from './sense.ts';

const DEED = 'what somebody does, as v0.decides()';
const anyCondition = object(
  {
    who,
    does: oneOf(DEEDS),
    height: maybe(whole),
    round: maybe(whole),
    block: maybe(blockNumber),
    step: maybe(oneOf(Object.keys(STEP_NAMES))),
    against: maybe(nodeName),
    because: maybe(isText),
  },
  DEED,
);
const condition = without(
  'is',
  `${DEED}: how somebody is goes with while and finally_`,
  without(
    'withinMs',
    `${DEED}, without { within }: that goes with ends`,
    without('name', `${DEED}: a node alone does nothing`, also(anyCondition, nonsenseOf)),
  ),
);

const STATE = 'how somebody is, as v0.isUp';
const anyState = tagged(
  'is',
  {
    'locked-on': { who: nodeName, block: realBlock },
    up: { who: nodeName },
    down: { who: nodeName },
    syncing: { who: nodeName },
    'in-consensus': { who: nodeName },
    'cut-off': { who: nodeName },
    halted: { who: nodeName },
    'of-power': { who: nodeName, power: whole },
    'weaker-than': { who: nodeName, power: whole },
  },
  STATE,
);
const state = without(
  'does',
  `${STATE}: what somebody does goes with when, never and sometime`,
  without('name', `${STATE}: a node alone is nothing yet`, anyState),
);

const how = oneOf(['clean', 'lose', 'half', 'drawn']);
const death = { how, restartMs: maybe(time), unnoticed: maybe(yes) };
const medium = oneOf(['consensus', 'privval', 'chain', 'app']);
const delayed = object({ delayMs: time });
const effect: Check = {
  expects: '"drop" or {"delayMs": ...}',
  holds: (value) => value === 'drop' || (typeof value === 'object' && value !== null),
  inside: (checker, value, path) => {
    if (value !== 'drop') checker.check(delayed, value, path);
  },
};

const anyAction = tagged(
  'do',
  {
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
      what: oneOf(MESSAGE_KINDS),
      effect,
      from: maybe(nodes),
      to: maybe(nodes),
      by: maybe(nodes),
      height: maybe(whole),
      round: maybe(whole),
    },
    crash: {
      node: nodeName,
      ...death,
      point: elsewhere('{"do":"crash-at"} with node, how, when, op, on, nth'),
    },
    'crash-at': {
      node: nodeName,
      ...death,
      when: oneOf(['before', 'inside', 'after']),
      op: oneOf(OPERATION_NAMES),
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
  } satisfies Record<Action['do'], object>,
  'what happens, as heal()',
);

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
/** The word for it takes a duration. */
const within: Check = {
  ...whole,
  expects: "a whole number of milliseconds (in a program decides(height(3), { within: '60s' }))",
};
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
          ? { who: whoEnds, decides: whole, guilty: nodes, withinMs: within }
          : { who: whoEnds, decides: whole, withinMs: within, afterwards: maybe(whole) };
    checker.check(object(shape), value, path);
  },
};

const isFunction = (expects: string): Check => ({
  expects,
  holds: (value) => typeof value === 'function',
});
/** What holds a function of one's own: of one that stands in its place `how` says what to write. */
const held = (how: (name: string) => string, check: Check): Check => ({
  expects: check.expects,
  inside: (checker, value, path) => {
    if (!isUncalled(value)) return checker.check(check, value, path);
    const { name } = value;
    checker.fail(
      path,
      `expected ${check.expects}, not ${name === '' ? 'a function' : `the function ${name}`}: write ${how(name || 'f')}`,
    );
  },
});
const holding = (how: (name: string) => string, shape: Shape): Check => held(how, object(shape));
const isNameOr = (expects: string): Check => ({
  expects,
  holds: (value) => typeof value === 'string' || typeof value === 'function',
});
/** The others follow from the chain (`mempoolConfig`): what a play said would not count. */
const { notifyTxs: _notify, blockTxBytesMax: _room, gasMax: _gas, ...POOL_SETTINGS } = DEFAULT_MEMPOOL;

export const scenarioShape = object({
  name: {
    expects: 'a kebab-case name',
    holds: (value) => typeof value === 'string' && /^[a-z0-9-]+$/.test(value),
  },
  title: isText,
  cast: object({
    powers,
    candidates: maybe(people),
    fullNodes: maybe(people),
    chainId: maybe(chainId),
    appHash: maybe(appHash),
    initialHeight: maybe(initialHeight),
    degree: maybe(ordinal),
    evidence: maybe(object({ maxAgeBlocks: maybe(ordinal), maxAgeMs: maybe(age) })),
    blockBytes: maybe(blockBytes),
    clocks: maybe(record(nodeName, object({ skewMs: maybe(skew), driftPpm: maybe(drift) }))),
  }),
  act: maybe(listOf(directive)),
  load: maybe(
    also(
      holding((make) => `txs({ perBlock: 1, make: ${make} })`, {
        perSecond: maybe(rate),
        perBlock: maybe(perBlock),
        count: maybe(whole),
        copies: maybe(copies),
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
      holding((liar) => `liar('v3', ${liar}, ['v0'])`, {
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
  oracles: maybe(held((oracle) => `[${oracle}]`, listOf(isFunction('a function that makes an oracle')))),
  settings: maybe(
    object({
      consensus: maybe(someOf(DEFAULT_CONSENSUS, { gossipNs: beat, reofferNs: beat })),
      mempool: maybe(
        someOf(POOL_SETTINGS, { kind: oneOf(['flood', 'nop']), gossipPeriodNs: beat, reofferNs: beat }),
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
