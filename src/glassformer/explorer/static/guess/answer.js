// Which token comes next, or which class? The likeliest are offered in the order of the alphabet, so that it tells nothing.

import { sideOf, tokensOf } from "../plan.js";
import { say } from "../words.js";
import { coverAnswer } from "./cover.js";
import { guessPanel } from "./panel.js";
import { guessing, questionOf, said } from "./state.js";

/**
 * @typedef {import("../app.js").App} App
 * @typedef {import("../engine.js").About} About
 * @typedef {import("../signal.js").Owner} Owner
 */

/**
 * @param {Owner} owner
 * @param {App} app
 * @param {About} about
 * @returns {{panel: HTMLElement | null, open: boolean}}
 */
export function answerGuess(owner, app, about) {
  const { top, classes } = about.output;
  if (!guessing(app) || (!Array.isArray(top) && !Array.isArray(classes))) return { panel: null, open: false };
  const side = about.tokens.target?.length ? "target" : "source";
  const row = Array.isArray(top) ? Math.min(app.rows.value[side], top.length - 1) : 0;
  const question = questionOf(app, "answer", row);
  const guess = said(question);
  const options = Array.isArray(top)
    ? top[row].map((/** @type {any} */ one) => ({ label: one.piece, share: one.p })).sort((/** @type {any} */ a, /** @type {any} */ b) => (a.label < b.label ? -1 : 1))
    : classes.map((/** @type {any} */ one) => ({ label: one.label ?? one.piece, share: one.p }));
  const from = tokensOf(about, sideOf(about, "head.logits"))[row]?.piece ?? "";
  const asks = !Array.isArray(top) ? "asks_class" : about.task === "masked_language_model" ? "asks_gap" : "asks_next";
  if (!guess) coverAnswer(owner, app, row);
  const panel = guessPanel(owner, {
    question,
    row,
    title: say(`explorer.guess.${asks}`, { from }),
    hint: say("explorer.guess.covered_answer"),
    options,
    single: "",
    next: guess && Array.isArray(top) && row + 1 < top.length ? () => app.follow(side, row + 1) : null,
  });
  return { panel, open: !guess };
}
