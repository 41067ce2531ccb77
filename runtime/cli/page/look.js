// Colours, strokes and shapes. Every difference is told twice, by colour and by shape or dash; the palette
// is that of Okabe and Ito, which colour-blind people can tell apart.

/** @import { MessageKind, EndName } from '../../../sim/picture/picture.ts' */

/**
 * @typedef {object} Theme
 * @property {string} ground @property {string} ink @property {string} faint @property {string} line
 * @property {string} band @property {string} bandOther @property {string} dead @property {string} cut
 * @property {string} bad @property {string} good @property {string} select @property {string} panel
 * @property {Record<MessageKind, string>} kinds
 * @property {string[]} steps by number of the step
 */

/** @type {Theme} */
const LIGHT = {
  ground: '#fbfaf7',
  ink: '#1d1f24',
  faint: '#6d7078',
  line: '#d9d6cd',
  band: '#e9edf3',
  bandOther: '#dbe2ec',
  dead: '#55585f',
  cut: '#b07a00',
  bad: '#b3261e',
  good: '#00694d',
  select: '#111318',
  panel: '#ffffff',
  kinds: {
    proposal: '#d55e00',
    part: '#e0a23c',
    prevote: '#0072b2',
    precommit: '#00876a',
    evidence: '#b0487f',
    'block sync': '#7a6a1c',
    transactions: '#8d8f96',
    gossip: '#b5b6ba',
    greeting: '#b5b6ba',
    unreadable: '#b3261e',
  },
  steps: [
    'transparent',
    '#c9ccd3',
    '#c9ccd3',
    '#d55e00',
    '#0072b2',
    '#6fb0dc',
    '#00876a',
    '#6cc4ad',
    '#3b3f48',
  ],
};

/** @type {Theme} */
const DARK = {
  ground: '#15171b',
  ink: '#e8e7e2',
  faint: '#9a9da6',
  line: '#33363d',
  band: '#232830',
  bandOther: '#2e3540',
  dead: '#a3a6ad',
  cut: '#f0b429',
  bad: '#ff7b6e',
  good: '#4fd1a8',
  select: '#ffffff',
  panel: '#1d2025',
  kinds: {
    proposal: '#ff8a4a',
    part: '#c99642',
    prevote: '#5ab6ee',
    precommit: '#2fc79d',
    evidence: '#e58bbc',
    'block sync': '#cdbb62',
    transactions: '#7f828a',
    gossip: '#595c64',
    greeting: '#595c64',
    unreadable: '#ff7b6e',
  },
  steps: [
    'transparent',
    '#444851',
    '#444851',
    '#ff8a4a',
    '#5ab6ee',
    '#2f6d94',
    '#2fc79d',
    '#1f7a62',
    '#c9ccd3',
  ],
};

/** @returns {Theme} */
export const themeNow = () => (matchMedia('(prefers-color-scheme: dark)').matches ? DARK : LIGHT);

/** Kinds that a picture begins with; the others are many, and seldom the question. */
export const SHOWN_AT_FIRST = new Set([
  'proposal',
  'part',
  'prevote',
  'precommit',
  'evidence',
  'block sync',
  'unreadable',
]);

/** Width of a stroke. @type {Record<MessageKind, number>} */
export const WIDTH = {
  proposal: 2.2,
  part: 1.1,
  prevote: 1.3,
  precommit: 1.3,
  evidence: 1.6,
  'block sync': 1.1,
  transactions: 0.8,
  gossip: 0.7,
  greeting: 0.7,
  unreadable: 1.6,
};

/** @param {EndName | undefined} end */
export const isHeard = (end) => end === 'heard' || end === 'on the way';

/**
 * The shape of a kind, around a point: diamond, circle, square, triangle.
 * @param {CanvasRenderingContext2D} c @param {string} kind @param {number} x @param {number} y
 * @param {number} r
 */
export function shape(c, kind, x, y, r) {
  c.beginPath();
  if (kind === 'proposal') {
    c.moveTo(x, y - r * 1.25);
    c.lineTo(x + r * 1.25, y);
    c.lineTo(x, y + r * 1.25);
    c.lineTo(x - r * 1.25, y);
    c.closePath();
  } else if (kind === 'prevote') c.arc(x, y, r, 0, 7);
  else if (kind === 'precommit') c.rect(x - r * 0.9, y - r * 0.9, r * 1.8, r * 1.8);
  else if (kind === 'decides') star(c, x, y, r * 1.35);
  else if (kind === 'part') c.rect(x - r * 0.5, y - r * 0.5, r, r);
  else {
    c.moveTo(x, y - r);
    c.lineTo(x + r, y + r * 0.8);
    c.lineTo(x - r, y + r * 0.8);
    c.closePath();
  }
}

/** @param {CanvasRenderingContext2D} c @param {number} x @param {number} y @param {number} r */
function star(c, x, y, r) {
  for (let i = 0; i < 10; i++) {
    const turn = (i * Math.PI) / 5 - Math.PI / 2;
    const reach = i % 2 === 0 ? r : r * 0.5;
    c.lineTo(x + reach * Math.cos(turn), y + reach * Math.sin(turn));
  }
  c.closePath();
}

/**
 * A padlock.
 * @param {CanvasRenderingContext2D} c @param {number} x @param {number} y @param {number} r
 */
export function padlock(c, x, y, r) {
  c.fillRect(x - r, y - r * 0.1, r * 2, r * 1.4);
  c.lineWidth = Math.max(1, r * 0.35);
  c.beginPath();
  c.arc(x, y - r * 0.1, r * 0.6, Math.PI, 0);
  c.stroke();
}

/**
 * Slanted lines over a box: dead time, without hiding what is below.
 * @param {CanvasRenderingContext2D} c @param {number} x @param {number} y @param {number} w @param {number} h
 * @param {number} gap @param {1 | -1} lean
 */
export function hatch(c, x, y, w, h, gap, lean) {
  c.save();
  c.beginPath();
  c.rect(x, y, w, h);
  c.clip();
  c.beginPath();
  const start = Math.floor((x - h) / gap) * gap;
  for (let at = start; at < x + w + h; at += gap) {
    c.moveTo(at, lean > 0 ? y + h : y);
    c.lineTo(at + h, lean > 0 ? y : y + h);
  }
  c.stroke();
  c.restore();
}
