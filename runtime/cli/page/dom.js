// Elements of the page. Words are put in as text, never as markup: names and transactions may hold anything.

/** @param {string} id @returns {any} */
export const byId = (id) => document.getElementById(id);

/** @param {string} tag @param {string} [words] @param {string} [className] @returns {HTMLElement} */
export function element(tag, words = '', className = '') {
  const made = document.createElement(tag);
  if (words) made.textContent = words;
  if (className) made.className = className;
  return made;
}
