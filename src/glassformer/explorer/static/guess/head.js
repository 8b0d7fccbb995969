// Which token will this head look at most? Only those that it may look at can be chosen.

import { placeOf } from "../place.js";
import { sideOf, tokensOf } from "../plan.js";
import { matrix } from "../safetensors.js";
import { say } from "../words.js";
import { allHeads } from "./cover.js";
import { guessPanel } from "./panel.js";
import { guessing, questionOf, said } from "./state.js";

/**
 * @typedef {import("../app.js").App} App
 * @typedef {import("../engine.js").About} About
 * @typedef {import("../signal.js").Owner} Owner
 */

/**
 * The question about a head while the page asks first; `open`: it has not been answered, and the map stays covered.
 * @param {Owner} owner
 * @param {App} app
 * @param {About} about
 * @param {string} name  of the weights
 * @param {number} head
 * @returns {{panel: HTMLElement | null, open: boolean}}
 */
export function headGuess(owner, app, about, name, head) {
  const tensor = app.tensor(name);
  if (!guessing(app) || !tensor) return { panel: null, open: false };
  const question = questionOf(app, name, head);
  const guess = said(question);
  const side = sideOf(about, name);
  const weights = matrix(tensor, head);
  const row = Math.min(guess?.row ?? app.rows.value[side], weights.rows - 1);
  const across = sideOf(about, name, "columns");
  const tokens = tokensOf(about, across);
  const options = allowed(app, name, head, row, weights.columns).map((column) => ({
    label: tokens[column]?.piece ?? String(column),
    share: Number(weights.data[row * weights.columns + column]),
    token: `${across}:${column}`,
  }));
  const from = tokensOf(about, side)[row]?.piece ?? String(row);
  const values = { head: head + 1, layer: (placeOf(name).layer ?? 0) + 1, from };
  const panel = guessPanel(owner, {
    question,
    row,
    title: say("explorer.guess.asks", values),
    hint: say("explorer.guess.covered"),
    options,
    single: say("explorer.guess.one_only", values),
    next: guess || options.length < 2 ? next(app, about, name, head, row) : null,
  });
  return { panel, open: !guess };
}

/**
 * The columns that a row may look at.
 * @param {App} app
 * @param {string} name
 * @param {number} head
 * @param {number} row
 * @param {number} columns
 */
function allowed(app, name, head, row, columns) {
  const masks = app.run.value?.tensors.get(`${name}.mask`);
  const mask = masks ? matrix(masks, head) : null;
  return Array.from({ length: columns }, (_, column) => column).filter((column) => !mask || mask.data[row * columns + column]);
}

/**
 * On to the next head that has not been answered, and to another of its rows, where there is something to choose.
 * @param {App} app
 * @param {About} about
 * @param {string} name
 * @param {number} head
 * @param {number} row
 */
function next(app, about, name, head, row) {
  const all = allHeads(about);
  const here = all.findIndex((one) => one.name === name && one.head === head);
  const following = [...all.slice(here + 1), ...all.slice(0, here + 1)].find((one) => !said(questionOf(app, one.name, one.head)));
  if (!following) return null;
  const side = sideOf(about, following.name);
  const rows = tokensOf(about, side).length;
  const columns = tokensOf(about, sideOf(about, following.name, "columns")).length;
  const order = Array.from({ length: rows }, (_, i) => (row + 1 + i) % rows);
  const chosen = order.find((one) => allowed(app, following.name, following.head, one, columns).length > 1) ?? 0;
  return () => {
    app.follow(side, chosen);
    app.go({ ...placeOf(following.name), head: following.head });
  };
}
