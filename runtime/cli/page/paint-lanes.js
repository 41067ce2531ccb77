// Paints what lies below the arrows: the axis, what the play did, and the lanes with heights, rounds and
// steps.

/** @import { Model, Lane, Span } from './model.js' */
/** @import { View } from './view.js' */
/** @import { Theme } from './look.js' */

import { hatch, padlock } from './look.js';
import { lowerBound } from './model.js';
import { letterOf, secondsText } from './words.js';

const FONT = 'ui-sans-serif, system-ui, sans-serif';
const TEXT_PIXELS = 6.2;

/**
 * @typedef {object} Canvas
 * @property {CanvasRenderingContext2D} c
 * @property {Model} model
 * @property {View} view
 * @property {Theme} theme
 */

/** The part of a span that is on the canvas; null: none of it. @param {View} view @param {Span} span */
function visible(view, { from, to }) {
  if (to < view.from || from > view.to) return null;
  const x = Math.max(view.gutter, view.x(from));
  return { x, w: Math.min(view.width, view.x(to)) - x };
}

/**
 * Text that is left out where it does not fit.
 * @param {CanvasRenderingContext2D} c @param {string} words @param {number} x @param {number} y
 * @param {number} room
 */
function fitted(c, words, x, y, room) {
  if (room < TEXT_PIXELS * 2) return;
  const most = Math.floor(room / TEXT_PIXELS);
  c.fillText(words.length <= most ? words : most > 6 ? `${words.slice(0, most - 1)}…` : '', x, y);
}

/**
 * The first of these words that has room, or none.
 * @param {CanvasRenderingContext2D} c @param {readonly string[]} choice @param {number} x
 * @param {number} y @param {number} room
 */
function firstFitting(c, choice, x, y, room) {
  const words = choice.find((each) => each.length * TEXT_PIXELS <= room);
  if (words) c.fillText(words, x, y);
}

/** @param {Canvas} canvas */
export function paintAxis({ c, view, theme }) {
  const about = (view.to - view.from) / Math.max(2, (view.width - view.gutter) / 110);
  let step = 10 ** Math.floor(Math.log10(about));
  if (about / step > 5) step *= 10;
  else if (about / step > 2) step *= 5;
  else if (about / step > 1) step *= 2;
  const places = Math.max(0, Math.min(9, 9 - Math.floor(Math.log10(step))));
  c.font = `11px ${FONT}`;
  c.textAlign = 'left';
  c.strokeStyle = theme.line;
  c.fillStyle = theme.faint;
  c.lineWidth = 1;
  c.beginPath();
  for (let at = Math.max(0, Math.ceil(view.from / step) * step); at <= view.to; at += step) {
    const x = Math.round(view.x(at)) + 0.5;
    if (x < view.gutter) continue;
    c.moveTo(x, 16);
    c.lineTo(x, view.height);
    c.fillText(secondsText(at, places), x + 3, 13);
  }
  c.stroke();
}

/** @param {string} does */
function troubleColour(does, /** @type {Theme} */ theme) {
  if (does === 'heal' || does === 'calm' || does === 'restart' || does === 'unpause') return theme.good;
  if (does === 'crash' || does === 'crash-at' || does === 'pause') return theme.dead;
  if (does === 'submit' || does === 'empower') return theme.faint;
  return theme.cut;
}

/** What the play did, in words, over the lanes. @param {Canvas} canvas */
export function paintTroubles({ c, model, view, theme }) {
  const { troubles } = model.picture;
  c.font = `11px ${FONT}`;
  c.textAlign = 'left';
  // What begins next in a row ends the room of the words before it.
  const roomEnds = new Array(view.rows).fill(view.width);
  for (let i = view.ribbons.length - 1; i >= 0; i--) {
    const { row, trouble } = /** @type {import('./view.js').Ribbon} */ (view.ribbons[i]);
    const { does, text, fromNs, toNs } = /** @type {typeof troubles[0]} */ (troubles[trouble]);
    const x = view.x(fromNs);
    const roomEnd = roomEnds[row];
    roomEnds[row] = Math.min(roomEnds[row], x);
    const part = visible(view, { from: fromNs, to: toNs });
    const isInstant = fromNs === toNs;
    if (!part && !(isInstant && x > view.gutter - 300 && x < view.gutter)) continue;
    const y = view.axis + row * view.ribbonHeight;
    const colour = troubleColour(does, theme);
    c.fillStyle = colour;
    c.strokeStyle = colour;
    if (part && isInstant) {
      c.beginPath();
      c.moveTo(x, y + 14);
      c.lineTo(x - 4, y + 4);
      c.lineTo(x + 4, y + 4);
      c.fill();
      edgeLine(c, view, x, y + 14);
    } else if (part) {
      c.globalAlpha = 0.22;
      c.fillRect(part.x, y + 1, Math.max(2, part.w), view.ribbonHeight - 3);
      c.globalAlpha = 1;
      c.fillRect(part.x, y + 1, 2.5, view.ribbonHeight - 3);
      if (x >= view.gutter) edgeLine(c, view, x, y + view.ribbonHeight);
      if (view.x(toNs) < view.width) edgeLine(c, view, view.x(toNs), y + view.ribbonHeight);
    }
    if (!part) continue;
    c.fillStyle = theme.ink;
    const textX = Math.max(part.x, view.gutter) + 7;
    fitted(c, text, textX, y + 13, Math.min(roomEnd, view.width) - textX - 4);
  }
}

/** @param {CanvasRenderingContext2D} c @param {View} view @param {number} x @param {number} y */
function edgeLine(c, view, x, y) {
  c.globalAlpha = 0.4;
  c.lineWidth = 1;
  c.setLineDash([2, 4]);
  c.beginPath();
  c.moveTo(x, y);
  c.lineTo(x, view.height);
  c.stroke();
  c.setLineDash([]);
  c.globalAlpha = 1;
}

/** @param {Canvas} canvas */
export function paintLanes(canvas) {
  canvas.model.lanes.forEach((lane, i) => {
    const y = canvas.view.boxTop(i);
    if (y > canvas.view.height || y + canvas.view.boxHeight < canvas.view.axis) return;
    paintLane(canvas, lane, y);
  });
}

/** @param {readonly Span[]} spans @param {View} view */
function spansWithin(spans, view) {
  const first = lowerBound(
    spans.map(({ to }) => to),
    view.from,
  );
  const list = [];
  for (let i = first; i < spans.length; i++) {
    const span = /** @type {any} */ (spans[i]);
    if (span.from > view.to) break;
    list.push(span);
  }
  return list;
}

/** @param {Canvas} canvas @param {Lane} lane @param {number} y */
function paintLane(canvas, lane, y) {
  const { c, view, theme } = canvas;
  const box = view.boxHeight;
  c.fillStyle = theme.line;
  c.fillRect(view.gutter, y + box / 2, view.width - view.gutter, 1);
  paintHeights(canvas, lane, y);
  paintSteps(canvas, lane, y);
  paintLocks(canvas, lane, y);
  for (const span of spansWithin(lane.cuts, view)) {
    const part = visible(view, span);
    if (!part) continue;
    c.strokeStyle = theme.cut;
    c.fillStyle = theme.cut;
    c.lineWidth = 1.4;
    hatch(c, part.x, y - 7, part.w, 6, 7, 1);
    hatch(c, part.x, y + box + 1, part.w, 6, 7, 1);
    c.font = `10px ${FONT}`;
    fitted(c, span.text, part.x + 4, y + box + 17, part.w);
  }
  for (const span of spansWithin(lane.pauses, view)) deadPart(canvas, span, y, 'frozen', -1);
  for (const span of spansWithin(lane.downs, view))
    deadPart(canvas, span, y, span.from === 0 ? '' : 'down', 1);
}

/** @param {Canvas} canvas @param {Span} span @param {number} y @param {string} word @param {1 | -1} lean */
function deadPart({ c, view, theme }, span, y, word, lean) {
  const part = visible(view, span);
  if (!part) return;
  const box = view.boxHeight;
  c.fillStyle = theme.ground;
  c.globalAlpha = 0.55;
  c.fillRect(part.x, y, part.w, box);
  c.globalAlpha = 0.45;
  c.strokeStyle = theme.dead;
  c.lineWidth = 1.2;
  hatch(c, part.x, y, part.w, box, lean > 0 ? 7 : 12, lean);
  c.globalAlpha = 1;
  if (word === '') return;
  c.font = `600 11px ${FONT}`;
  const choice = [`${word} ${secondsText(span.to - span.from, 3)}`, word];
  const words = choice.find((each) => each.length * TEXT_PIXELS <= part.w - 14);
  if (!words) return;
  c.fillStyle = theme.ground;
  c.fillRect(part.x + 9, y + 13, c.measureText(words).width + 6, 16);
  c.fillStyle = theme.dead;
  c.fillText(words, part.x + 12, y + 25);
}

/** @param {Canvas} canvas @param {Lane} lane @param {number} y */
function paintHeights({ c, view, theme }, lane, y) {
  c.font = `600 11px ${FONT}`;
  c.textAlign = 'left';
  for (const span of spansWithin(lane.heights, view)) {
    const part = visible(view, span);
    if (!part) continue;
    c.fillStyle = span.height % 2 === 0 ? theme.band : theme.bandOther;
    c.fillRect(part.x, y, Math.max(part.w, 0.5), view.boxHeight);
    c.fillStyle = theme.ink;
    const { height } = span;
    firstFitting(c, [`height ${height}`, String(height)], part.x + 4, y + 11, part.w - 8);
  }
  for (const span of spansWithin(lane.syncs, view)) {
    const part = visible(view, span);
    if (!part) continue;
    c.fillStyle = theme.kinds['block sync'];
    c.globalAlpha = 0.25;
    c.fillRect(part.x, y, part.w, view.boxHeight);
    c.globalAlpha = 1;
    firstFitting(c, ['block sync', 'sync'], part.x + 4, y + 11, part.w - 4);
  }
}

/**
 * A strip per step; rounds after the first have their number.
 * @param {Canvas} canvas @param {Lane} lane @param {number} y
 */
function paintSteps({ c, view, theme }, lane, y) {
  const strip = y + view.boxHeight - 6;
  c.font = `600 10px ${FONT}`;
  let roundAt = '';
  for (const span of spansWithin(lane.steps, view)) {
    const part = visible(view, span);
    if (!part) continue;
    c.fillStyle = theme.steps[span.step] ?? theme.faint;
    c.fillRect(part.x, strip, Math.max(part.w, 0.6), 6);
    const place = `${span.height}/${span.round}`;
    if (span.round === 0 || place === roundAt) continue;
    roundAt = place;
    c.fillStyle = theme.kinds.proposal;
    c.fillRect(part.x - 0.5, y, 1.5, view.boxHeight);
    if (view.scale * 2e8 > 12) c.fillText(`r${span.round}`, part.x + 3, y + 22);
  }
}

/**
 * A bar from lock to decision, with a padlock and the letter of the block.
 * @param {Canvas} canvas @param {Lane} lane @param {number} y
 */
function paintLocks({ c, model, view, theme }, lane, y) {
  for (const span of spansWithin(lane.locks, view)) {
    const part = visible(view, span);
    if (!part) continue;
    const bar = y + 33;
    c.fillStyle = theme.ink;
    c.strokeStyle = theme.ink;
    c.fillRect(part.x, bar, Math.max(part.w, 1), 2.5);
    if (part.w < 16) continue;
    padlock(c, part.x + 5, bar - 4, 3.2);
    c.font = `600 10px ${FONT}`;
    c.fillText(letterOf(model.picture, span.block), part.x + 11, bar - 1);
  }
}

/** Names of the nodes, left of the lanes. @param {Canvas} canvas */
export function paintNames({ c, model, view, theme }) {
  c.fillStyle = theme.ground;
  c.fillRect(0, 0, view.gutter - 2, view.height);
  model.picture.nodes.forEach(({ name, role, power, lies }, i) => {
    const y = view.boxTop(i);
    if (y < view.axis) return;
    c.fillStyle = lies ? theme.bad : theme.ink;
    c.font = `700 15px ${FONT}`;
    c.fillText(name.length > 6 ? `${name.slice(0, 5)}…` : name, 8, y + 16);
    c.font = `10px ${FONT}`;
    c.fillStyle = lies ? theme.bad : theme.faint;
    c.fillText(lies ? 'liar' : role === 'validator' ? `power ${power}` : role, 8, y + 30);
    if (view.solo !== i) return;
    c.strokeStyle = theme.ink;
    c.lineWidth = 1.5;
    c.strokeRect(3, y - 1, view.gutter - 9, view.boxHeight + 2);
  });
}
