// The page itself: reads the picture, keeps what is selected, paints when something changed, and listens to
// wheel, pointer, keys and the tools above.

/** @import { Picture } from '../../../sim/picture/picture.ts' */

import { byId } from './dom.js';
import { fillHeader, fillKinds } from './header.js';
import { showLegend } from './legend.js';
import { listenToKeys, listenToPointer, listenToTools } from './listen.js';
import { themeNow } from './look.js';
import { modelOf } from './model.js';
import { paintOverview, trafficOf } from './overview.js';
import { inSight, paintArrows, paintMarks, paintViolations } from './paint-arrows.js';
import { paintAxis, paintLanes, paintNames, paintTroubles } from './paint-lanes.js';
import { showArrow, showLane } from './panel.js';
import { View } from './view.js';

export class Page {
  /** @param {Picture} picture */
  constructor(picture) {
    this.picture = picture;
    this.model = modelOf(picture);
    this.view = new View(this.model);
    this.theme = themeNow();
    this.traffic = trafficOf(this.model);
    this.selected = -1;
    /** @type {Set<number>} */
    this.related = new Set();
    /** @type {{ node: number, atNs: number } | null} */
    this.instant = null;
    this.count = { drawn: 0, seen: 0 };
    this.isDue = false;
    this.drawing = /** @type {HTMLCanvasElement} */ (byId('drawing'));
    this.overview = /** @type {HTMLCanvasElement} */ (byId('overview'));
    this.panel = /** @type {HTMLElement} */ (byId('panel'));
  }

  start() {
    fillHeader(this);
    fillKinds(this);
    listenToPointer(this);
    listenToKeys(this);
    listenToTools(this);
    showLegend(this.panel, this.picture, this.theme);
    matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => {
      this.theme = themeNow();
      fillKinds(this);
      if (this.selected < 0 && !this.instant) showLegend(this.panel, this.picture, this.theme);
      this.due();
    });
    new ResizeObserver(() => this.resize()).observe(this.drawing);
    this.resize();
    if (this.picture.violations.length > 0) this.goToViolation(0);
    this.paint();
  }

  resize() {
    const ratio = devicePixelRatio || 1;
    for (const canvas of [this.drawing, this.overview]) {
      const { clientWidth, clientHeight } = canvas;
      canvas.width = Math.round(clientWidth * ratio);
      canvas.height = Math.round(clientHeight * ratio);
      canvas.getContext('2d')?.setTransform(ratio, 0, 0, ratio, 0, 0);
    }
    this.view.width = this.drawing.clientWidth;
    this.view.height = this.drawing.clientHeight;
    this.view.scrollBy(0);
    this.due();
  }

  /** Something changed: paint with the next frame. */
  due() {
    if (this.isDue) return;
    this.isDue = true;
    requestAnimationFrame(() => {
      this.isDue = false;
      this.paint();
    });
  }

  paint() {
    const c = this.drawing.getContext('2d');
    const o = this.overview.getContext('2d');
    if (!c || !o) return;
    const { model, view, theme } = this;
    const canvas = { c, model, view, theme };
    c.fillStyle = theme.ground;
    c.fillRect(0, 0, view.width, view.height);
    c.save();
    c.beginPath();
    c.rect(view.gutter, 0, view.width - view.gutter, view.height);
    c.clip();
    paintAxis(canvas);
    paintLanes(canvas);
    this.count = paintArrows(canvas, this.related, this.selected);
    paintMarks(canvas);
    this.paintInstant(c);
    paintTroubles(canvas);
    paintViolations(canvas);
    c.restore();
    paintNames(canvas);
    paintOverview(o, model, view, theme, this.traffic, this.overview.clientWidth, this.overview.clientHeight);
    this.tellStatus();
  }

  tellStatus() {
    const { view } = this;
    const { drawn, seen } = this.count;
    const below = this.picture.nodes.filter((_, i) => view.boxTop(i) > view.height).length;
    const more = below > 0 ? `; ${below} more nodes below (drag, or the arrow down)` : '';
    const thin = `${drawn} of ${seen} messages in sight are drawn: come closer for all`;
    byId('status').textContent = `${drawn < seen ? thin : `${seen} messages in sight`}${more}`;
  }

  /** @param {CanvasRenderingContext2D} c */
  paintInstant(c) {
    if (!this.instant) return;
    const { node, atNs } = this.instant;
    const x = this.view.x(atNs);
    const y = this.view.boxTop(node);
    c.strokeStyle = this.theme.select;
    c.lineWidth = 1.5;
    c.beginPath();
    c.moveTo(x, y - 6);
    c.lineTo(x, y + this.view.boxHeight + 6);
    c.stroke();
  }

  // --- selecting -------------------------------------------------------------------------------------------

  /** All arrows that carry what is weightiest in this one: a vote on all its ways. @param {number} arrow */
  sameAs(arrow) {
    const { main } = this.model;
    const list = [];
    for (let i = 0; i < main.length; i++) if (main[i] === main[arrow]) list.push(i);
    return list;
  }

  /** @param {number} arrow */
  select(arrow) {
    const same = this.sameAs(arrow);
    this.selected = arrow;
    this.related = new Set(same);
    this.instant = null;
    showArrow(this.panel, this.model, arrow, same, (other) => {
      this.select(other);
      this.bringInSight(other);
    });
    this.due();
  }

  /** @param {number} node @param {number} atNs */
  selectInstant(node, atNs) {
    this.letGo();
    this.instant = { node, atNs };
    showLane(this.panel, this.model, node, Math.max(0, Math.min(atNs, this.model.endNs)));
    this.due();
  }

  letGo() {
    this.selected = -1;
    this.related = new Set();
    this.instant = null;
    showLegend(this.panel, this.picture, this.theme);
    this.due();
  }

  /** @param {number} arrow */
  bringInSight(arrow) {
    const sent = /** @type {number} */ (this.model.sentAt[arrow]);
    if (sent < this.view.from || sent > this.view.to) this.view.center(sent);
    this.due();
  }

  /** The next wanted arrow, or the one before. @param {1 | -1} way */
  step(way) {
    const { sentAt } = this.model;
    let arrow = this.selected;
    if (arrow < 0) {
      const seen = inSight(this.model, this.view).sort((a, b) => a - b);
      const first = way > 0 ? seen[0] : seen.at(-1);
      if (first !== undefined) this.select(first);
      return;
    }
    do arrow += way;
    while (arrow >= 0 && arrow < sentAt.length && !this.view.isWanted(arrow));
    if (arrow < 0 || arrow >= sentAt.length) return;
    this.select(arrow);
    this.bringInSight(arrow);
  }

  // --- going somewhere -------------------------------------------------------------------------------------

  /** @param {number} number */
  goToViolation(number) {
    const violation = this.picture.violations[number];
    if (!violation) return;
    const { atNs, node } = violation;
    const heights = this.model.lanes[node]?.heights ?? [];
    const mine = heights.filter(({ from }) => from <= atNs).at(-1);
    const span = mine ? Math.max(5e7, (atNs - mine.from) * 1.25) : 2e9;
    this.view.set(atNs - span, atNs + span * 0.12);
    if (node >= 0) this.selectInstant(node, atNs);
    this.due();
  }

  /** Shows a height, from the first that enters it to the last that decides it. @param {number} height */
  goToHeight(height) {
    let from = Number.POSITIVE_INFINITY;
    let to = 0;
    for (const { heights } of this.model.lanes) {
      for (const span of heights) {
        if (span.height !== height) continue;
        from = Math.min(from, span.from);
        to = Math.max(to, span.to);
      }
    }
    if (to === 0) return false;
    this.view.show(from, to);
    this.due();
    return true;
  }

  /** The height that is in the middle of the drawing, or the one chosen. */
  get heightNow() {
    if (this.view.only > 0) return this.view.only;
    const middle = (this.view.from + this.view.to) / 2;
    let best = 0;
    for (const { heights } of this.model.lanes)
      for (const { from, height } of heights) if (from <= middle) best = Math.max(best, height);
    return best;
  }
}

const text = byId('picture')?.textContent;
if (text) {
  const page = new Page(JSON.parse(text));
  page.start();
  // For whoever wants to look closer from the console, and for tests.
  Object.assign(globalThis, { page });
}
