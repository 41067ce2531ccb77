// What the signs of the drawing mean, drawn with the same strokes; shown while nothing is selected.

/** @import { Picture } from '../../../sim/picture/picture.ts' */
/** @import { Theme } from './look.js' */

import { element } from './dom.js';
import { hatch, padlock, shape, WIDTH } from './look.js';
import { secondsText } from './words.js';

const RATIO = 2;
const OMITTED = {
  messages: 'messages',
  chatter: 'transactions and other chatter',
  events: 'events on lanes',
};

/** @param {number} width @param {number} height @param {(c: CanvasRenderingContext2D) => void} paint */
function sign(width, height, paint) {
  const canvas = /** @type {HTMLCanvasElement} */ (element('canvas', '', 'sign'));
  canvas.width = width * RATIO;
  canvas.height = height * RATIO;
  canvas.style.width = `${width}px`;
  canvas.style.height = `${height}px`;
  const c = canvas.getContext('2d');
  if (c) {
    c.scale(RATIO, RATIO);
    paint(c);
  }
  return canvas;
}

/**
 * The stroke of a kind, with its shape.
 * @param {Theme} theme @param {keyof typeof WIDTH} kind @param {boolean} nil @param {number} width
 * @param {number} height
 */
export function strokeSign(theme, kind, nil, width, height) {
  return sign(width, height, (c) => {
    c.strokeStyle = theme.kinds[kind];
    c.lineWidth = WIDTH[kind] + 0.4;
    c.setLineDash(nil ? [5, 4] : kind === 'block sync' ? [9, 3] : []);
    c.beginPath();
    c.moveTo(1, height / 2);
    c.lineTo(width - 1, height / 2);
    c.stroke();
    c.setLineDash([]);
    if (!['proposal', 'prevote', 'precommit', 'evidence'].includes(kind)) return;
    shape(c, kind, width / 2, height / 2, 4);
    c.fillStyle = nil ? theme.panel : theme.kinds[kind];
    c.fill();
    c.lineWidth = 1.5;
    if (nil) c.stroke();
  });
}

/** @param {Theme} theme @param {(c: CanvasRenderingContext2D) => void} paint */
const small = (theme, paint) =>
  sign(46, 20, (c) => {
    c.strokeStyle = theme.ink;
    c.fillStyle = theme.ink;
    paint(c);
  });

/** @param {Theme} theme @param {string} words */
const word = (theme, words, colour = theme.ink) =>
  small(theme, (c) => {
    c.fillStyle = colour;
    c.font = '700 12px ui-sans-serif, system-ui, sans-serif';
    c.textAlign = 'center';
    c.fillText(words, 23, 14);
  });

/** @param {HTMLElement} into @param {Picture} picture @param {Theme} theme */
export function showLegend(into, picture, theme) {
  into.replaceChildren(element('h2', 'How to read it'));
  into.append(
    element(
      'p',
      'A lane per node, virtual time from left to right. An arrow leaves when a message was sent and ends ' +
        'when it arrived. Click an arrow for the message, a lane for what the node was at that instant, a ' +
        'name for its messages only.',
    ),
  );
  for (const { what, count, untilNs } of picture.omitted) {
    const gone = `the first ${count} ${OMITTED[what]} are left out, up to ${secondsText(untilNs, 3)}`;
    into.append(element('p', `Longer than a picture holds: ${gone}.`, 'odd'));
  }
  const list = element('div', '', 'legend');
  const row = (/** @type {HTMLElement} */ drawn, /** @type {string} */ words) =>
    list.append(drawn, element('span', words));
  row(strokeSign(theme, 'proposal', false, 46, 20), 'proposal; on a lane: it proposes');
  row(strokeSign(theme, 'prevote', false, 46, 20), 'prevote for a block');
  row(strokeSign(theme, 'precommit', false, 46, 20), 'precommit for a block');
  row(strokeSign(theme, 'prevote', true, 46, 20), 'hollow and dashed: for nil');
  row(
    small(theme, (c) => {
      shape(c, 'decides', 23, 10, 6);
      c.fill();
    }),
    'commits the height',
  );
  row(
    small(theme, (c) => {
      c.fillRect(8, 13, 32, 2.5);
      padlock(c, 13, 8, 3.6);
    }),
    'locked, until it decides; the letter tells the blocks of a height apart',
  );
  row(word(theme, 'V'), 'sees a polka: the valid value');
  row(
    small(theme, (c) => {
      [3, 4, 5, 6, 8].forEach((step, i) => {
        c.fillStyle = theme.steps[step] ?? '';
        c.fillRect(2 + i * 7, 7, 7, 6);
      });
    }),
    'steps: propose, prevote (wait), precommit, commit',
  );
  row(
    small(theme, (c) => {
      c.strokeStyle = theme.dead;
      hatch(c, 2, 3, 42, 14, 7, 1);
    }),
    'down; slanted the other way: frozen',
  );
  row(
    small(theme, (c) => {
      c.strokeStyle = theme.cut;
      hatch(c, 2, 7, 42, 6, 7, 1);
    }),
    'cut off: from whom stands below',
  );
  row(
    word(theme, '×  =  ø', theme.bad),
    'arrow ends there: lost by chance, line cut, dropped by a rule or kept back by a liar',
  );
  row(word(theme, '!  ≠', theme.bad), 'changed on the line; a lie');
  row(word(theme, '» ≡ ↔ 2', theme.cut), 'late by a rule; clogged; reordered; a second copy');
  into.append(list, element('h3', 'What went wrong in this run'));
  const faults = Object.entries(picture.about.faults).map(([name, times]) => `${name} ${times}`);
  into.append(element('p', faults.join(', ') || 'nothing'), element('h3', 'Keys'));
  for (const [keys, what] of KEYS) {
    const line = element('p');
    for (const key of keys.split(' ')) line.append(element('kbd', key), ' ');
    line.append(what);
    into.append(line);
  }
}

const KEYS = /** @type {const} */ ([
  ['← → ↑ ↓', 'move (wheel with Shift, or drag)'],
  ['+ - 0', 'closer, wider, all of it (wheel)'],
  [', .', 'the message before, the next'],
  ['H Shift+H', 'next height, the one before'],
  ['V', 'the violation'],
  ['/ Esc', 'find; let go of what is selected'],
]);
