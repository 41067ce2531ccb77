// Paints messages as arrows, what nodes did as marks on their lanes, violations across all of them, and
// finds what is under the pointer.

/** @import { Canvas } from './paint-lanes.js' */
/** @import { Model } from './model.js' */
/** @import { View } from './view.js' */
/** @import { Theme } from './look.js' */

import { isHeard, shape, WIDTH } from './look.js';
import { arrowsWithin, at_, lowerBound } from './model.js';
import { letterOf } from './words.js';

/** More than these are thinned out: they would only be one grey. What went wrong is always drawn. */
const ARROWS_DRAWN_MAX = 6000;
/** So many segments to a stroke: the cost of one grows faster than its length. */
const SEGMENTS = 200;
/** Glyphs on arrows where there are at most so many in sight. */
const GLYPHS_MAX = 500;
const CROWD = 1200;
const HEAD = 6;

/**
 * @typedef {{ x1: number, y1: number, x2: number, y2: number }} Line
 * @typedef {{ arrow: number, kind: string, nil: boolean, isOdd: boolean, line: Line }} Drawn
 */

/** The arrows in sight that are wanted. @param {Model} model @param {View} view @returns {number[]} */
export function inSight(model, view) {
  /** @type {number[]} */
  const found = [];
  arrowsWithin(model, view.from, view.to, (arrow) => {
    if (view.isWanted(arrow)) found.push(arrow);
  });
  return found;
}

/** @param {Model} model @param {View} view @param {number} arrow @returns {Drawn} */
function drawnOf({ picture, kind, nil }, view, arrow) {
  const { arrows, names } = picture;
  const isOdd = !isHeard(names.ends[at_(arrows.end, arrow)]) || at_(arrows.done, arrow) !== 0;
  const name = names.kinds[/** @type {number} */ (kind[arrow])] ?? '';
  return { arrow, kind: name, nil: nil[arrow] === 1, isOdd, line: view.lineOf(arrow) };
}

/**
 * @param {Canvas} canvas @param {ReadonlySet<number>} related arrows that say the same as the selected one
 * @param {number} selected
 * @returns {{ drawn: number, seen: number }}
 */
export function paintArrows(canvas, related, selected) {
  const { c, model, view, theme } = canvas;
  const found = inSight(model, view);
  const stride = Math.ceil(found.length / ARROWS_DRAWN_MAX);
  const list = found
    .map((arrow) => drawnOf(model, view, arrow))
    .filter(({ isOdd }, i) => isOdd || i % stride === 0);
  const crowd = list.length > 2500 ? 0.35 : list.length > 800 ? 0.55 : 0.85;
  c.globalAlpha = selected < 0 ? crowd : crowd * 0.3;
  strokeGroups(c, theme, list);
  if (list.length < ARROWS_DRAWN_MAX / 2) paintHeads(c, theme, list);
  if (list.length <= GLYPHS_MAX) for (const each of list) paintGlyph(canvas, each);
  c.globalAlpha = selected < 0 ? 1 : 0.4;
  const isCrowded = list.length > CROWD;
  for (const each of list) if (each.isOdd) paintOddity(canvas, each, isCrowded);
  c.globalAlpha = 1;
  for (const arrow of related) if (arrow !== selected) paintOne(canvas, arrow, 0.8);
  if (selected >= 0) paintOne(canvas, selected, 1);
  return { drawn: list.length, seen: found.length };
}

/**
 * Strokes of one look together.
 * @param {CanvasRenderingContext2D} c @param {Theme} theme @param {readonly Drawn[]} list
 */
function strokeGroups(c, theme, list) {
  /** @type {Map<string, Drawn[]>} */
  const groups = new Map();
  for (const each of list) {
    const key = `${each.kind}${each.nil}`;
    const group = groups.get(key);
    if (group) group.push(each);
    else groups.set(key, [each]);
  }
  for (const group of groups.values()) {
    const { kind, nil } = /** @type {Drawn} */ (group[0]);
    const name = /** @type {keyof typeof WIDTH} */ (kind);
    c.strokeStyle = theme.kinds[name];
    c.lineWidth = WIDTH[name];
    c.setLineDash(nil ? [5, 4] : name === 'block sync' ? [9, 3] : []);
    for (let i = 0; i < group.length; i += SEGMENTS) {
      c.beginPath();
      for (const { line } of group.slice(i, i + SEGMENTS)) {
        c.moveTo(line.x1, line.y1);
        c.lineTo(line.x2, line.y2);
      }
      c.stroke();
    }
    c.setLineDash([]);
  }
}

/** @param {CanvasRenderingContext2D} c @param {Theme} theme @param {readonly Drawn[]} list */
function paintHeads(c, theme, list) {
  for (const { kind, line } of list) {
    c.fillStyle = theme.kinds[/** @type {keyof typeof WIDTH} */ (kind)];
    head(c, line, kind === 'proposal' ? HEAD + 2 : HEAD);
  }
}

/** @param {CanvasRenderingContext2D} c @param {Line} line @param {number} size */
function head(c, { x1, y1, x2, y2 }, size) {
  const length = Math.hypot(x2 - x1, y2 - y1) || 1;
  const dx = ((x2 - x1) / length) * size;
  const dy = ((y2 - y1) / length) * size;
  c.beginPath();
  c.moveTo(x2, y2);
  c.lineTo(x2 - dx - dy * 0.42, y2 - dy + dx * 0.42);
  c.lineTo(x2 - dx + dy * 0.42, y2 - dy - dx * 0.42);
  c.fill();
}

/**
 * The shape of its kind, a third of the way along: hollow for nil.
 * @param {Canvas} canvas @param {Drawn} drawn
 */
function paintGlyph({ c, theme }, { kind, nil, line }) {
  if (!['proposal', 'prevote', 'precommit', 'evidence'].includes(kind)) return;
  const x = line.x1 + (line.x2 - line.x1) * 0.36;
  const y = line.y1 + (line.y2 - line.y1) * 0.36;
  glyph(c, theme, kind, nil, x, y, 4);
}

/**
 * @param {CanvasRenderingContext2D} c @param {Theme} theme @param {string} kind @param {boolean} nil
 * @param {number} x @param {number} y @param {number} r
 */
function glyph(c, theme, kind, nil, x, y, r) {
  const colour = theme.kinds[/** @type {keyof typeof WIDTH} */ (kind)];
  shape(c, kind, x, y, r);
  c.fillStyle = nil ? theme.ground : colour;
  c.fill();
  c.strokeStyle = nil ? colour : theme.ground;
  c.lineWidth = nil ? 1.6 : 0.8;
  c.stroke();
}

/**
 * How an arrow ended that was not simply heard, at the end of its line. In a crowd only what is grave has a
 * sign.
 * @param {Canvas} canvas @param {Drawn} drawn @param {boolean} [isCrowded]
 */
function paintOddity({ c, model, theme }, { arrow, line }, isCrowded = false) {
  const { arrows, names } = model.picture;
  const { x1, y1, x2, y2 } = line;
  const end = names.ends[at_(arrows.end, arrow)];
  const done = at_(arrows.done, arrow);
  c.lineWidth = 1.8;
  c.strokeStyle =
    end === 'ruled out' || end === 'cut at once' || end === 'cut on the way' ? theme.cut : theme.bad;
  c.fillStyle = theme.ground;
  c.beginPath();
  if (end === 'lost') cross(c, x2, y2, 4);
  else if (end === 'cut at once' || end === 'cut on the way') {
    c.moveTo(x2 - 6, y2);
    c.lineTo(x2 + 6, y2);
    c.moveTo(x2 - 6, y2 + (y2 > y1 ? 3.5 : -3.5));
    c.lineTo(x2 + 6, y2 + (y2 > y1 ? 3.5 : -3.5));
  } else if (end === 'ruled out' || end === 'kept back') {
    c.arc(x2, y2, 4.5, 0, 7);
    c.moveTo(x2 - 3.2, y2 + 3.2);
    c.lineTo(x2 + 3.2, y2 - 3.2);
  } else if (end === 'nobody there') {
    cross(c, x2, y2 + (y2 > y1 ? -5 : 5), 3);
    c.moveTo(x2 - 6, y2);
    c.lineTo(x2 + 6, y2);
  }
  c.stroke();
  const badge = badgeOf(model, done);
  if (badge && !(isCrowded && !isGrave(badge)))
    paintBadge(c, theme, badge, x1 + (x2 - x1) * 0.62, y1 + (y2 - y1) * 0.62);
}

/** @param {CanvasRenderingContext2D} c @param {number} x @param {number} y @param {number} r */
function cross(c, x, y, r) {
  c.moveTo(x - r, y - r);
  c.lineTo(x + r, y + r);
  c.moveTo(x - r, y + r);
  c.lineTo(x + r, y - r);
}

/** @param {string} sign */
const isGrave = (sign) => sign === '!' || sign === '≠';

/**
 * A sign for what was done to an envelope on its way.
 * @param {Model} model @param {number} done
 */
function badgeOf({ picture }, done) {
  const bits = picture.names.done;
  if (done & bits.corrupted) return '!';
  if (done & bits.lied) return '≠';
  if (done & bits.trimmed) return '−';
  if (done & bits.late) return '»';
  if (done & bits.clogged) return '≡';
  if (done & bits.copied) return '2';
  return done & bits.reordered ? '↔' : '';
}

/**
 * @param {CanvasRenderingContext2D} c @param {Theme} theme @param {string} sign @param {number} x
 * @param {number} y
 */
function paintBadge(c, theme, sign, x, y) {
  c.fillStyle = isGrave(sign) ? theme.bad : theme.cut;
  c.beginPath();
  c.arc(x, y, 6.5, 0, 7);
  c.fill();
  c.fillStyle = theme.ground;
  c.font = '700 10px ui-sans-serif, system-ui, sans-serif';
  c.textAlign = 'center';
  c.fillText(sign, x, y + 3.5);
  c.textAlign = 'left';
}

/** One arrow, above all others. @param {Canvas} canvas @param {number} arrow @param {number} alpha */
function paintOne(canvas, arrow, alpha) {
  const { c, model, view, theme } = canvas;
  const drawn = drawnOf(model, view, arrow);
  const { line } = drawn;
  const isMain = alpha === 1;
  c.globalAlpha = alpha;
  if (isMain) {
    c.strokeStyle = theme.select;
    c.lineWidth = 6;
    c.globalAlpha = 0.25;
    c.beginPath();
    c.moveTo(line.x1, line.y1);
    c.lineTo(line.x2, line.y2);
    c.stroke();
    c.globalAlpha = 1;
  }
  strokeGroups(c, theme, [drawn]);
  c.fillStyle = theme.kinds[/** @type {keyof typeof WIDTH} */ (drawn.kind)];
  head(c, line, HEAD + 2);
  paintGlyph(canvas, drawn);
  if (drawn.isOdd) paintOddity(canvas, drawn);
  c.globalAlpha = 1;
}

/** Own votes, proposals, commits on their lanes. @param {Canvas} canvas */
export function paintMarks(canvas) {
  const { model, view } = canvas;
  const { markAt } = model;
  const first = lowerBound(markAt, view.from);
  const last = lowerBound(markAt, view.to);
  const letterEnds = model.lanes.map(() => 0);
  for (let mark = first; mark < last; mark++) {
    paintMark(canvas, mark);
    paintLetter(canvas, mark, letterEnds);
  }
}

/** Letters of blocks beside votes that stand apart; of two votes at once, one after the other. */
const LETTER_PIXELS = 6.5;

/**
 * @param {Canvas} canvas @param {number} mark
 * @param {number[]} ends where the last letter of each lane ends
 */
function paintLetter({ c, model, view, theme }, mark, ends) {
  const { marks, names } = model.picture;
  const block = at_(marks.block, mark);
  const what = names.marks[at_(marks.what, mark)] ?? '';
  if (view.scale * 1e6 < 0.35 || block < 0 || !['proposes', 'prevotes', 'precommits'].includes(what)) return;
  const lane = at_(marks.node, mark);
  const near = view.x(/** @type {number} */ (model.markAt[mark])) + 6;
  if (near < view.gutter + 6) return;
  const x = Math.max(near, at_(ends, lane));
  c.fillStyle = theme.ink;
  c.font = '600 9px ui-sans-serif, system-ui, sans-serif';
  const letter = letterOf(model.picture, block);
  c.fillText(letter, x, view.boxTop(lane) + 24);
  ends[lane] = x + letter.length * LETTER_PIXELS;
}

/** What stands above a lane. @type {Readonly<Record<string, string>>} */
const SIGNS = { halts: '×', warns: '!', drops: '⊘', accuses: '§', punishes: '§' };

/** @param {Canvas} canvas @param {number} mark */
function paintMark({ c, model, view, theme }, mark) {
  const { marks, names } = model.picture;
  const what = names.marks[at_(marks.what, mark)];
  const x = view.x(/** @type {number} */ (model.markAt[mark]));
  const box = view.boxTop(at_(marks.node, mark));
  if (x < view.gutter || box > view.height) return;
  const y = box + 21;
  const block = at_(marks.block, mark);
  c.font = '600 9px ui-sans-serif, system-ui, sans-serif';
  // Marks of many heights do not touch; what is for nil is seldom, and stays as it is.
  const apart = (view.scale * model.endNs) / Math.max(1, model.picture.about.heights);
  const size = block === 0 ? 1 : Math.max(0.35, Math.min(1, apart / 15));
  if (what === 'proposes') glyph(c, theme, 'proposal', block === 0, x, y, 5 * size);
  else if (what === 'prevotes') glyph(c, theme, 'prevote', block === 0, x, y, 4.2 * size);
  else if (what === 'precommits') glyph(c, theme, 'precommit', block === 0, x, y, 4.2 * size);
  else if (what === 'decides') {
    shape(c, 'decides', x, y, 6 * size);
    c.fillStyle = theme.ink;
    c.strokeStyle = theme.ground;
    c.lineWidth = 1;
    c.fill();
    c.stroke();
  } else if (what === 'values') {
    if (view.scale * 1e6 < 0.1) return;
    c.fillStyle = theme.ink;
    c.fillText('V', x - 9, box + 34);
  } else if (what !== undefined && SIGNS[what]) {
    c.fillStyle = what === 'warns' || what === 'drops' ? theme.cut : theme.bad;
    c.font = '700 13px ui-sans-serif, system-ui, sans-serif';
    c.fillText(SIGNS[what], x - 4, box - 2);
  } else if (what === 'crashes') {
    c.strokeStyle = theme.bad;
    c.lineWidth = 3;
    c.beginPath();
    cross(c, x, y, 5);
    c.stroke();
  }
}

/** Where and when a promise was broken. @param {Canvas} canvas */
export function paintViolations({ c, model, view, theme }) {
  for (const { atNs, node, oracle } of model.picture.violations) {
    const x = view.x(atNs);
    if (x < view.gutter || x > view.width) continue;
    c.strokeStyle = theme.bad;
    c.fillStyle = theme.bad;
    c.lineWidth = 2;
    c.setLineDash([7, 3]);
    c.beginPath();
    c.moveTo(x, view.axis);
    c.lineTo(x, view.height);
    c.stroke();
    c.setLineDash([]);
    const label = `× ${oracle}`;
    c.font = '700 12px ui-sans-serif, system-ui, sans-serif';
    const w = c.measureText(label).width + 10;
    const left = Math.min(x, view.width - w);
    c.fillRect(left, view.top - 16, w, 16);
    c.fillStyle = theme.ground;
    c.fillText(label, left + 5, view.top - 4);
    if (node < 0) continue;
    c.lineWidth = 2.5;
    c.strokeRect(x - 10, view.boxTop(node) - 4, 20, view.boxHeight + 8);
  }
}

/**
 * The arrow nearest to a point; -1: none near.
 * @param {Model} model @param {View} view @param {number} x @param {number} y
 */
export function arrowAt(model, view, x, y) {
  let best = -1;
  let bestFar = 7;
  for (const arrow of inSight(model, view)) {
    const far = distance(view.lineOf(arrow), x, y);
    if (far >= bestFar) continue;
    best = arrow;
    bestFar = far;
  }
  return best;
}

/** From a point to a line. @param {Line} line @param {number} x @param {number} y */
function distance({ x1, y1, x2, y2 }, x, y) {
  const dx = x2 - x1;
  const dy = y2 - y1;
  const share = Math.max(0, Math.min(1, ((x - x1) * dx + (y - y1) * dy) / (dx * dx + dy * dy || 1)));
  return Math.hypot(x - x1 - dx * share, y - y1 - dy * share);
}
