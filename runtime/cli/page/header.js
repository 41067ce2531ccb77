// Who ran, how it went, and the line that reproduces it; and the switches for kinds of messages.

/** @import { Page } from './main.js' */
/** @import { WIDTH } from './look.js' */

import { byId, element } from './dom.js';
import { strokeSign } from './legend.js';
import { secondsText } from './words.js';

/** @param {Page} page */
export function fillHeader(page) {
  const { about, violations, arrows, nodes, omitted } = page.picture;
  const verdict = byId('verdict');
  verdict.textContent = about.holds ? '✓ HOLDS' : '✗ VIOLATED';
  if (!about.holds) verdict.classList.add('violated');
  const into = byId('about');
  into.append(element('h1', about.scenario), element('span', about.title));
  const facts = element('div', '', 'facts');
  const fact = (/** @type {string} */ words) => facts.append(element('span', words));
  fact(`seed ${about.seed}`);
  fact(about.crypto === 'sim' ? 'sim-crypto' : 'ed25519');
  fact(`${nodes.length} nodes, ${about.heights} heights in ${secondsText(about.endNs, 3)}`);
  const gone = omitted.reduce((sum, { what, count }) => sum + (what === 'events' ? 0 : count), 0);
  const { length } = arrows.from;
  fact(gone === 0 ? `${length} messages` : `the last ${length} of ${length + gone} messages`);
  const again = element('button', about.again, 'again');
  again.title = 'copy the line that reproduces this run';
  again.addEventListener('click', () => {
    navigator.clipboard?.writeText(about.again).then(
      () => {
        again.textContent = 'copied';
        setTimeout(() => {
          again.textContent = about.again;
        }, 900);
      },
      () => undefined,
    );
  });
  const last = element('div', '', 'facts');
  const digest = element('span', 'digest ');
  digest.append(element('code', about.digest));
  last.append(again, digest);
  into.append(facts, last);
  violations.forEach(({ oracle, what, node, atNs, height }, i) => {
    const who = node < 0 ? '' : ` at ${nodes[node]?.name}`;
    const words = `${oracle}: ${what} (height ${height}${who}, ${secondsText(atNs)})`;
    const button = element('button', words, 'broken');
    button.addEventListener('click', () => page.goToViolation(i));
    const item = element('li');
    item.append(button);
    byId('violations').append(item);
  });
  byId('wrong').hidden = violations.length === 0;
}

/** @param {Page} page */
export function fillKinds(page) {
  const { picture, model, view, theme } = page;
  const counts = new Array(picture.names.kinds.length).fill(0);
  for (const kind of model.kind) counts[kind]++;
  const buttons = picture.names.kinds.map((kind, i) => {
    const button = element('button', '', 'kind');
    const name = /** @type {keyof typeof WIDTH} */ (kind);
    button.append(strokeSign(theme, name, false, 26, 12), kind, element('span', String(counts[i]), 'count'));
    button.setAttribute('aria-pressed', String(view.kinds.has(kind)));
    button.hidden = counts[i] === 0;
    button.addEventListener('click', () => {
      if (!view.kinds.delete(kind)) view.kinds.add(kind);
      button.setAttribute('aria-pressed', String(view.kinds.has(kind)));
      page.due();
    });
    return button;
  });
  byId('kinds').replaceChildren(...buttons);
}
