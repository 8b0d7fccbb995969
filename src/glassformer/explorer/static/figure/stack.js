// Zoom 2: one stack, all of its layers, each with what its heads look at.

import { h, s } from "../dom.js";
import { drawHeat, PALETTES, shrunk } from "../heat.js";
import { matrix } from "../safetensors.js";
import { Drawing, boxName } from "./draw.js";

const CARD = 92;
const GAP = 26;

/**
 * @param {import("../signal.js").Owner} owner
 * @param {import("../app.js").App} app
 * @param {import("../plan.js").Stack} stack
 * @param {number} width
 */
export function drawLayers(owner, app, stack, width) {
  const drawing = new Drawing(app, width);
  const wide = Math.min(560, width - 16);
  const x = (width - wide) / 2;
  let y = 0;
  if (stack.input) {
    y -= 34;
    drawing.box({ x, y, width: wide, height: 30 }, { at: stack.input.at, kind: "position", label: boxName(app, stack.input), zoom: 4 });
  }
  for (const layer of stack.layers) {
    drawing.wire(`M${width / 2} ${y} V${y - GAP}`, "up");
    y -= GAP + CARD;
    const boxes = layer.groups.flatMap(({ boxes: inside, add }) => [...inside, add]).filter((box) => box !== null);
    const number = app.say("explorer.layer", { number: layer.index + 1 });
    const card = drawing.box({ x, y, width: wide, height: CARD }, { at: layer.at, kind: "layer", label: number, zoom: 3, rx: 14 });
    card.querySelector("text")?.replaceWith(s("text", { x: x + 16, y: y + 24, class: "title" }, number));
    drawParts(drawing, boxes, { x: x + 16, y: y + 42, width: Math.min(wide * 0.42, 220) });
    drawing.boxes.append(maps(owner, app, layer, { x: x + wide * 0.5, y: y + 10, width: wide * 0.5 - 12, height: CARD - 20 }));
  }
  if (stack.output) {
    drawing.wire(`M${width / 2} ${y} V${y - GAP}`, "up");
    y -= GAP + 30;
    drawing.box({ x, y, width: wide, height: 30 }, { at: stack.output.at, kind: "output", label: boxName(app, stack.output), zoom: 4 });
  }
  return drawing.fit(y - 8, 8);
}

/**
 * The boxes of a layer as small tiles, in the order of the pass.
 * @param {Drawing} drawing
 * @param {import("../plan.js").Box[]} boxes
 * @param {{x: number, y: number, width: number}} where
 */
function drawParts(drawing, boxes, { x, y, width }) {
  const each = (width - 3 * (boxes.length - 1)) / boxes.length;
  boxes.forEach((box, i) => {
    const label = boxName(drawing.app, box);
    const tile = drawing.box({ x: x + i * (each + 3), y, width: each, height: 32 }, { at: box.at, kind: box.kind, label, zoom: 4, rx: 6 });
    tile.querySelectorAll("text").forEach((text) => text.remove());
    tile.append(s("title", {}, label));
  });
}

/**
 * The maps of all heads of a layer, small; they lie above the card and let clicks through.
 * @param {import("../signal.js").Owner} owner
 * @param {import("../app.js").App} app
 * @param {import("../plan.js").Layer} layer
 * @param {import("./draw.js").Frame} frame
 */
function maps(owner, app, layer, frame) {
  const names = layer.groups.flatMap(({ boxes }) => boxes).flatMap(({ steps }) => steps).filter((step) => step.name.endsWith(".weights"));
  const row = h("div", { class: "thumbs" });
  for (const { name } of names) {
    const tensor = app.tensor(name);
    const heads = tensor?.shape.at(-3) ?? 0;
    for (let head = 0; tensor && head < Math.min(heads, 12); head += 1) {
      const canvas = /** @type {HTMLCanvasElement} */ (h("canvas", { "data-map": name, "data-head": head }));
      owner.effect(() => {
        const palette = /** @type {import("../heat.js").Palette} */ (app.dark.value ? PALETTES["dark"] : PALETTES["light"]);
        drawHeat(canvas, shrunk(matrix(tensor, head), 256), { most: 1, palette });
      });
      row.append(canvas);
    }
  }
  return s("foreignObject", { ...frame, class: "through", "aria-hidden": "true" }, row);
}
