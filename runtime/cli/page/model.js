// What the page knows of a run: the picture's columns as absolute times, and what each lane was from when to
// when.

/** @import { Picture } from '../../../sim/picture/picture.ts' */

/**
 * @typedef {{ from: number, to: number }} Span
 * @typedef {Span & { height: number }} HeightSpan
 * @typedef {Span & { height: number, round: number, step: number }} StepSpan
 * @typedef {Span & { block: number, height: number }} LockSpan
 * @typedef {Span & { text: string }} WordSpan
 * @typedef {object} Lane
 * @property {number[]} marks indices of its marks, in order
 * @property {HeightSpan[]} heights
 * @property {StepSpan[]} steps
 * @property {LockSpan[]} locks
 * @property {Span[]} downs
 * @property {Span[]} syncs
 * @property {Span[]} pauses
 * @property {WordSpan[]} cuts
 * @typedef {object} State
 * @property {number} height
 * @property {number} round
 * @property {number} step
 * @property {number} lock
 * @property {number} value
 * @property {string} mode
 * @property {number} decided
 * @property {number} lives
 * @typedef {object} Model
 * @property {Picture} picture
 * @property {Float64Array} sentAt
 * @property {Float64Array} endAt
 * @property {Int32Array} main the weightiest message of an arrow; -1: it has none
 * @property {Uint8Array} kind of that message
 * @property {Float64Array} height of that message; -1: none
 * @property {Uint8Array} nil 1: a vote for nil
 * @property {Float64Array} markAt
 * @property {Lane[]} lanes
 * @property {number} endNs
 * @property {number} wholeFromNs before it some are missing, chatter apart
 * @property {number} longestNs the longest way of an arrow that is not slow
 * @property {number[]} slow arrows that took longer
 * @property {number} typicalNs
 */

/** Longer ways are looked up one by one: few are. */
const SLOW_NS = 1_000_000_000;
/** The weightiest message of an envelope gives it its look. */
const WEIGHT = [
  'proposal',
  'precommit',
  'prevote',
  'evidence',
  'block sync',
  'part',
  'unreadable',
  'transactions',
  'gossip',
  'greeting',
];

/** @param {readonly number[]} steps @returns {Float64Array} */
function summed(steps) {
  const sums = new Float64Array(steps.length);
  let sum = 0;
  for (let i = 0; i < steps.length; i++) {
    sum += /** @type {number} */ (steps[i]);
    sums[i] = sum;
  }
  return sums;
}

/** @param {Picture} picture @returns {Model} */
export function modelOf(picture) {
  const { arrows, marks } = picture;
  const sentAt = summed(arrows.afterNs);
  const endAt = sentAt.map((at, i) => at + at_(arrows.tookNs, i));
  const looks = looksOf(picture);
  const took = arrows.tookNs.filter((ns) => ns > 0).sort((a, b) => a - b);
  const fast = took.filter((ns) => ns <= SLOW_NS);
  /** @type {number[]} */
  const slow = [];
  for (let i = 0; i < sentAt.length; i++) if (at_(arrows.tookNs, i) > SLOW_NS) slow.push(i);
  const markAt = summed(marks.afterNs);
  return {
    picture,
    sentAt,
    endAt,
    ...looks,
    markAt,
    lanes: lanesOf(picture, markAt),
    endNs: picture.about.endNs,
    wholeFromNs: Math.max(missing(picture, 'messages'), missing(picture, 'events')),
    longestNs: fast.at(-1) ?? 0,
    slow,
    typicalNs: took[took.length >> 1] ?? 1_000_000,
  };
}

/** Until when some of it is missing. @param {Picture} picture @param {string} what */
const missing = ({ omitted }, what) => omitted.find((each) => each.what === what)?.untilNs ?? 0;

/** @param {readonly number[]} list @param {number} i */
export const at_ = (list, i) => /** @type {number} */ (list[i]);

/** @param {Picture} picture */
function looksOf({ arrows, messages, parcels, names }) {
  const { length } = arrows.from;
  const main = new Int32Array(length).fill(-1);
  const kind = new Uint8Array(length);
  const height = new Float64Array(length).fill(-1);
  const nil = new Uint8Array(length);
  const weights = names.kinds.map((name) => WEIGHT.indexOf(name));
  const weightiest = parcels.map((parcel) => {
    let best = -1;
    for (const message of parcel) {
      const weight = at_(weights, at_(messages.kind, message));
      if (best < 0 || weight < at_(weights, at_(messages.kind, best))) best = message;
    }
    return best;
  });
  for (let i = 0; i < length; i++) {
    const best = at_(weightiest, at_(arrows.said, i));
    if (best === undefined || best < 0) continue;
    main[i] = best;
    kind[i] = at_(messages.kind, best);
    height[i] = at_(messages.height, best);
    nil[i] = at_(messages.block, best) === 0 ? 1 : 0;
  }
  return { main, kind, height, nil };
}

/** @param {Picture} picture @param {number} node @returns {State} */
const before = (picture, node) => ({ .../** @type {State} */ (picture.before[node]) });

/**
 * What a mark makes of a state. The collector does the same with the marks that it lets go.
 * @param {Picture} picture @param {State} state @param {number} mark
 */
function pass(picture, state, mark) {
  const { marks, names, texts } = picture;
  const more = at_(marks.more, mark);
  const block = at_(marks.block, mark);
  switch (names.marks[at_(marks.what, mark)]) {
    case 'starts':
      state.lives = more;
      state.mode = 'handshake';
      return;
    case 'crashes':
      Object.assign(state, { mode: 'down', step: 0, lock: -1, value: -1 });
      return;
    case 'mode':
      state.mode = texts[more] ?? '';
      return;
    case 'enters':
      Object.assign(state, { height: at_(marks.height, mark), round: at_(marks.round, mark), step: more });
      return;
    case 'locks':
      state.lock = block;
      return;
    case 'values':
      state.value = block;
      return;
    case 'decides':
      Object.assign(state, { decided: at_(marks.height, mark), lock: -1, value: -1 });
      return;
    default:
  }
}

/** @param {Model} model @param {number} node @param {number} atNs @returns {State} */
export function stateAt({ picture, lanes, markAt }, node, atNs) {
  const state = before(picture, node);
  for (const mark of lanes[node]?.marks ?? []) {
    if (at_(/** @type {any} */ (markAt), mark) > atNs) break;
    pass(picture, state, mark);
  }
  return state;
}

/**
 * Spans of one thing after another: each ends where the next begins.
 * @template {Span} T
 */
class Runs {
  /** @type {T[]} */
  list = [];
  /** @type {T | null} */
  open = null;

  /** @param {number} at */
  end(at) {
    if (this.open) {
      this.open.to = at;
      if (at > this.open.from) this.list.push(this.open);
    }
    this.open = null;
  }

  /** @param {T} span */
  begin(span) {
    this.end(span.from);
    this.open = span;
  }
}

/** @param {Picture} picture @param {Float64Array} markAt @returns {Lane[]} */
function lanesOf(picture, markAt) {
  const cuts = cutsOf(picture);
  /** @type {number[][]} */
  const byNode = picture.nodes.map(() => []);
  picture.marks.node.forEach((node, mark) => {
    byNode[node]?.push(mark);
  });
  return byNode.map((marks, node) => ({
    ...laneOf(picture, markAt, node, marks),
    marks,
    pauses: picture.troubles
      .filter(({ does, nodes }) => does === 'pause' && nodes[0] === node)
      .map(({ fromNs, toNs }) => ({ from: fromNs, to: toNs })),
    cuts: cuts[node] ?? [],
  }));
}

/** @param {Picture} picture @param {Float64Array} markAt @param {number} node @param {number[]} marks */
function laneOf(picture, markAt, node, marks) {
  const heights = /** @type {Runs<HeightSpan>} */ (new Runs());
  const steps = /** @type {Runs<StepSpan>} */ (new Runs());
  const locks = /** @type {Runs<LockSpan>} */ (new Runs());
  const downs = /** @type {Runs<Span>} */ (new Runs());
  const syncs = /** @type {Runs<Span>} */ (new Runs());
  const state = before(picture, node);
  /** @param {number} at */
  const look = (at) => {
    const { height, round, step, lock, mode } = state;
    const isDown = mode === 'down';
    const isVoting = !isDown && height > 0 && mode !== 'sync';
    if (isDown !== (downs.open !== null)) isDown ? downs.begin({ from: at, to: at }) : downs.end(at);
    if ((mode === 'sync') !== (syncs.open !== null))
      mode === 'sync' ? syncs.begin({ from: at, to: at }) : syncs.end(at);
    if (!isVoting) {
      heights.end(at);
      steps.end(at);
    } else {
      if (heights.open?.height !== height) heights.begin({ from: at, to: at, height });
      const now = steps.open;
      if (now?.height !== height || now.round !== round || now.step !== step)
        steps.begin({ from: at, to: at, height, round, step });
    }
    if (lock < 0) locks.end(at);
    else if (locks.open?.block !== lock) locks.begin({ from: at, to: at, block: lock, height });
  };
  look(missing(picture, 'events'));
  for (const mark of marks) {
    pass(picture, state, mark);
    look(markAt[mark] ?? 0);
  }
  for (const runs of [heights, steps, locks, downs, syncs]) runs.end(picture.about.endNs);
  return {
    heights: heights.list,
    steps: steps.list,
    locks: locks.list,
    downs: downs.list,
    syncs: syncs.list,
  };
}

/** Per node: when it was cut off, and from whom. @param {Picture} picture @returns {WordSpan[][]} */
function cutsOf({ nodes, cuts, about }) {
  const runs = nodes.map(() => /** @type {Runs<WordSpan>} */ (new Runs()));
  for (const { atNs, lines } of cuts) {
    nodes.forEach((_, node) => {
      const text = cutText(nodes, lines, node);
      const mine = /** @type {Runs<WordSpan>} */ (runs[node]);
      if (mine.open?.text === text) return;
      if (text === '') mine.end(atNs);
      else mine.begin({ from: atNs, to: atNs, text });
    });
  }
  for (const each of runs) each.end(about.endNs);
  return runs.map(({ list }) => list);
}

/**
 * @param {Picture['nodes']} nodes @param {readonly (readonly [number, number])[]} lines @param {number} node
 */
function cutText(nodes, lines, node) {
  /** @param {(line: readonly [number, number]) => boolean} is @param {0 | 1} end */
  const names = (is, end) => lines.filter(is).map((line) => nodes[line[end]]?.name);
  const deafTo = names(([, to]) => to === node, 0);
  const muteTo = names(([from]) => from === node, 1);
  const both = deafTo.filter((name) => muteTo.includes(name));
  const said = [];
  if (both.length > 0 && both.length === nodes.length - 1) said.push('cut off from all');
  else if (both.length > 0) said.push(`cut off from ${both.join(' ')}`);
  const deaf = deafTo.filter((name) => !both.includes(name));
  const mute = muteTo.filter((name) => !both.includes(name));
  if (deaf.length > 0) said.push(`does not hear ${deaf.join(' ')}`);
  if (mute.length > 0) said.push(`is not heard by ${mute.join(' ')}`);
  return said.join(', ');
}

/**
 * First index whose value is not below.
 * @param {Float64Array | readonly number[]} sorted @param {number} value
 */
export function lowerBound(sorted, value) {
  let low = 0;
  let high = sorted.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (/** @type {number} */ (sorted[middle]) < value) low = middle + 1;
    else high = middle;
  }
  return low;
}

/**
 * Calls for each arrow that is on its way in this time.
 * @param {Model} model @param {number} from @param {number} to @param {(arrow: number) => void} each
 */
export function arrowsWithin(model, from, to, each) {
  const { sentAt, endAt, longestNs, slow, picture } = model;
  for (const i of slow)
    if (/** @type {number} */ (sentAt[i]) <= to && /** @type {number} */ (endAt[i]) >= from) each(i);
  for (let i = lowerBound(sentAt, from - longestNs); i < sentAt.length; i++) {
    if (/** @type {number} */ (sentAt[i]) > to) return;
    if (at_(picture.arrows.tookNs, i) <= SLOW_NS && /** @type {number} */ (endAt[i]) >= from) each(i);
  }
}
