// Which part of the run stands where on the canvas: time across, lanes down; and which arrows are wanted.

/** @import { Model } from './model.js' */

import { isHeard, SHOWN_AT_FIRST } from './look.js';
import { at_ } from './model.js';

const GUTTER = 64;
const AXIS = 26;
const RIBBON = 19;
const RIBBONS_MAX = 6;
const LETTERS_ACROSS = 170;
const BOX = 44;
const PITCH_MIN = 72;
const PITCH_MAX = 210;
const BELOW = 24;
/** No closer than this across the whole canvas: a microsecond is the least that matters. */
const NARROWEST_NS = 20_000;

/** @typedef {{ row: number, trouble: number }} Ribbon */

export class View {
  from = 0;
  to = 1;
  width = 0;
  height = 0;
  scroll = 0;
  /** @type {Set<string>} */
  kinds = new Set(SHOWN_AT_FIRST);
  /** Only messages of this height; 0: all. */
  only = 0;
  /** Only messages from or to this node; -1: all. */
  solo = -1;
  /** Only what went wrong. */
  isTroubleOnly = false;

  /** @param {Model} model */
  constructor(model) {
    this.model = model;
    this.ribbons = ribbonsOf(model);
    this.rows = this.ribbons.reduce((most, { row }) => Math.max(most, row + 1), 0);
    this.fit();
  }

  get gutter() {
    return GUTTER;
  }

  get axis() {
    return AXIS;
  }

  get ribbonHeight() {
    return RIBBON;
  }

  get boxHeight() {
    return BOX;
  }

  /** Where the lanes begin. */
  get top() {
    return AXIS + this.rows * RIBBON + 14;
  }

  get pitch() {
    const { length } = this.model.lanes;
    const room = this.height - this.top - BOX - BELOW;
    return Math.min(PITCH_MAX, Math.max(PITCH_MIN, length > 1 ? room / (length - 1) : PITCH_MAX));
  }

  /** Top of the box of a lane. @param {number} lane */
  boxTop(lane) {
    return this.top + lane * this.pitch - this.scroll;
  }

  /**
   * Where an arrow leaves or reaches a lane: the edge that looks to the other one.
   * @param {number} lane @param {number} other
   */
  edge(lane, other) {
    return this.boxTop(lane) + (other > lane ? BOX : 0);
  }

  get scale() {
    return (this.width - GUTTER) / (this.to - this.from);
  }

  /** @param {number} ns */
  x(ns) {
    return GUTTER + (ns - this.from) * this.scale;
  }

  /** @param {number} x */
  timeAt(x) {
    return this.from + (x - GUTTER) / this.scale;
  }

  /** @param {number} y */
  laneAt(y) {
    const lane = Math.floor((y - this.top + this.scroll + (this.pitch - BOX) / 2) / this.pitch);
    return lane >= 0 && lane < this.model.lanes.length ? lane : -1;
  }

  /** Whether this is inside a lane's box, not between two. @param {number} y */
  isInBox(y) {
    const lane = this.laneAt(y);
    return lane >= 0 && y >= this.boxTop(lane) - 3 && y <= this.boxTop(lane) + BOX + 3;
  }

  /** The whole run. */
  fit() {
    this.show(this.model.wholeFromNs, this.model.endNs);
  }

  /** This time, and a margin on both sides. @param {number} from @param {number} to */
  show(from, to) {
    const margin = Math.max((to - from) * 0.03, NARROWEST_NS / 2);
    this.set(from - margin, to + margin);
  }

  /** @param {number} from @param {number} to */
  set(from, to) {
    const whole = this.model.endNs * 1.06 + NARROWEST_NS;
    const span = Math.min(whole, Math.max(NARROWEST_NS, to - from));
    const low = -whole * 0.03;
    this.from = Math.min(Math.max(from, low), Math.max(low, low + whole - span));
    this.to = this.from + span;
  }

  /** @param {number} factor less than 1: closer @param {number} [atNs] what stays in place */
  zoom(factor, atNs = (this.from + this.to) / 2) {
    const span = Math.max(NARROWEST_NS, (this.to - this.from) * factor);
    const share = (atNs - this.from) / (this.to - this.from);
    this.set(atNs - span * share, atNs + span * (1 - share));
  }

  /** @param {number} ns */
  pan(ns) {
    this.set(this.from + ns, this.to + ns);
  }

  /** @param {number} pixels */
  scrollBy(pixels) {
    const all = this.top + (this.model.lanes.length - 1) * this.pitch + BOX + BELOW;
    this.scroll = Math.max(0, Math.min(this.scroll + pixels, all - this.height));
  }

  /** @param {number} ns */
  center(ns) {
    const half = (this.to - this.from) / 2;
    this.set(ns - half, ns + half);
  }

  /** @param {number} arrow */
  isWanted(arrow) {
    const { picture, kind, height } = this.model;
    const { arrows, names } = picture;
    const isOdd = !isHeard(names.ends[at_(arrows.end, arrow)]) || at_(arrows.done, arrow) !== 0;
    if (this.isTroubleOnly && !isOdd) return false;
    if (!this.kinds.has(names.kinds[/** @type {number} */ (kind[arrow])] ?? '')) return false;
    if (this.only > 0 && height[arrow] !== this.only) return false;
    return this.solo < 0 || at_(arrows.from, arrow) === this.solo || at_(arrows.to, arrow) === this.solo;
  }

  /** Both ends of an arrow's line. What never left goes some way, and ends there. @param {number} arrow */
  lineOf(arrow) {
    const { picture, sentAt, endAt, typicalNs } = this.model;
    const { arrows, names } = picture;
    const from = at_(arrows.from, arrow);
    const to = at_(arrows.to, arrow);
    const sent = /** @type {number} */ (sentAt[arrow]);
    const end = names.ends[at_(arrows.end, arrow)];
    const y1 = this.edge(from, to);
    const y2 = this.edge(to, from);
    const x1 = this.x(sent);
    if (end === 'lost' || end === 'cut at once' || end === 'ruled out' || end === 'kept back') {
      const share = end === 'lost' ? 0.5 : end === 'cut at once' ? 0.4 : 0.3;
      return { x1, y1, x2: this.x(sent + typicalNs * share), y2: y1 + (y2 - y1) * share };
    }
    const x2 = this.x(/** @type {number} */ (endAt[arrow]));
    if (end === 'cut on the way') return { x1, y1, x2: x1 + (x2 - x1) * 0.85, y2: y1 + (y2 - y1) * 0.85 };
    return { x1, y1, x2, y2 };
  }
}

/**
 * Troubles in rows, so that each has room for its words where the whole run is in sight.
 * @param {Model} model @returns {Ribbon[]}
 */
function ribbonsOf({ picture }) {
  const { troubles, about } = picture;
  /** @type {number[]} */
  const rowEnds = [];
  const letterNs = about.endNs / LETTERS_ACROSS;
  return troubles.map(({ fromNs, toNs, text }, trouble) => {
    let row = rowEnds.findIndex((end) => end <= fromNs);
    // All full: where the words of another are cut shortest.
    if (row < 0) row = rowEnds.length < RIBBONS_MAX ? rowEnds.length : rowEnds.indexOf(Math.min(...rowEnds));
    rowEnds[row] = Math.max(toNs, fromNs + (text.length + 4) * letterNs);
    return { row, trouble };
  });
}
