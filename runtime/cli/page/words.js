// The words of the page: times, blocks, messages, marks, and what became of an arrow.

/** @import { Picture } from '../../../sim/picture/picture.ts' */
/** @import { Model } from './model.js' */

import { at_ } from './model.js';

const STEPS = [
  '',
  'new height',
  'new round',
  'propose',
  'prevote',
  'prevote wait',
  'precommit',
  'precommit wait',
  'commit',
];
const HASH_SHOWN = 8;
const LETTERS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ';

/** @param {number} step */
export const stepName = (step) => STEPS[step] ?? String(step);

/** Seconds with as many places as matter. @param {number} ns @param {number} [places] */
export function secondsText(ns, places = 6) {
  return `${(ns / 1e9).toFixed(places)} s`;
}

/** How long something took. @param {number} ns */
export function spanText(ns) {
  if (ns < 1e6) return `${(ns / 1e3).toFixed(1)} µs`;
  if (ns < 1e9) return `${(ns / 1e6).toFixed(2)} ms`;
  return `${(ns / 1e9).toFixed(3)} s`;
}

/**
 * The letter of a block among those of its height, in the order in which they appeared.
 * @param {Picture} picture @param {number} block
 */
export function letterOf(picture, block) {
  if (block === 0) return 'nil';
  const { height } = /** @type {Picture['blocks'][0]} */ (picture.blocks[block]);
  let place = 0;
  for (let i = block - 1; i > 0; i--) if (picture.blocks[i]?.height === height) place++;
  return LETTERS[place] ?? '?';
}

/** @param {Picture} picture @param {number} block */
export function blockText(picture, block) {
  if (block < 0) return '';
  if (block === 0) return 'nil';
  return `${letterOf(picture, block)} ${picture.blocks[block]?.hash.slice(0, HASH_SHOWN)}`;
}

/** @param {Picture} picture @param {number} message */
export function messageText(picture, message) {
  const { messages, texts } = picture;
  const height = at_(messages.height, message);
  const round = at_(messages.round, message);
  const block = at_(messages.block, message);
  const signer = at_(messages.signer, message);
  const where = height < 0 ? '' : ` ${height}${round < 0 ? '' : `/${round}`}`;
  const what = block > 0 ? ` · ${blockText(picture, block)}` : '';
  const who = signer < 0 ? '' : ` · of ${picture.nodes[signer]?.name}`;
  return `${texts[at_(messages.text, message)]}${where}${what}${who}`;
}

/**
 * What became of an arrow, and what was done to it, in words.
 * @param {Model} model @param {number} arrow @returns {string[]}
 */
export function fateOf({ picture, sentAt, endAt }, arrow) {
  const { arrows, names, nodes } = picture;
  const end = names.ends[at_(arrows.end, arrow)];
  const done = at_(arrows.done, arrow);
  const to = nodes[at_(arrows.to, arrow)]?.name;
  const took = spanText(/** @type {number} */ (endAt[arrow]) - /** @type {number} */ (sentAt[arrow]));
  const said = [];
  if (end === 'heard') said.push(`heard after ${took}`);
  else if (end === 'lost') said.push('lost on the line, by chance');
  else if (end === 'cut at once') said.push('lost: the line was cut when it was sent');
  else if (end === 'cut on the way') said.push(`lost: the line was cut when it was to arrive, after ${took}`);
  else if (end === 'ruled out') said.push('dropped by a message rule of the play');
  else if (end === 'kept back')
    said.push(`a lie: ${nodes[at_(arrows.from, arrow)]?.name} kept back what its own node said`);
  else if (end === 'nobody there')
    said.push(`came after ${took}, and nobody was there: ${to} had died or hung up`);
  else said.push('still on its way when the run ended');
  if (done & names.done.lied) said.push('a lie: something else than its own node said');
  if (done & names.done.trimmed) said.push('a message rule took a part of it out');
  if (done & names.done.late) said.push('held back by a message rule of the play');
  if (done & names.done.corrupted) said.push('changed on the line: not what was sent');
  if (done & names.done.reordered) said.push('held up, so that others pass it');
  if (done & names.done.copied) said.push('a second copy');
  if (done & names.done.clogged) said.push('waited for a clogged line');
  return said;
}

/** @param {Picture} picture @param {number} mark */
export function markText(picture, mark) {
  const { marks, names, texts } = picture;
  const height = at_(marks.height, mark);
  const round = at_(marks.round, mark);
  const more = at_(marks.more, mark);
  const where = `${height}/${round}`;
  const block = blockText(picture, at_(marks.block, mark));
  const what = names.marks[at_(marks.what, mark)];
  switch (what) {
    case 'starts':
      return more > 1 ? `starts again (life ${more})` : 'starts';
    case 'crashes':
      return 'dies';
    case 'mode':
      return texts[more] === 'sync'
        ? 'asks its peers for blocks'
        : texts[more] === 'consensus'
          ? 'takes part in consensus'
          : `is in ${texts[more]}`;
    case 'enters':
      return `${where} ${stepName(more)}`;
    case 'values':
      return `${where} sees a polka: valid value ${block}`;
    case 'punishes':
      return `stores a block with evidence against ${texts[more]}`;
    case 'drops':
      return `ends its connection to ${texts[more]}`;
    case 'warns':
    case 'halts':
      return `${what}: ${texts[more]}`;
    case 'accuses':
      return `has evidence against ${texts[more]} of height ${height}`;
    default:
      return `${what} ${block} at ${where}`;
  }
}
