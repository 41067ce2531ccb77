// Wheel, pointer, keys and tools: what a person does to the page.

/** @import { Page } from './main.js' */

import { byId } from './dom.js';
import { at_ } from './model.js';
import { arrowAt } from './paint-arrows.js';
import { tipOf } from './panel.js';
import { fateOf, messageText, secondsText } from './words.js';

const CLICK_PIXELS = 4;
const ZOOM_STEP = 1.6;

/** @param {Page} page */
export function listenToPointer(page) {
  const { drawing, view } = page;
  /** @type {{ x: number, y: number, moved: number } | null} */
  let down = null;
  drawing.addEventListener('wheel', (event) => {
    event.preventDefault();
    const { deltaX, deltaY } = event;
    if (event.shiftKey || Math.abs(deltaX) > Math.abs(deltaY)) view.pan((deltaX || deltaY) / view.scale);
    else view.zoom(Math.exp(deltaY * 0.0016), view.timeAt(event.offsetX));
    page.due();
  });
  drawing.addEventListener('pointerdown', (event) => {
    down = { x: event.offsetX, y: event.offsetY, moved: 0 };
    drawing.setPointerCapture(event.pointerId);
  });
  drawing.addEventListener('pointermove', (event) => {
    if (!down) return hover(page, event);
    const dx = event.offsetX - down.x;
    const dy = event.offsetY - down.y;
    down = { x: event.offsetX, y: event.offsetY, moved: down.moved + Math.abs(dx) + Math.abs(dy) };
    if (down.moved < CLICK_PIXELS) return;
    drawing.classList.add('dragged');
    view.pan(-dx / view.scale);
    view.scrollBy(-dy);
    page.due();
  });
  drawing.addEventListener('pointerup', (event) => {
    drawing.classList.remove('dragged');
    if (down && down.moved < CLICK_PIXELS) click(page, event.offsetX, event.offsetY);
    down = null;
  });
  drawing.addEventListener('pointerleave', () => {
    byId('tip').hidden = true;
    byId('hair').hidden = true;
  });
  listenToOverview(page);
}

/** @param {Page} page */
function listenToOverview(page) {
  const { overview, view, model } = page;
  const go = (/** @type {PointerEvent} */ event) => {
    if (event.buttons === 0) return;
    view.center((event.offsetX / overview.clientWidth) * model.endNs);
    page.due();
  };
  overview.addEventListener('pointerdown', go);
  overview.addEventListener('pointermove', go);
  overview.addEventListener('wheel', (event) => {
    event.preventDefault();
    view.zoom(Math.exp(event.deltaY * 0.0016));
    page.due();
  });
}

/** @param {Page} page @param {PointerEvent} event */
function hover(page, event) {
  const { model, view, drawing } = page;
  const { offsetX, offsetY } = event;
  const arrow = offsetX < view.gutter || view.isInBox(offsetY) ? -1 : arrowAt(model, view, offsetX, offsetY);
  const tip = byId('tip');
  const hair = byId('hair');
  hair.hidden = offsetX < view.gutter;
  hair.style.left = `${offsetX}px`;
  hair.textContent = secondsText(Math.max(0, view.timeAt(offsetX)));
  drawing.classList.toggle('over', arrow >= 0 || view.isInBox(offsetY));
  tip.hidden = arrow < 0;
  if (arrow < 0) return;
  tip.textContent = `${tipOf(model, arrow)} (${fateOf(model, arrow).join('; ')})`;
  tip.style.left = `${Math.min(offsetX + 14, view.width - 300)}px`;
  tip.style.top = `${Math.min(offsetY + 14, view.height - 40)}px`;
}

/** @param {Page} page @param {number} x @param {number} y */
function click(page, x, y) {
  const { model, view, drawing } = page;
  drawing.focus();
  const lane = view.laneAt(y);
  if (x < view.gutter) {
    view.solo = lane < 0 || view.solo === lane ? -1 : lane;
    return page.due();
  }
  if (lane >= 0 && view.isInBox(y)) return page.selectInstant(lane, view.timeAt(x));
  const arrow = arrowAt(model, view, x, y);
  if (arrow >= 0) page.select(arrow);
  else page.letGo();
}

/** @param {Page} page */
export function listenToKeys(page) {
  const { view } = page;
  const tenth = () => (view.to - view.from) / 10;
  /** @type {Record<string, () => void>} */
  const keys = {
    ArrowLeft: () => view.pan(-tenth()),
    ArrowRight: () => view.pan(tenth()),
    ArrowUp: () => view.scrollBy(-60),
    ArrowDown: () => view.scrollBy(60),
    PageUp: () => view.pan(-8 * tenth()),
    PageDown: () => view.pan(8 * tenth()),
    Home: () => view.center(0),
    End: () => view.center(page.model.endNs),
    '+': () => view.zoom(1 / ZOOM_STEP),
    '=': () => view.zoom(1 / ZOOM_STEP),
    '-': () => view.zoom(ZOOM_STEP),
    0: () => view.fit(),
    ',': () => page.step(-1),
    '.': () => page.step(1),
    h: () => changeHeight(page, page.heightNow + 1),
    H: () => changeHeight(page, page.heightNow - 1),
    v: () => page.goToViolation(0),
    '/': () => byId('find').focus(),
    '?': () => page.letGo(),
    Escape: () => page.letGo(),
  };
  addEventListener('keydown', (event) => {
    const isTyping = event.target instanceof HTMLInputElement && event.target.type !== 'checkbox';
    if (isTyping && event.key === 'Escape') return page.drawing.focus();
    if (isTyping || event.ctrlKey || event.metaKey || event.altKey) return;
    const does = keys[event.key];
    if (!does) return;
    event.preventDefault();
    does();
    page.due();
  });
}

/** Shows one height, and its messages only; 0: all. @param {Page} page @param {number} height */
function changeHeight(page, height) {
  if (height > 0 && !page.goToHeight(height)) return;
  page.view.only = Math.max(0, height);
  byId('height').value = height > 0 ? String(height) : '';
  page.due();
}

/** @param {Page} page */
export function listenToTools(page) {
  const { view } = page;
  const press = (/** @type {string} */ id, /** @type {() => void} */ does) =>
    byId(id).addEventListener('click', () => {
      does();
      page.due();
    });
  press('closer', () => view.zoom(1 / ZOOM_STEP));
  press('wider', () => view.zoom(ZOOM_STEP));
  press('all', () => {
    changeHeight(page, 0);
    view.fit();
  });
  press('wrong', () => page.goToViolation(0));
  press('help', () => page.letGo());
  press('height-before', () => changeHeight(page, page.heightNow - 1));
  press('height-after', () => changeHeight(page, page.heightNow + 1));
  press('trouble', () => {
    view.isTroubleOnly = byId('trouble').checked;
  });
  byId('height').addEventListener('change', () => changeHeight(page, Number(byId('height').value) || 0));
  byId('find').addEventListener('keydown', (/** @type {KeyboardEvent} */ event) => {
    if (event.key === 'Enter') find(page, byId('find').value, event.shiftKey ? -1 : 1);
  });
}

/**
 * The next message that has all these words in it.
 * @param {Page} page @param {string} words @param {1 | -1} way
 */
function find(page, words, way) {
  const { picture, selected } = page;
  const { arrows, messages, parcels, blocks, nodes } = picture;
  const wanted = words
    .toLowerCase()
    .split(/[\s,]+/)
    .filter((each) => each !== '');
  if (wanted.length === 0) return;
  const texts = messages.kind.map((_, message) => {
    const hash = blocks[at_(messages.block, message)]?.hash ?? '';
    return `${messageText(picture, message)} ${hash}`.toLowerCase();
  });
  const { length } = arrows.from;
  const start = selected < 0 ? (way > 0 ? -1 : length) : selected;
  for (let n = 1; n <= length; n++) {
    const arrow = (((start + way * n) % length) + length) % length;
    const ends = `${nodes[at_(arrows.from, arrow)]?.name} → ${nodes[at_(arrows.to, arrow)]?.name}`;
    const parcel = parcels[at_(arrows.said, arrow)] ?? [];
    const said = [ends, ...parcel.map((message) => texts[message])].join(' ');
    if (!wanted.every((each) => said.includes(each))) continue;
    page.select(arrow);
    page.bringInSight(arrow);
    return;
  }
  byId('status').textContent = `no message has "${words}" in it`;
}
