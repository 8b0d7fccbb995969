// Patches of an image as a grid over it, patches of a series along its axis: the same numbers as in the table, where they are.

import { h, s } from "../dom.js";
import { cellAt, colour, drawHeat, PALETTES, reach } from "../heat.js";
import { number, say } from "../words.js";

/**
 * @typedef {import("../app.js").App} App
 * @typedef {import("../signal.js").Owner} Owner
 * @typedef {import("./tokens.js").Side} Side
 * @typedef {{name: string, key: string, values: number[]}} Strip
 */

const CHART = 110; // the height of a series
const BAND = 16;

/**
 * What there is to see of a side: its gradients, and the attention of each layer.
 * @param {Side} side
 * @returns {Strip[]}
 */
export function strips(side) {
  return [
    { name: "‖∂‖", key: "norm", values: side.norm },
    { name: "∂ · x", key: "product", values: side.times_input },
    ...(side.attention ?? []).map((values, layer) => ({ name: say("explorer.gradients.attention", { layer: layer + 1 }), key: `attention-${layer}`, values })),
  ];
}

/** @param {App} app */
const paletteOf = (app) => /** @type {import("../heat.js").Palette} */ (app.dark.value ? PALETTES["dark"] : PALETTES["light"]);

/**
 * @param {Owner} owner
 * @param {App} app
 * @param {import("../engine.js").Run} run
 * @param {Side} side
 */
export function imageGrids(owner, app, { about, tensors }, side) {
  const pixels = tensors.get("input.pixels");
  const [rows = 1, columns = 1] = /** @type {number[]} */ (about.input["grid"] ?? []);
  const first = Number(about.input["class_tokens"] ?? 0);
  const readout = h("output", { class: "map-readout" });
  const pictures = strips(side).map(({ name, key, values }) => {
    const image = /** @type {HTMLCanvasElement} */ (h("canvas", { class: "patch-image" }));
    const heat = /** @type {HTMLCanvasElement} */ (h("canvas", { class: "patch-heat", "data-patches": key }));
    if (pixels) drawImage(image, pixels);
    const inGrid = values.slice(first);
    owner.effect(() => drawHeat(heat, { rows, columns, data: inGrid }, { most: reach(inGrid), palette: paletteOf(app) }));
    owner.listen(heat, "pointermove", (event) => {
      const [row, column] = cellAt(event, heat);
      const token = first + row * columns + column;
      readout.textContent = `${name} (${row}, ${column})  ${number(values[token] ?? NaN)}`;
      app.hotToken.value = `source:${token}`;
    });
    return h("figure", { class: "patch-figure" }, h("div", { class: "patch-frame" }, image, heat), h("figcaption", {}, name));
  });
  return h("div", { class: "patches" }, h("div", { class: "patch-figures" }, pictures), readout);
}

/**
 * Channels in 0 … 1 as they look.
 * @param {HTMLCanvasElement} canvas
 * @param {import("../safetensors.js").Tensor} pixels  c h w
 */
function drawImage(canvas, { shape, data }) {
  const [channels = 1, height = 1, width = 1] = shape;
  canvas.width = width;
  canvas.height = height;
  const context = /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d"));
  const image = context.createImageData(width, height);
  for (let i = 0; i < width * height; i += 1) {
    const value = (/** @type {number} */ channel) => 255 * Number(data[Math.min(channel, channels - 1) * width * height + i]);
    image.data.set([value(0), value(1), value(2), 255], 4 * i);
  }
  context.putImageData(image, 0, 0);
}

/**
 * @param {Owner} owner
 * @param {App} app
 * @param {import("../engine.js").Run} run
 * @param {Side} side
 */
export function seriesBands(owner, app, { about }, side) {
  const values = /** @type {number[]} */ (about.input["values"] ?? []);
  const { length, stride } = /** @type {{length: number, stride: number}} */ (/** @type {any} */ (about.input));
  const [low, high] = [Math.min(...values), Math.max(...values)];
  const y = (/** @type {number} */ value) => 4 + (CHART - 8) * (1 - (value - low) / (high - low || 1));
  const x = (/** @type {number} */ i) => (1000 * i) / Math.max(1, values.length - 1);
  const line = s("path", { class: "series-line", d: values.map((value, i) => `${i ? "L" : "M"}${x(i).toFixed(1)} ${y(value).toFixed(1)}`).join("") });
  const mark = s("rect", { class: "series-mark", y: 0, height: CHART, hidden: true });
  const readout = h("output", { class: "map-readout" });
  const across = { viewBox: `0 0 1000 ${CHART}`, preserveAspectRatio: "none" };
  const chart = s("svg", { class: "series-chart", ...across, height: CHART, role: "img", "aria-label": about.input["series"] || say("explorer.gradients.series") }, mark, line);
  const bands = strips(side).map(({ name, key, values: strength }) => {
    const most = reach(strength);
    const band = s("svg", { class: "series-band", viewBox: `0 0 1000 ${BAND}`, preserveAspectRatio: "none", height: BAND, "data-band": key, "aria-hidden": "true" });
    strength.forEach((value, i) => {
      const [from, to] = [x(i * stride), i === strength.length - 1 ? x(i * stride + length - 1) : x((i + 1) * stride)];
      const cell = s("rect", { x: from, y: 0, width: to - from, height: BAND, "data-patch": i, "data-value": value });
      owner.effect(() => cell.setAttribute("fill", `rgb(${colour(value / most, paletteOf(app)).join(" ")})`));
      owner.listen(cell, "pointerenter", () => {
        mark.removeAttribute("hidden");
        mark.setAttribute("x", String(from));
        mark.setAttribute("width", String(x(i * stride + length - 1) - from));
        readout.textContent = `${name} ${side.tokens[i]?.piece ?? i}  ${number(value)}`;
        app.hotToken.value = `source:${i}`;
      });
      band.append(cell);
    });
    return [h("span", { class: "band-name" }, name), band];
  });
  return h("div", { class: "patches" }, h("div", { class: "series-grid" }, h("span", { class: "band-name" }, about.input["series"] ?? ""), chart, bands.flat()), readout);
}
