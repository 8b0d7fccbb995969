// The rows of the map, exact: name, formula, the formula in numbers, parameters, share, and the change.

import { h } from "../dom.js";
import { say, whole } from "../words.js";
import { compact, percent, signed } from "./amounts.js";
import { nameOf } from "./ledger.js";

/** @typedef {import("./ledger.js").Part} Part */

const MOST = 18; // rows: with more, what is inside of the parts is left to a closer look

/**
 * @param {Part} part
 * @param {Map<string, number> | null} before  parameters of the model as it is, by path; null: it is this model
 * @param {(part: Part) => void} open
 */
export function rowsOf(part, before, open) {
  const outside = (part.children.length ? part.children : [part]).map((child) => ({ part: child, inside: false }));
  const both = outside.flatMap((one) => [one, ...(one.part === part ? [] : one.part.children).map((child) => ({ part: child, inside: true }))]);
  const all = both.length > MOST ? outside : both;
  const head = ["part", "count", "share"].map((key) => h("th", { scope: "col", class: `ledger-${key}` }, say(`explorer.ledger.columns.${key}`)));
  const sum = part.children.length ? [line({ part, inside: false }, before, null)] : [];
  return h("table", { class: "ledger" }, h("thead", {}, h("tr", {}, head)), h("tbody", {}, all.map((one) => line(one, before, one.part === part || one.part.own ? null : open))), h("tfoot", {}, sum));
}

/**
 * @param {{part: Part, inside: boolean}} one
 * @param {Map<string, number> | null} before
 * @param {((part: Part) => void) | null} open
 */
function line({ part, inside }, before, open) {
  const change = before ? signed(part.parameters - (before.get(keyOf(part)) ?? 0), whole) : "";
  const { row } = part;
  const name = nameOf(part);
  return h(
    "tr",
    { class: inside ? "inside" : "", "data-row": part.path, "data-parameters": part.parameters },
    h(
      "th",
      { scope: "row" },
      open ? h("button", { type: "button", class: "ledger-name", onclick: () => open(part) }, name) : h("b", { class: "ledger-name" }, name),
      row && row.formula !== "0" ? h("span", { class: "ledger-formula" }, h("code", {}, row.formula), h("code", { class: "quiet" }, `= ${row.numbers}`)) : null,
      row?.tied ? h("span", { class: "quiet" }, say("explorer.ledger.tied", { path: row.tied })) : null,
      part.buffers ? h("span", { class: "quiet" }, say("explorer.ledger.buffers", { count: whole(part.buffers) })) : null,
    ),
    h("td", { class: "ledger-count" }, h("span", { class: "exact" }, whole(part.parameters)), part.parameters < 1000 ? null : h("small", {}, compact(part.parameters)), change ? h("small", { class: `change ${change.startsWith("+") ? "more" : "less"}` }, change) : null),
    h("td", { class: "ledger-share" }, h("span", { class: "bar-line", style: { "--part": part.share } }), h("small", {}, percent(part.share))),
  );
}

/**
 * A part and the row of the same path differ.
 * @param {Part} part
 */
export const keyOf = (part) => `${part.path}${part.row ? "=" : ""}`;

/**
 * Parameters of every part, by path.
 * @param {Part} root
 * @param {Map<string, number>} [into]
 */
export function counts(root, into = new Map()) {
  into.set(keyOf(root), root.parameters);
  root.children.forEach((child) => counts(child, into));
  return into;
}
