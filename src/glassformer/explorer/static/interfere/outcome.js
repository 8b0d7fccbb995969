// The answer before and after, side by side, with how far each row of it has moved.

import { ask } from "../engine.js";
import { h, put } from "../dom.js";
import { number, say } from "../words.js";
import { movedRows } from "./moved.js";

/**
 * @typedef {import("../signal.js").Owner} Owner
 * @typedef {import("../app.js").App} App
 * @typedef {import("../engine.js").Run} Run
 * @typedef {{piece: string, p: number}} Said
 */

/**
 * @param {Owner} owner
 * @param {App} app
 * @param {Run} before
 * @param {Run} after
 * @returns {HTMLElement}
 */
export function outcome(owner, app, before, after) {
  const moved = movedRows(before, after);
  const mean = moved?.length ? moved.reduce((sum, one) => sum + one, 0) / moved.length : null;
  const total = h("p", { class: "moved-total" }, h("b", { id: "moved", "data-moved": mean ?? "" }, mean === null ? "–" : number(mean)), h("span", { class: "quiet" }, say("explorer.interfere.moved")));
  return h("div", { class: "outcome" }, total, after.about.task === "translation" && sentences(owner, app, before, after), rowsOf(before, after, moved));
}

/**
 * The translation before, and the one that the model writes now.
 * @param {Owner} owner
 * @param {App} app
 * @param {Run} before
 * @param {Run} after
 */
function sentences(owner, app, before, after) {
  const was = String(before.about.input["target"] ?? "");
  const now = h("p", { class: "after-text", id: "after-text", "aria-live": "polite" }, after.question.edits?.length ? "…" : was);
  const { target: _, ...input } = after.question.input;
  const stop = new AbortController();
  owner.own(() => stop.abort());
  if (after.question.edits?.length) {
    const { model, checkpoint, edits } = after.question;
    ask("/api/rewritten", { method: "POST", body: { model, ...(checkpoint ? { checkpoint } : {}), input, edits }, signal: stop.signal, lang: app.lang.peek() })
      .then((answer) => answer.json())
      .then(({ text }) => (now.textContent = text || "∅"))
      .catch((error) => stop.signal.aborted || (now.textContent = error.message));
  }
  return h("div", { class: "before-after" }, h("section", {}, h("p", { class: "eyebrow" }, say("explorer.interfere.before")), h("p", { class: "before-text", id: "before-text" }, was)), h("section", {}, h("p", { class: "eyebrow" }, say("explorer.interfere.after")), now));
}

/**
 * @param {Run} before
 * @param {Run} after
 * @param {number[] | null} moved
 */
function rowsOf(before, after, moved) {
  const [one, other] = [before.about.output, after.about.output];
  if (one["classes"]) return table(one["classes"].map((/** @type {any} */ was, /** @type {number} */ i) => ({ name: was.label, was: { piece: "", p: was.p }, now: { piece: "", p: other["classes"][i].p }, moved: null })));
  if (one["numbers"]) return table(one["numbers"].map((/** @type {number} */ was, /** @type {number} */ i) => ({ name: `+${i + 1}`, was: { piece: number(was, 2), p: NaN }, now: { piece: number(other["numbers"][i], 2), p: NaN }, moved: moved?.[i] ?? null })));
  if (one["objects"]) return table(one["objects"].map((/** @type {any} */ was, /** @type {number} */ i) => ({ name: `q${i}`, was: found(was), now: found(other["objects"][i]), moved: moved?.[i] ?? null })));
  if (!one["top"]) return null;
  const { target, source = [] } = after.about.tokens;
  const [side, rows] = target ? ["target", target] : ["source", source];
  return table(one["top"].map((/** @type {Said[]} */ was, /** @type {number} */ i) => ({ name: `${rows[i]?.piece ?? i} →`, token: `${side}:${i}`, was: was[0] ?? { piece: "–", p: NaN }, now: other["top"][i]?.[0] ?? { piece: "–", p: NaN }, moved: moved?.[i] ?? null })));
}

/** @param {any} object */
const found = (object) => ({ piece: object.label ?? say("explorer.interfere.nothing"), p: object.p });

/** @param {{name: string, token?: string, was: Said, now: Said, moved: number | null}[]} rows */
function table(rows) {
  const apart = rows.some(({ moved }) => moved !== null); // classes are one answer: what moved is said of them all
  const body = h("tbody");
  for (const { name, token, was, now, moved } of rows) {
    const changed = was.piece !== now.piece;
    put(body, h("tr", { class: changed ? "changed" : "", "data-token": token }, h("th", { scope: "row" }, name), said(was), said(now), apart && h("td", { class: "moved", "data-moved": moved ?? "" }, moved === null ? "" : number(moved))));
  }
  const heads = ["explorer.interfere.row", "explorer.interfere.before", "explorer.interfere.after", ...(apart ? ["explorer.interfere.moved_row"] : [])];
  return h("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": say("explorer.interfere.answer") }, h("table", { class: "outcome-table" }, h("thead", {}, h("tr", {}, heads.map((key) => h("th", { scope: "col" }, say(key))))), body));
}

/** @param {Said} one */
function said({ piece, p }) {
  return h("td", {}, piece && h("span", { class: "said" }, piece), Number.isFinite(p) && h("span", { class: "p", "data-p": p, style: { "--part": p } }, number(p)));
}
