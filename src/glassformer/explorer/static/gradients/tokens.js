// The tokens of one side: the norm of the gradient, gradient × input with its sign, and the attention that each got.

import { h } from "../dom.js";
import { nameOf } from "../families/names.js";
import { reach } from "../heat.js";
import { number, say } from "../words.js";

/**
 * @typedef {{stack: string, tokens: import("../engine.js").Token[], seen: number, norm: number[], times_input: number[], attention: number[][] | null,
 *   agreement: {norm: (number | null)[], times_input: (number | null)[]}}} Side
 */

/**
 * @param {import("../engine.js").About} about
 * @param {Side} side
 * @param {"source" | "target"} which
 * @param {string} label
 */
export function tokenTable(about, side, which, label) {
  const names = side.tokens.map((_, i) => nameOf(about, which, i));
  const { norm, times_input: product, attention, agreement } = side;
  const layers = attention ?? [];
  const [mostNorm, mostProduct, mostLooked] = [reach(norm.slice(0, side.seen)), reach(product.slice(0, side.seen)), layers.map((layer) => reach(layer.slice(0, side.seen)))];
  const head = [
    h("th", { scope: "col", class: "who" }, say("explorer.gradients.token")),
    h("th", { scope: "col" }, "‖∂‖", h("small", {}, say("explorer.gradients.norm"))),
    h("th", { scope: "col" }, "∂ · x", h("small", {}, say("explorer.gradients.product"))),
    ...layers.map((_, layer) => h("th", { scope: "col", class: "looked", title: say("explorer.gradients.attention", { layer: layer + 1 }) }, "α", h("small", {}, layer + 1))),
  ];
  const rows = names.slice(0, side.seen).map((name, i) =>
    h(
      "tr",
      { "data-token": `${which}:${i}`, "data-norm": norm[i], "data-product": product[i] },
      h("th", { scope: "row", class: "who" }, h("span", { class: "piece" }, name)),
      h("td", {}, bar(norm[i] ?? 0, mostNorm, false)),
      h("td", {}, bar(product[i] ?? 0, mostProduct, true)),
      layers.map((layer, l) => h("td", { class: "looked" }, h("span", { class: "looked-cell", "data-layer": l, "data-attention": layer[i], style: { "--share": (layer[i] ?? 0) / (mostLooked[l] ?? 1) } }, short(layer[i] ?? 0)))),
    ),
  );
  const foot = layers.length
    ? /** @type {("norm" | "times_input")[]} */ (["norm", "times_input"]).map((key) =>
        h("tr", {}, h("th", { scope: "row", colspan: 3, class: "rho" }, say(`explorer.gradients.rho.${key}`)), agreement[key].map((rho, layer) => h("td", { class: "looked" }, h("span", { class: "rho-value", "data-rho": key, "data-layer": layer, "data-value": rho ?? "" }, rho === null ? "–" : rho.toFixed(1).replace(/^-0\.0$/, "0.0").replace("-", "−"))))),
      )
    : [];
  const says = layers.length ? h("p", { class: "quiet most-looked" }, say("explorer.gradients.most", { looked: names[largest(layers.at(-1) ?? [], side.seen)] ?? "", norm: names[largest(norm, side.seen)] ?? "" })) : null;
  return [says, h("div", { class: "scroll", tabindex: "0", role: "group", "aria-label": label }, h("table", { class: "gradient-table" }, h("thead", {}, h("tr", {}, head)), h("tbody", {}, rows), h("tfoot", {}, foot)))];
}

/**
 * Where the largest of the first numbers is.
 * @param {number[]} values
 * @param {number} seen
 */
function largest(values, seen) {
  const some = values.slice(0, seen);
  return some.indexOf(Math.max(...some));
}

/** @param {number} share */
const short = (share) => share.toFixed(2).replace(/^0/, "");

/**
 * @param {number} value
 * @param {number} most
 * @param {boolean} signed  with the zero in the middle
 */
function bar(value, most, signed) {
  const part = Math.min(1, Math.abs(value) / most);
  return h("span", { class: `gradient-bar${signed ? " signed" : ""}${value < 0 ? " minus" : ""}` }, h("span", { class: "gradient-line" }, h("span", { style: { width: `${part * (signed ? 50 : 100)}%` } })), h("span", { class: "term-value" }, number(value)));
}
