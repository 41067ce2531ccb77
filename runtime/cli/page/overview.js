// The whole run in a strip below the drawing: heights, dead time, cuts, violations, how busy it was, and the
// part that is in sight.

/** @import { Model } from './model.js' */
/** @import { View } from './view.js' */
/** @import { Theme } from './look.js' */

const COLUMNS = 400;

/** Messages per column of time. @param {Model} model */
export function trafficOf({ sentAt, endNs }) {
  const counts = new Array(COLUMNS).fill(0);
  for (const at of sentAt) counts[Math.min(COLUMNS - 1, Math.floor((at / (endNs || 1)) * COLUMNS))]++;
  const most = Math.max(1, ...counts);
  return counts.map((count) => count / most);
}

/**
 * @param {CanvasRenderingContext2D} c @param {Model} model @param {View} view @param {Theme} theme
 * @param {readonly number[]} traffic @param {number} width @param {number} height
 */
export function paintOverview(c, model, view, theme, traffic, width, height) {
  const scale = width / (model.endNs || 1);
  c.fillStyle = theme.ground;
  c.fillRect(0, 0, width, height);
  const lane = Math.max(2, (height - 16) / model.lanes.length);
  model.lanes.forEach(({ heights, downs, cuts, pauses }, i) => {
    const y = 2 + i * lane;
    const h = Math.max(1, lane - 2);
    for (const span of heights) {
      c.fillStyle = span.height % 2 === 0 ? theme.band : theme.bandOther;
      c.fillRect(span.from * scale, y, (span.to - span.from) * scale, h);
    }
    for (const span of cuts) stripe(c, span, scale, y, h, theme.cut, 0.5);
    for (const span of [...downs, ...pauses]) stripe(c, span, scale, y, h, theme.dead, 0.7);
  });
  c.fillStyle = theme.faint;
  traffic.forEach((share, i) => {
    const h = share * 12;
    c.fillRect((i * width) / COLUMNS, height - h, Math.max(1, width / COLUMNS - 0.5), h);
  });
  for (const { atNs } of model.picture.violations) {
    c.fillStyle = theme.bad;
    c.fillRect(Math.min(width - 3, atNs * scale - 1.5), 0, 3, height);
  }
  const from = Math.max(0, view.from * scale);
  const to = Math.min(width, view.to * scale);
  c.fillStyle = theme.ground;
  c.globalAlpha = 0.55;
  c.fillRect(0, 0, from, height);
  c.fillRect(to, 0, width - to, height);
  c.globalAlpha = 1;
  c.strokeStyle = theme.ink;
  c.lineWidth = 1.5;
  c.strokeRect(from + 0.75, 0.75, Math.max(3, to - from) - 1.5, height - 1.5);
}

/**
 * @param {CanvasRenderingContext2D} c @param {{ from: number, to: number }} span @param {number} scale
 * @param {number} y @param {number} h @param {string} colour @param {number} alpha
 */
function stripe(c, { from, to }, scale, y, h, colour, alpha) {
  c.globalAlpha = alpha;
  c.fillStyle = colour;
  c.fillRect(from * scale, y, Math.max(1, (to - from) * scale), h);
  c.globalAlpha = 1;
}
