// The text beside the drawing: what the selected message says, or what a node was at an instant.

/** @import { Model } from './model.js' */

import { element } from './dom.js';
import { arrowsWithin, at_, lowerBound, stateAt } from './model.js';
import { blockText, fateOf, markText, messageText, secondsText, stepName } from './words.js';

const EVENTS_SHOWN = 14;
const SAME_SHOWN = 12;

/** @param {HTMLElement} into @param {readonly (readonly [string, string])[]} rows */
function table(into, rows) {
  const list = element('dl');
  for (const [name, value] of rows) {
    if (value === '') continue;
    list.append(element('dt', name), element('dd', value));
  }
  into.append(list);
}

/**
 * @param {HTMLElement} into @param {Model} model @param {number} arrow
 * @param {readonly number[]} same all that say it
 * @param {(arrow: number) => void} go
 */
export function showArrow(into, model, arrow, same, go) {
  const { picture, sentAt, endAt } = model;
  const { arrows, nodes, parcels, names } = picture;
  const name = (/** @type {number} */ node) => nodes[node]?.name ?? '?';
  const sent = /** @type {number} */ (sentAt[arrow]);
  const ended = /** @type {number} */ (endAt[arrow]);
  into.replaceChildren(element('h2', `${name(at_(arrows.from, arrow))} → ${name(at_(arrows.to, arrow))}`));
  const isHeard = names.ends[at_(arrows.end, arrow)] === 'heard';
  for (const words of fateOf(model, arrow))
    into.append(element('p', words, isHeard && words.startsWith('heard') ? 'fate' : 'fate odd'));
  table(into, [
    ['sent', secondsText(sent)],
    [isHeard ? 'arrived' : 'ended', ended > sent ? secondsText(ended) : ''],
  ]);
  const said = parcels[at_(arrows.said, arrow)] ?? [];
  const became = at_(arrows.became, arrow);
  if (became >= 0) into.append(element('h3', 'What arrives'));
  for (const message of became >= 0 ? (parcels[became] ?? []) : said) showMessage(into, model, message);
  if (became >= 0) {
    into.append(element('h3', 'What the node had said'));
    for (const message of said) showMessage(into, model, message);
  }
  if (same.length < 2) return;
  const main = /** @type {number} */ (model.main[arrow]);
  into.append(element('h3', `${messageText(picture, main)}: on its way ${same.length} times`));
  const list = element('ul');
  for (const other of same.slice(0, SAME_SHOWN)) {
    const when = secondsText(/** @type {number} */ (sentAt[other]));
    const ends = `${name(at_(arrows.from, other))} → ${name(at_(arrows.to, other))}`;
    const words = `${when}  ${ends}  ${names.ends[at_(arrows.end, other)]}`;
    const button = element('button', words, other === arrow ? 'same here' : 'same');
    button.addEventListener('click', () => go(other));
    const item = element('li');
    item.append(button);
    list.append(item);
  }
  into.append(list);
}

/** @param {HTMLElement} into @param {Model} model @param {number} message */
function showMessage(into, { picture }, message) {
  const { messages, names, nodes, blocks, texts } = picture;
  const box = element('section', '', 'message');
  const kind = names.kinds[at_(messages.kind, message)] ?? '';
  box.append(element('h4', texts[at_(messages.text, message)]));
  const height = at_(messages.height, message);
  const round = at_(messages.round, message);
  const block = at_(messages.block, message);
  const signer = at_(messages.signer, message);
  table(box, [
    ['type', kind],
    ['height', height < 0 ? '' : String(height)],
    ['round', round < 0 ? '' : String(round)],
    ['block', block < 0 ? '' : blockText(picture, block)],
    ['block id', block > 0 ? (blocks[block]?.hash ?? '') : ''],
    [kind === 'proposal' ? 'proposer' : 'signer', signer < 0 ? '' : (nodes[signer]?.name ?? '')],
    ['size', `${at_(messages.bytes, message)} bytes`],
  ]);
  into.append(box);
}

/** @param {HTMLElement} into @param {Model} model @param {number} node @param {number} atNs */
export function showLane(into, model, node, atNs) {
  const { picture, lanes, markAt } = model;
  const { nodes, troubles } = picture;
  const state = stateAt(model, node, atNs);
  const { name, role, power, lies } = /** @type {typeof nodes[0]} */ (nodes[node]);
  into.replaceChildren(element('h2', `${name} at ${secondsText(atNs)}`));
  const isFrozen = lanes[node]?.pauses.some(({ from, to }) => from <= atNs && atNs < to);
  table(into, [
    ['is', `${role}${role === 'validator' ? ` of power ${power}` : ''}${lies ? ', a liar' : ''}`],
    ['mode', `${state.mode}${isFrozen ? ', frozen' : ''}${state.lives > 1 ? `, life ${state.lives}` : ''}`],
    ['height', String(state.height)],
    ['round', String(state.round)],
    ['step', stepName(state.step)],
    ['locked on', state.lock < 0 ? 'nothing' : blockText(picture, state.lock)],
    ['valid value', state.value < 0 ? 'none' : blockText(picture, state.value)],
    ['decided up to', String(state.decided)],
    ['line', lanes[node]?.cuts.find(({ from, to }) => from <= atNs && atNs < to)?.text ?? ''],
  ]);
  showVotes(into, model, node, atNs, state);
  const now = troubles.filter(
    ({ fromNs, toNs, nodes: about }) =>
      fromNs <= atNs && atNs < toNs && (about.length === 0 || about.includes(node)),
  );
  if (now.length > 0) into.append(element('h3', 'Trouble that it is in'));
  for (const { text } of now) into.append(element('p', text));
  into.append(element('h3', 'What it did last'));
  const marks = lanes[node]?.marks ?? [];
  const last = lowerBound(
    marks.map((mark) => /** @type {number} */ (markAt[mark])),
    atNs + 1,
  );
  const list = element('ol');
  for (const mark of marks.slice(Math.max(0, last - EVENTS_SHOWN), last).reverse()) {
    const item = element('li', '', 'event');
    item.append(
      element('time', secondsText(/** @type {number} */ (markAt[mark])), 'when'),
      element('span', markText(picture, mark)),
    );
    list.append(item);
  }
  into.append(list);
}

/**
 * The votes of its height and round that it had by then: its own, and those that it heard, in this life or
 * before.
 * @param {HTMLElement} into @param {Model} model @param {number} node @param {number} atNs
 * @param {import('./model.js').State} state
 */
function showVotes(into, model, node, atNs, state) {
  if (state.height === 0) return;
  const { picture } = model;
  for (const kind of ['prevote', 'precommit']) {
    const votes = votesHeard(model, node, atNs, state, kind);
    const said = [...votes]
      .sort(([a], [b]) => a - b)
      .map(([block, who]) => {
        const names = [...who].sort((a, b) => a - b).map((each) => picture.nodes[each]?.name);
        return /** @type {const} */ ([blockText(picture, block), names.join(' ')]);
      });
    into.append(
      element(
        'h3',
        `${kind === 'prevote' ? 'Prevotes' : 'Precommits'} of ${state.height}/${state.round} that it has`,
      ),
    );
    if (said.length === 0) into.append(element('p', 'none', 'faint'));
    table(into, said);
  }
}

/**
 * @param {Model} model @param {number} node @param {number} atNs @param {import('./model.js').State} state
 * @param {string} kind @returns {Map<number, Set<number>>} who voted, by block
 */
function votesHeard(model, node, atNs, { height, round }, kind) {
  const { picture, lanes, markAt, endAt } = model;
  const { arrows, messages, marks, names, parcels } = picture;
  /** @type {Map<number, Set<number>>} */
  const votes = new Map();
  const add = (/** @type {number} */ block, /** @type {number} */ who) => {
    votes.set(block, (votes.get(block) ?? new Set()).add(who));
  };
  const own = kind === 'prevote' ? 'prevotes' : 'precommits';
  for (const mark of lanes[node]?.marks ?? []) {
    if (/** @type {number} */ (markAt[mark]) > atNs) break;
    if (names.marks[at_(marks.what, mark)] !== own) continue;
    if (at_(marks.height, mark) === height && at_(marks.round, mark) === round)
      add(at_(marks.block, mark), node);
  }
  arrowsWithin(model, 0, atNs, (arrow) => {
    if (at_(arrows.to, arrow) !== node || /** @type {number} */ (endAt[arrow]) > atNs) return;
    if (names.ends[at_(arrows.end, arrow)] !== 'heard') return;
    const became = at_(arrows.became, arrow);
    for (const message of parcels[became < 0 ? at_(arrows.said, arrow) : became] ?? []) {
      if (names.kinds[at_(messages.kind, message)] !== kind) continue;
      if (at_(messages.height, message) !== height || at_(messages.round, message) !== round) continue;
      add(at_(messages.block, message), at_(messages.signer, message));
    }
  });
  return votes;
}

/** @param {Model} model @param {number} arrow */
export function tipOf({ picture }, arrow) {
  const { arrows, parcels, nodes } = picture;
  const said = parcels[at_(arrows.said, arrow)] ?? [];
  const more = said.length > 3 ? ` and ${said.length - 3} more` : '';
  const what = said
    .slice(0, 3)
    .map((message) => messageText(picture, message))
    .join(' + ');
  return `${nodes[at_(arrows.from, arrow)]?.name} → ${nodes[at_(arrows.to, arrow)]?.name}: ${what}${more}`;
}
