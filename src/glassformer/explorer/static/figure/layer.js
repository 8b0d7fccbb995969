// Zoom 3: one layer, box by box, and beside each box the numbers that left it: a row for each token.

import { h, s } from "../dom.js";
import { drawHeat, PALETTES, shrunk } from "../heat.js";
import { matrix } from "../safetensors.js";
import { isMasked } from "./model.js";
import { Drawing, boxName, drawGroups } from "./draw.js";

const MOST_TALL = 80; // a box with the wire below it

/**
 * @param {import("../signal.js").Owner} owner
 * @param {import("../app.js").App} app
 * @param {import("../plan.js").Stack} stack
 * @param {import("../plan.js").Layer} layer
 * @param {import("../engine.js").About} about
 * @param {number} width
 * @param {number} room  how tall it may be without being cut, if that can be
 */
export function drawLayer(owner, app, stack, layer, about, width, room) {
  const boxes = layer.groups.reduce((count, group) => count + group.boxes.length + (group.add ? 1 : 0), 0);
  const each = Math.max(MOST_TALL * 0.7, Math.min(MOST_TALL, (room - 20) / Math.max(1, boxes)));
  const drawing = new Drawing(app, width);
  const residual = 34;
  const wide = Math.min(230, width * 0.46);
  const x = residual + 2;
  drawing.wire(`M${x + wide / 2} 4 V-12`);
  const { top, places } = drawGroups(drawing, layer, {
    x,
    width: wide,
    bottom: -6,
    height: each * 0.78,
    gap: each * 0.3,
    bypass: -residual + 8,
    zoom: 4,
    masked: isMasked(about, stack),
    note: (box) => (box.kind === "attention" ? app.say("explorer.heads_of", { count: about.sizes["n_heads"] ?? 1 }) : ""),
  });
  const aside = x + wide + 22;
  for (const { boxes, add } of layer.groups) {
    for (const box of [...boxes, add]) {
      const frame = box && places.get(box.at);
      if (!box || !frame) continue;
      drawing.wire(`M${frame.x + frame.width} ${frame.y + frame.height / 2} H${aside - 6}`, "aside");
      drawing.boxes.append(leaving(owner, app, box, { x: aside, y: frame.y - 2, width: width - aside - 4, height: frame.height + 4 }));
    }
  }
  drawing.wire(`M${x + wide / 2} ${top} V${top - 20}`, "up");
  return drawing.fit(top - 28, 10);
}

/**
 * What left a box: formula, and its numbers as colours; of an attention the maps of its heads.
 * @param {import("../signal.js").Owner} owner
 * @param {import("../app.js").App} app
 * @param {import("../plan.js").Box} box
 * @param {import("./draw.js").Frame} frame
 */
function leaving(owner, app, box, frame) {
  const step = /** @type {import("../engine.js").Step} */ (box.steps.at(-1));
  const weights = box.steps.find((one) => one.name.endsWith(".weights"));
  const strip = h("div", { class: weights ? "thumbs" : "leaving" });
  const tensor = app.tensor((weights ?? step).name);
  const count = tensor && weights ? (tensor.shape.at(-3) ?? 1) : 1;
  for (let head = 0; tensor && head < Math.min(count, 12); head += 1) {
    const canvas = /** @type {HTMLCanvasElement} */ (h("canvas", { "data-map": (weights ?? step).name, "data-head": weights ? head : null }));
    owner.effect(() => {
      const palette = /** @type {import("../heat.js").Palette} */ (app.dark.value ? PALETTES["dark"] : PALETTES["light"]);
      drawHeat(canvas, shrunk(matrix(tensor, head), 256), { palette, ...(weights ? { most: 1 } : {}) });
    });
    strip.append(canvas);
  }
  return s("foreignObject", { ...frame, class: "through" }, h("div", { class: "leaves" }, h("code", {}, step.formula), strip));
}

export { boxName };
