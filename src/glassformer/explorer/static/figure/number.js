// Zoom 5: one number: the formula that made it, filled in with its real operands, and the line of source.

import { h, put } from "../dom.js";
import { ask } from "../engine.js";
import { placeOf, readPlace, writePlace } from "../place.js";
import { sideOf, tensorName } from "../plan.js";
import { hasHeads, isMap, matrix, ofHead } from "../safetensors.js";
import { knows, lang, number, say } from "../words.js";

/**
 * @typedef {{label: string, name?: string | null, index?: number[], value: number, factors: number[]}} Term
 * @typedef {import("../engine.js").About} About
 * @typedef {{value: number, formula: string, filled: string, terms: Term[], result: number, exact: boolean, rest: {count: number, value: number},
 *   source: {file: string, line: number} | null, further: {name: string, index: number[]}[]}} Why
 */

const [HALF, WHOLE] = [3, 4]; // digits of a map, which travels in float16, and of a number that was asked for

/**
 * @param {import("../signal.js").Owner} owner
 * @param {import("../app.js").App} app
 * @param {About} about
 * @returns {HTMLElement}
 */
export function openNumber(owner, app, about) {
  const place = app.place.value;
  const [row, column] = app.cell.value ?? [0, 0];
  const name = tensorName(place);
  const step = about.steps.find((one) => one.name === name);
  const tensor = app.tensor(name);
  const body = h("div", { class: "one-number" });
  if (!tensor) return body;
  const head = place.head ?? app.head.value;
  const found = hasHeads(name) ? ofHead(tensor, head, Number(about.sizes["n_heads"])) : matrix(tensor);
  const value = found.data[row * found.columns + column] ?? NaN;
  const index = hasHeads(name) ? [head, row, column] : tensor.shape.length > 1 ? [row, column] : [column];
  const big = h("p", { class: "big-number", "data-value": String(value) }, number(value, isMap(name) ? HALF : WHOLE));
  put(
    body,
    h("p", { class: "eyebrow" }, h("code", {}, `${name}[${index.join(", ")}]`)),
    big,
    step && h("p", { class: "says" }, say(`trace.steps.${step.says}`, { head: head + 1, layer: (place.layer ?? 0) + 1 })),
    step && h("p", {}, h("code", { class: "formula large" }, step.formula)),
  );
  const reasons = h("div", { class: "reasons", "aria-live": "polite" });
  put(body, reasons);
  const ended = new AbortController();
  owner.own(() => ended.abort());
  const question = app.run.peek()?.question;
  ask("/api/why", { method: "POST", body: { ...question, name, index }, signal: ended.signal, lang: lang.peek() })
    .then((answer) => answer.json())
    .then((/** @type {Why} */ why) => {
      big.textContent = number(why.value, WHOLE);
      big.dataset["value"] = String(why.value);
      reasons.replaceChildren(...explain(app, about, why));
    })
    .catch((error) => {
      if (!ended.signal.aborted) reasons.replaceChildren(h("p", { class: "quiet" }, error.message));
    });
  return body;
}

/**
 * @param {import("../app.js").App} app
 * @param {About} about
 * @param {Why} why
 */
function explain(app, about, why) {
  return [
    why.filled ? h("p", { class: "filled" }, h("code", {}, `${why.filled} = ${number(why.result, 4)}`)) : "",
    why.terms.some((term) => term.name) ? h("p", { class: "quiet" }, say("explorer.why.further")) : "",
    why.terms.length ? operands(app, about, why) : h("p", { class: "quiet" }, say("explorer.why.no_operands")),
    why.rest.count ? h("p", { class: "quiet" }, say("explorer.why.rest", { count: why.rest.count, value: number(why.rest.value, 4) })) : "",
    why.exact ? "" : h("p", { class: "quiet not-all" }, say("explorer.why.not_all")),
    why.source ? h("p", { class: "quiet" }, h("code", {}, `${why.source.file}:${why.source.line}`)) : "",
  ].filter((part) => part !== "");
}

/**
 * @param {import("../app.js").App} app
 * @param {About} about
 * @param {Why} why
 */
function operands(app, about, why) {
  const most = Math.max(1e-9, ...why.terms.map((term) => Math.abs(term.value)));
  return h(
    "ul",
    { class: "terms" },
    why.terms.map((term) => {
      const where = term.name && term.index ? placeOfNumber(term.name, term.index) : null;
      const shown = [
        h("span", { class: "term-label", title: term.label }, labelOf(about, term), term.factors.length > 1 && h("small", {}, term.factors.map(factor).join(" · "))),
        h("span", { class: `term-bar ${term.value < 0 ? "minus" : "plus"}`, style: { "--part": Math.abs(term.value) / most } }),
        h("span", { class: "term-value", "data-value": String(term.value) }, number(term.value, 4)),
      ];
      return h("li", {}, where ? h("button", { type: "button", "data-at": writePlace(where.place), "data-token": tokenOf(about, term.name ?? "", where.cell), onclick: () => app.go(where.place, { zoom: 5, cell: where.cell }) }, shown) : h("div", {}, shown));
    }),
  );
}

/**
 * The token that an operand belongs to: the row of its tensor; of a map the one that is looked at.
 * @param {About} about
 * @param {string} name
 * @param {[number, number]} cell
 */
const tokenOf = (about, name, [row, column]) => (isMap(name) ? `${sideOf(about, name, "columns")}:${column}` : `${sideOf(about, name)}:${row}`);

/**
 * What an operand is called: a tensor by the symbol of the formula that made it, anything else as it is.
 * @param {About} about
 * @param {Term} term
 */
function labelOf(about, { label, name }) {
  const symbol = name === label && /^(\S+) = /.exec(about.steps.find((step) => step.name === label)?.formula ?? "")?.[1];
  const box = `explorer.box.${placeOf(label).box}`;
  return symbol && knows(box) ? `${symbol} · ${say(box)}` : label;
}

/** @param {number} value */
const factor = (value, /** @type {number} */ at) => (value < 0 && at ? `(${number(value)})` : number(value));

/**
 * Where a number stands in the figure.
 * @param {string} name
 * @param {number[]} index
 * @returns {{place: import("../place.js").Place, cell: [number, number]} | null}
 */
export function placeOfNumber(name, index) {
  const place = readPlace(name.replace(".blocks.", "."));
  const [column, row = 0, head = 0] = [...index].reverse();
  return column === undefined ? null : { place: { ...place, head: hasHeads(name) ? head : null }, cell: [row, column] };
}
