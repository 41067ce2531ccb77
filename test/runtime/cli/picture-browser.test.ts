// The page of a long run in a real browser: it opens without a complaint, draws, and tells what is under the
// pointer.

import { writeFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { pageOf } from '../../../runtime/cli/run/picture-page.ts';
import { tour } from '../../../scenarios/tour.ts';
import { pictureOf } from '../../../sim/picture/index.ts';
import type { Picture } from '../../../sim/picture/picture.ts';
import { findBrowser, openTab, type Tab } from './browser.ts';
import { workFolder } from './nodecli.ts';

const browser = findBrowser();
if (browser === null)
  console.log('skipped: no Chromium here (CHROME_PATH may name one), so no page was opened');

const EVENTS = 20_000;
const HEIGHTS = 180;

describe.skipIf(browser === null)(`the page of a run of ${EVENTS} events`, () => {
  const folder = workFolder();
  let picture: Picture;
  let tab: Tab;

  beforeAll(async () => {
    ({ picture } = pictureOf(tour, { seed: 1, crypto: 'sim', heights: HEIGHTS }));
    writeFileSync(folder.at('run.html'), pageOf(picture));
    tab = await openTab(browser as string, { width: 1400, height: 900 });
    await tab.open(folder.at('run.html'));
  });
  afterAll(async () => {
    await tab?.close();
    folder.remove();
  });

  /** How many different colours a part of the drawing has: what is empty has one. */
  const coloursIn = (x: number, y: number, w: number, h: number): Promise<number> =>
    tab.value(`new Set(new Uint32Array(page.drawing.getContext('2d')
      .getImageData(${x}, ${y}, ${w}, ${h}).data.buffer)).size`);

  /** An arrow of this kind between neighbours, heard: its number in the picture. */
  function arrowOf(kind: string): number {
    const { arrows, messages, parcels, names } = picture;
    return arrows.from.findIndex((from, i) => {
      const said = parcels[arrows.said[i] as number] ?? [];
      const is = said.length === 1 && names.kinds[messages.kind[said[0] as number] as number] === kind;
      return is && i > arrows.from.length / 2 && arrows.to[i] === from + 1 && arrows.done[i] === 0;
    });
  }

  /** Comes close to an arrow and clicks its middle. */
  async function clickArrow(arrow: number): Promise<void> {
    const at = await tab.value(`(() => {
      page.letGo();
      page.view.set(page.model.sentAt[${arrow}] - 2e6, page.model.endAt[${arrow}] + 2e6);
      page.paint();
      const { x1, y1, x2, y2 } = page.view.lineOf(${arrow});
      const { left, top } = page.drawing.getBoundingClientRect();
      return { x: left + (x1 + x2) / 2, y: top + (y1 + y2) / 2 };
    })()`);
    await tab.click(at.x, at.y);
  }

  test('is long enough to say so, and opens without a complaint', async () => {
    expect(picture.arrows.from.length + picture.marks.node.length).toBeGreaterThan(EVENTS);
    expect(await tab.value('document.title')).toBe('tour, seed 1: holds');
    expect(await tab.value('document.body.innerText')).toContain(picture.about.digest);
    expect(tab.complaints).toEqual([]);
  });

  test('draws lanes, messages and the overview', async () => {
    expect(await tab.value('page.count.drawn')).toBeGreaterThan(1000);
    expect(await coloursIn(70, 60, 800, 400)).toBeGreaterThan(20);
    expect(
      await tab.value(`new Set(new Uint32Array(page.overview.getContext('2d')
        .getImageData(0, 0, 1400, 60).data.buffer)).size`),
    ).toBeGreaterThan(5);
    await tab.value('page.view.kinds.clear(); page.paint()');
    expect(await tab.value('page.count.drawn')).toBe(0);
    await tab.value(`page.picture.names.kinds.forEach((kind) => page.view.kinds.add(kind)); page.paint()`);
  });

  test.each(['prevote', 'precommit'])('a click on the arrow of a %s shows its message', async (kind) => {
    const arrow = arrowOf(kind);
    const { arrows, messages, parcels, nodes, blocks } = picture;
    const message = (parcels[arrows.said[arrow] as number] as number[])[0] as number;
    await clickArrow(arrow);
    const text: string = await tab.value('page.panel.innerText');
    const name = (node: number | undefined): string => nodes[node as number]?.name as string;
    expect(text.split('\n')[0]).toBe(`${name(arrows.from[arrow])} → ${name(arrows.to[arrow])}`);
    const plain = text.replace(/\s+/g, ' ');
    expect(plain).toContain(
      `type ${kind} height ${messages.height[message]} round ${messages.round[message]}`,
    );
    expect(plain).toContain(blocks[messages.block[message] as number]?.hash);
    expect(plain).toContain(`signer ${name(messages.signer[message])} size ${messages.bytes[message]} bytes`);
    expect(tab.complaints).toEqual([]);
  });

  test('a click on a lane shows what the node was at that instant', async () => {
    const at = await tab.value(`(() => {
      page.goToHeight(100);
      page.paint();
      const { left, top } = page.drawing.getBoundingClientRect();
      return { x: left + page.view.width / 2, y: top + page.view.boxTop(2) + 5 };
    })()`);
    await tab.click(at.x, at.y);
    const text = (await tab.value('page.panel.innerText')).replace(/\s+/g, ' ');
    expect(text).toMatch(/^v2 at \d+\.\d{6} s/);
    expect(text).toMatch(/mode consensus(, life 2)? height (100|101) round 0 /);
    expect(tab.complaints).toEqual([]);
  });

  test('keys go to the next height, and all the way out', async () => {
    await tab.value('page.drawing.focus()');
    const press = (key: string) => tab.ask('Input.dispatchKeyEvent', { type: 'keyDown', key, text: key });
    const before = await tab.value('page.heightNow');
    await press('h');
    expect(await tab.value('page.view.only')).toBe(before + 1);
    await press('0');
    expect(await tab.value('page.view.to')).toBeGreaterThanOrEqual(picture.about.endNs);
    expect(tab.complaints).toEqual([]);
  });
});
