// How far the streams lie apart, layer by layer and token by token: where two checkpoints or models begin to differ.

import { h } from "../dom.js";
import { placeOf, writePlace } from "../place.js";
import { number, say, upright } from "../words.js";

/**
 * @typedef {import("../app.js").App} App
 * @typedef {import("./asked.js").Told} Told
 * @typedef {import("./asked.js").Apart} Apart
 */

const MOST_TOKENS = 48;

/**
 * @param {App} app
 * @param {Told} told
 * @returns {(HTMLElement | false)[]}
 */
export function streams(app, told) {
  const stacks = /** @type {("encoder" | "decoder")[]} */ ([...new Set(told.stream.map(({ tap }) => tap.split(".")[0]))]);
  return [
    h("p", { class: "sentence", id: "compare-verdict" }, verdict(told)),
    told.stream.some(({ why }) => !why) && h("p", { class: "quiet" }, say("explorer.compare.distance_says")),
    told.a.model !== told.b.model && h("p", { class: "quiet" }, say("explorer.compare.axes")),
    ...stacks.map((stack) => table(app, told, stack)),
  ];
}

/** @param {Told} told */
function verdict({ verdict: found, stream }) {
  if (found?.identical) return say("compare.identical", { taps: found.taps });
  if (found?.first) return say("compare.first", { tap: found.first.tap, shape: found.first.shape.join("×"), before: found.first.before });
  return say(stream.some(({ why }) => !why) ? "explorer.compare.cells_by.pieces" : "explorer.compare.no_stream");
}

/**
 * @param {App} app
 * @param {Told} told
 * @param {"encoder" | "decoder"} stack
 */
function table(app, told, stack) {
  const all = told.stream.filter(({ tap }) => tap.startsWith(stack));
  const [why, ...others] = new Set(all.map((one) => one.why));
  if (why && !others.length) return h("p", { "data-why": why }, h("b", {}, say(`explorer.stack.${stack}`)), ` · ${say(`explorer.compare.why.${why}`)}`);
  const pairs = all.find(({ rows }) => rows)?.rows ?? [];
  const tokens = pairs.length > MOST_TOKENS ? [] : pairs.map(([i, j]) => [...new Set([told.a[stack][i], told.b[stack][j]])].join("\n"));
  const first = told.stream.find(({ relative }) => (relative ?? 0) > 0)?.tap;
  const heads = [`stack.${stack}`, "compare.apart", "compare.cosine"].map((key) => say(`explorer.${key}`));
  return h(
    "div",
    { class: "apart-scroll", tabindex: "0", role: "region", "aria-label": `${say("explorer.compare.distance")}: ${say(`explorer.stack.${stack}`)}` },
    h(
      "table",
      { class: "apart-table" },
      h("thead", {}, h("tr", {}, heads.map((head) => h("th", { scope: "col" }, head)), tokens.map((token) => h("th", { scope: "col", class: "apart-token" }, h("span", {}, upright(token)))))),
      h("tbody", {}, all.map((one) => row(app, one, tokens.length, one.tap === first))),
    ),
  );
}

/**
 * @param {App} app
 * @param {Apart} apart
 * @param {number} tokens
 * @param {boolean} first
 */
function row(app, { tap, why, relative, cosine, by_row }, tokens, first) {
  const place = placeOf(tap);
  const name = h("th", { scope: "row" }, h("button", { type: "button", class: "apart-name", "data-at": writePlace(place), onclick: () => app.go(place, { zoom: Math.max(2, app.zoom.peek()) }) }, title(place)), first && h("small", { class: "apart-first" }, say("explorer.compare.first_here")));
  if (why) return h("tr", { "data-apart": tap, "data-why": why }, name, h("td", { class: "quiet", colspan: 2 + tokens }, say(`explorer.compare.why.${why}`)));
  return h(
    "tr",
    { "data-apart": tap, "data-relative": relative ?? "", "data-cosine": cosine ?? "", class: first ? "first" : "" },
    name,
    h("td", { class: "apart-relative", style: { "--part": Math.min(1, (relative ?? 0) / 2) } }, number(relative ?? NaN)),
    h("td", { class: "apart-cosine" }, number(cosine ?? NaN)),
    tokens > 0 && by_row.map((one) => h("td", { class: "apart-cell", "data-value": one ?? "", style: { "--share": Math.min(1, one ?? 0) } }, one === null ? "–" : one === 0 ? "0" : one.toFixed(2))),
  );
}

/** @param {import("../place.js").Place} place */
function title({ layer, box }) {
  const what = say(`explorer.compare.tap.${box}`);
  return layer === null ? what : `${say("explorer.layer", { number: layer + 1 })} · ${what}`;
}
