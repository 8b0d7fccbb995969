// What an image or a series model reads, at the foot of the figure: the whole of it, cut into its patches.

import { h, s } from "../dom.js";
import { nameOf, patched } from "./names.js";
import { pixelsOf, still } from "./raster.js";

export const PICTURE = 84; // how tall it is drawn

/**
 * @param {import("../app.js").App} app
 * @param {{x: number, y: number, width: number}} frame
 * @returns {SVGElement}
 */
export function drawPicture(app, { x, y, width }) {
  const run = /** @type {import("../engine.js").Run} */ (app.run.value);
  const pixels = pixelsOf(run);
  if (patched(run.about) === "series" || !pixels) return seriesLine(run.about, { x, y, width });
  const [rows, columns] = /** @type {[number, number]} */ (run.about.input["grid"]);
  const first = Number(run.about.input["class_tokens"]);
  const side = PICTURE - 4;
  const left = x + (width - side) / 2;
  const cells = Array.from({ length: rows * columns }, (_, i) => {
    const at = { x: left + ((i % columns) * side) / columns, y: y + 2 + (Math.floor(i / columns) * side) / rows, width: side / columns, height: side / rows };
    return s("rect", { ...at, class: "figure-patch", "data-token": `source:${first + i}` }, s("title", {}, nameOf(run.about, "source", first + i)));
  });
  return s("g", {}, s("foreignObject", { x: left, y: y + 2, width: side, height: side, class: "through", "aria-hidden": "true" }, h("div", { class: "figure-picture" }, still(pixels))), cells);
}

/**
 * @param {import("../engine.js").About} about
 * @param {{x: number, y: number, width: number}} frame
 */
function seriesLine(about, { x, y, width }) {
  const { values = [], length, stride } = about.input;
  const [low, high] = [Math.min(...values), Math.max(...values)];
  const tall = PICTURE - 30;
  const along = (/** @type {number} */ at) => x + (at / Math.max(1, values.length - 1)) * width;
  const points = values.map((/** @type {number} */ value, /** @type {number} */ at) => `${along(at).toFixed(1)},${(y + 4 + (1 - (value - low) / (high - low || 1)) * tall).toFixed(1)}`).join(" ");
  const rows = Math.max(1, Math.ceil(length / stride));
  const patches = (about.tokens.source ?? []).map((_, at) => {
    const from = along(at * stride);
    return s("rect", { class: "figure-patch", "data-token": `source:${at}`, x: from, y: y + tall + 9 + (at % rows) * 8, width: Math.max(1, along(at * stride + length - 1) - from), height: 6, rx: 2 }, s("title", {}, nameOf(about, "source", at)));
  });
  return s("g", {}, s("polyline", { class: "line past", points }), patches);
}
