// Covers what is to be predicted, wherever the page draws it: the maps of heads, and the answer while it is asked for.

import { guessing, questionOf, said } from "./state.js";

/** @typedef {import("../app.js").App} App */

/**
 * @param {import("../signal.js").Owner} owner
 * @param {App} app
 */
export function keepCovered(owner, app) {
  owner.effect((inner) => {
    const [on, about] = [guessing(app), app.run.value?.about];
    document.documentElement.toggleAttribute("data-guess", on);
    if (on && about) rules(inner, uncovered(app, about));
  });
}

/**
 * Covers the answer, and of a translation all tokens after a row, for as long as the owner lives.
 * @param {import("../signal.js").Owner} owner
 * @param {App} app
 * @param {number} row
 */
export function coverAnswer(owner, app, row) {
  const tokens = app.run.peek()?.about.tokens.target ?? [];
  const later = tokens.map((_, at) => `[data-token="target:${at}"]`).slice(row + 1);
  const texts = [...later, "#answer > *", ".chip.said"];
  rules(owner, [`:is(${texts.join(", ")}), :is(${texts.join(", ")}) * { color: transparent !important; fill: transparent !important; }`]);
}

/**
 * Rules of style that end with their owner.
 * @param {import("../signal.js").Owner} owner
 * @param {string[]} written
 */
function rules(owner, written) {
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(written.join("\n"));
  document.adoptedStyleSheets = [...document.adoptedStyleSheets, sheet];
  owner.own(() => (document.adoptedStyleSheets = document.adoptedStyleSheets.filter((one) => one !== sheet)));
}

/**
 * A rule for each head that has been answered: its maps are seen again.
 * @param {App} app
 * @param {import("../engine.js").About} about
 */
function uncovered(app, about) {
  return allHeads(about)
    .filter(({ name, head }) => said(questionOf(app, name, head)))
    .flatMap(({ name, head }) =>
      [name, name.replace(/weights$/, "scores")].map((one) => {
        const map = `canvas[data-map="${one}"][data-head="${head}"]`;
        return `:root[data-guess] .head-cell ${map}, :root[data-guess] .map:has(${map}) { visibility: visible; }`;
      }),
    );
}

/**
 * The attentions of a run, head by head, in the order of the pass.
 * @param {import("../engine.js").About} about
 * @returns {{name: string, head: number}[]}
 */
export function allHeads(about) {
  const heads = Number(about.sizes["n_heads"] ?? 1);
  const names = [...new Set(about.steps.map(({ name }) => name).filter((name) => name.endsWith(".weights")))];
  return names.flatMap((name) => Array.from({ length: heads }, (_, head) => ({ name, head })));
}
