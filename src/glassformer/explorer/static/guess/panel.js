// A question with its options, and once one was chosen the answer, the shares of both, and the tally beside chance.

import { h, put } from "../dom.js";
import { number, say } from "../words.js";
import { forget, guessing, said, tally, tell } from "./state.js";

/**
 * @typedef {import("../app.js").App} App
 * @typedef {import("../signal.js").Owner} Owner
 * @typedef {{label: string, share: number, token?: string}} Option
 * @typedef {{question: string, row: number, title: string, hint: string, options: Option[], single: string, next: (() => void) | null}} Asked
 *   `single`: what is said where there is only one option; `next`: leads to the next question, if there is one
 */

/**
 * The switch that makes the page ask first.
 * @param {Owner} owner
 * @param {App} app
 */
export function guessSwitch(owner, app) {
  const button = h("button", { type: "button", class: "pill guess-switch", onclick: () => (app.field("guess").value = guessing(app) ? "" : "1") });
  owner.effect(() => {
    button.textContent = say("explorer.guess.switch");
    button.setAttribute("aria-pressed", String(guessing(app)));
  });
  return button;
}

/**
 * @param {Owner} owner
 * @param {Asked} asked
 * @returns {HTMLElement}
 */
export function guessPanel(owner, asked) {
  const { title, options } = asked;
  const guess = said(asked.question);
  const panel = h("section", { class: "guess", "aria-live": "polite", "data-guess-state": guess ? "said" : "open" }, h("h4", {}, title));
  if (guess) put(panel, ...verdict(asked, guess));
  else if (options.length < 2) put(panel, h("p", { class: "quiet" }, asked.single));
  else put(panel, h("p", { class: "quiet" }, asked.hint), choices(owner, asked));
  put(panel, score(asked));
  return panel;
}

/**
 * @param {Owner} owner
 * @param {Asked} asked
 */
function choices(owner, { question, row, title, options }) {
  const best = options.reduce((most, option, at) => (option.share > /** @type {Option} */ (options[most]).share ? at : most), 0);
  const choose = (/** @type {number} */ picked) =>
    tell({ question, row, picked, best, options: options.length, right: /** @type {Option} */ (options[picked]).share === /** @type {Option} */ (options[best]).share });
  owner.listen(window, "keydown", (/** @type {KeyboardEvent} */ event) => {
    const typing = event.target instanceof Element && event.target.closest("input, textarea, select, dialog");
    const at = Number(event.key) - 1;
    if (typing || event.altKey || event.ctrlKey || event.metaKey || !/^[1-9]$/.test(event.key) || at >= options.length) return;
    event.preventDefault();
    choose(at);
  });
  return h(
    "div",
    { class: "guess-options", role: "group", "aria-label": title },
    options.map(({ label, token }, at) =>
      h("button", { type: "button", class: "token guess-option", "data-option": at, "data-token": token ?? null, onclick: () => choose(at) }, at < 9 && h("small", { "aria-hidden": "true" }, at + 1), h("span", {}, label)),
    ),
  );
}

/**
 * @param {Asked} asked
 * @param {import("./state.js").Guess} guess
 */
function verdict({ options }, guess) {
  const [picked, best] = [options[guess.picked], options[guess.best]];
  if (!picked || !best) return [];
  const values = { picked: picked.label, picked_share: number(picked.share), best: best.label, best_share: number(best.share) };
  return [
    h(
      "p",
      { class: `guess-verdict ${guess.right ? "right" : "wrong"}`, "data-right": String(guess.right) },
      h("b", {}, say(guess.right ? "explorer.guess.right" : "explorer.guess.wrong")),
      ` ${say(guess.right ? "explorer.guess.both_right" : "explorer.guess.both", values)}`,
    ),
    h("div", { class: "guess-bars", "aria-hidden": "true" }, (guess.right ? [picked] : [picked, best]).map((one) => bar(one, one === best))),
  ];
}

/**
 * @param {Option} option
 * @param {boolean} best
 */
const bar = ({ label, share }, best) =>
  h("div", { class: `bar-row${best ? " right" : ""}`, "data-share": share }, h("span", { class: "piece" }, label), h("span", { class: "bar-line", style: { "--part": share } }), h("span", { class: "term-value" }, number(share)));

/** @param {Asked} asked */
function score({ question, options, next }) {
  const { asked, right, chance } = tally();
  const percent = (/** @type {number} */ part) => `${Math.round((100 * part) / Math.max(1, asked))} %`;
  return h(
    "div",
    { class: "guess-score" },
    asked > 0 && h("span", { class: "guess-tally", "data-asked": asked, "data-tally": right, "data-chance": chance / asked }, h("b", {}, say("explorer.guess.tally", { right, asked })), h("span", { class: "quiet" }, say("explorer.guess.tally_chance", { share: percent(right), chance: percent(chance) }))),
    options.length > 1 && !said(question) && h("span", { class: "quiet guess-chance" }, say("explorer.guess.chance", { options: options.length })),
    h("span", { class: "space" }),
    asked > 0 && h("button", { type: "button", class: "pill guess-forget", onclick: forget }, say("explorer.guess.forget")),
    next && h("button", { type: "button", class: "pill guess-next", onclick: next }, say("explorer.guess.next")),
  );
}
