// Whose gradient: the tokens, classes or numbers of the answer, to be chosen by click or by key.

import { h } from "../dom.js";
import { number, say } from "../words.js";

/**
 * @typedef {import("../app.js").App} App
 * @typedef {import("../engine.js").About} About
 * @typedef {{row: number | null, choice: number | null}} Chosen
 */

/**
 * What the address chooses of the present answer; null where the model chooses: the gap, the likeliest.
 * @param {App} app
 * @returns {Chosen}
 */
export function chosen(app) {
  const about = app.run.value?.about;
  const [, row, choice] = /^(\d*)(?::(\d+))?$/.exec(app.field("grad").value) ?? [];
  const rows = about?.output["top"]?.length ?? 0;
  const wanted = row ? Number(row) : null;
  return { row: rows && wanted !== null && wanted < rows ? wanted : usualRow(about), choice: choice ? Number(choice) : null };
}

/**
 * Of a translation the last word: what comes after it is only the end.
 * @param {About | undefined} about
 */
function usualRow(about) {
  const rows = about?.output["top"]?.length ?? 0;
  return about?.tokens.target && rows > 1 ? rows - 2 : null;
}

/**
 * @param {App} app
 * @param {About} about
 * @param {{row: number, choice: number}} now  as the server read it
 * @returns {HTMLElement[]}
 */
export function outputs(app, about, now) {
  const choose = (/** @type {number} */ row, /** @type {number | null} */ choice) => (app.field("grad").value = choice === null ? String(row) : `${row}:${choice}`);
  const { top, classes, numbers, masked = [] } = about.output;
  if (top) {
    const own = about.tokens.target ?? about.tokens.source ?? [];
    const rows = /** @type {number[]} */ (masked.length ? masked : top.map((/** @type {any} */ _, /** @type {number} */ row) => row));
    return [
      group("rows", say("explorer.gradients.row"), rows.map((row) => pill(top[row][0].piece, { row, pressed: row === now.row, title: say("explorer.gradients.after", { piece: own[row]?.piece ?? "" }), pick: () => choose(row, null) }))),
      group("choices", say("explorer.gradients.choice"), top[now.row].map((/** @type {any} */ one) => pill(one.piece, { choice: one.id, pressed: one.id === now.choice, note: number(one.p), pick: () => choose(now.row, one.id) }))),
    ];
  }
  const all = (classes ?? []).map((/** @type {any} */ one) => [one.label, number(one.p)]);
  const some = all.length ? all : (numbers ?? []).map((/** @type {number} */ one, /** @type {number} */ i) => [`+${i + 1}`, number(one, 2)]);
  return [group("choices", say(all.length ? "explorer.gradients.class" : "explorer.gradients.number"), some.map((/** @type {[string, string]} */ [name, note], /** @type {number} */ i) => pill(name, { choice: i, pressed: i === now.choice, note, pick: () => choose(0, i) })))];
}

/**
 * Buttons of which one is chosen; the arrow keys go from one to the next.
 * @param {string} name
 * @param {string} label
 * @param {HTMLElement[]} pills
 */
function group(name, label, pills) {
  const list = h("div", { class: "token-picker", role: "group", "aria-label": label, "data-outputs": name }, pills);
  list.addEventListener("keydown", (event) => {
    const by = event.key === "ArrowRight" ? 1 : event.key === "ArrowLeft" ? -1 : 0;
    const next = pills[pills.findIndex((one) => one === document.activeElement) + by];
    if (!by || !next) return;
    event.preventDefault();
    event.stopPropagation();
    next.focus();
  });
  return h("div", { class: "outputs" }, h("p", { class: "eyebrow" }, label), list);
}

/**
 * @param {string} name
 * @param {{row?: number, choice?: number, pressed: boolean, note?: string, title?: string, pick: () => void}} how
 */
const pill = (name, { row, choice, pressed, note, title, pick }) =>
  h("button", { type: "button", class: "token", "data-row": row, "data-choice": choice, "aria-pressed": String(pressed), title, onclick: pick }, name, note ? h("small", {}, ` ${note}`) : null);
