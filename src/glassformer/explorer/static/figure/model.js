// Zoom 1: Figure 1 of this very model. One layer stands for all; the tabs beside a stack are its layers.

import { objectsOf } from "../families/objects.js";
import { patched } from "../families/names.js";
import { drawPicture, PICTURE } from "../families/thumbnail.js";
import { sideOf, tokensOf } from "../plan.js";
import { Drawing, boxName, drawGroups } from "./draw.js";

const SIZES = [[40, 20], [38, 17], [36, 15], [34, 12], [32, 10]]; // boxes and the wires between them, as tall as there is room
const ROOM = 26; // for the residual beside a layer
const TABS = 30; // for the tabs of the layers
const NARROW = 220; // a column below this width has less of both

/**
 * @typedef {import("../plan.js").Plan} Plan
 * @typedef {import("../plan.js").Stack} Stack
 * @typedef {{top: number, middle: number, cross: {x: number, y: number} | null}} Column
 */

/**
 * @param {import("../app.js").App} app
 * @param {Plan} plan
 * @param {import("../engine.js").About} about
 * @param {number} width
 * @param {number} room  how tall it may be without being cut, if that can be
 */
export function drawModel(app, plan, about, width, room) {
  let drawn = null;
  for (const [box = 0, gap = 0] of SIZES) {
    drawn = drawAt(app, plan, about, width, { box, gap });
    if (Number(drawn.getAttribute("height")) <= room) break;
  }
  return /** @type {SVGElement} */ (drawn);
}

/**
 * @param {import("../app.js").App} app
 * @param {Plan} plan
 * @param {import("../engine.js").About} about
 * @param {number} width
 * @param {{box: number, gap: number}} size
 */
function drawAt(app, plan, about, width, size) {
  const drawing = new Drawing(app, width);
  const count = plan.stacks.length;
  const between = count > 1 ? Math.max(20, Math.min(56, width * 0.06)) : 0;
  const each = Math.min(300, (width - between) / count);
  const left = (width - each * count - between * (count - 1)) / 2;
  /** @type {Column | null} */
  let before = null;
  let top = 0;
  plan.stacks.forEach((stack, i) => {
    const last = i === count - 1;
    const column = drawColumn(drawing, plan, stack, about, { x: left + i * (each + between), width: each, mirrored: i > 0, last, spare: between / 2, ...size });
    if (before && column.cross) {
      const channel = left + i * (each + between) - between / 2;
      const { middle, top: from } = /** @type {Column} */ (before);
      const level = column.cross.y;
      drawing.wire(`M${middle} ${from} V${from - 10} Q${middle} ${from - 18} ${middle + 8} ${from - 18} H${channel - 8} Q${channel} ${from - 18} ${channel} ${from - 18 + (level > from ? 8 : -8)} V${level - (level > from ? 8 : -8)} Q${channel} ${level} ${channel + 8} ${level} H${column.cross.x}`, "memory");
      top = Math.min(top, from - 26);
    }
    before = column;
    top = Math.min(top, column.top);
  });
  return drawing.fit(top - 2, 8);
}

/**
 * @param {Drawing} drawing
 * @param {Plan} plan
 * @param {Stack} stack
 * @param {import("../engine.js").About} about
 * @param {{x: number, width: number, mirrored: boolean, last: boolean, spare: number, box: number, gap: number}} where
 * @returns {Column}
 */
function drawColumn(drawing, plan, stack, about, { x, width, mirrored, last, spare, box: tallest, gap }) {
  const { app } = drawing;
  const less = width < NARROW ? 6 : 0;
  const [aside, tabs] = [ROOM - less, TABS - less / 2];
  const inner = { x: x + (mirrored ? aside - 8 : tabs + aside), width: width - tabs - 2 * aside + 8 };
  const middle = inner.x + inner.width / 2;
  const side = sideOf(about, `${stack.name}.input`);
  const beyond = aside - 8 + Math.min(spare, 12); // chips may be wider than boxes
  const rows = { x: inner.x - beyond, width: inner.width + 2 * beyond, side };
  const pictured = side === "source" && patched(about);
  if (pictured) drawing.boxes.append(drawPicture(app, { x: inner.x, width: inner.width, y: 4 - PICTURE }));
  let y = pictured ? 4 - PICTURE : drawing.chips(tokensOf(about, side), { ...rows, bottom: 4 });
  /** @param {import("../plan.js").Box | null} box @param {number} [tall] */
  const single = (box, tall = tallest) => {
    if (!box) return;
    drawing.wire(`M${middle} ${y} V${y - gap}`, "up");
    y -= gap + tall;
    drawing.box({ ...inner, y, height: tall }, { at: box.at, kind: box.kind, label: boxName(app, box), zoom: 4 });
  };
  single(stack.embedding);
  if (stack.input?.steps[0]?.says === "input_stream") single(stack.input, tallest * 0.75);

  drawing.order += 1;
  const masked = isMasked(about, stack);
  const shown = stack.layers.find((layer) => layer.index === app.place.value.layer && app.place.value.stack === stack.name) ?? stack.layers[0];
  const bottom = y - gap * 0.5;
  drawing.wire(`M${middle} ${y} V${bottom}`);
  let cross = null;
  if (shown) {
    const bypass = (mirrored ? 1 : -1) * (aside - 10);
    const { top, places } = drawGroups(drawing, shown, { ...inner, bottom: bottom - 4, height: tallest, gap, bypass, zoom: 4, masked, anyLayer: true });
    const found = places.get(`${shown.at}.cross_attention`);
    if (found) cross = { x: found.x, y: found.y + found.height * 0.7 };
    const frame = { x: inner.x - aside + 2, y: top - 14, width: inner.width + 2 * aside - 4, height: bottom - top + 18 };
    drawStack(drawing, stack, frame, { mirrored, tabs });
    y = top - 14;
    drawing.wire(`M${middle} ${top} V${y}`);
  }
  if (stack.output && stack.output.steps[0]?.formula.includes("Norm(")) single(stack.output, tallest * 0.75);
  if (last && plan.head) {
    single(plan.head);
    const said = saidBy(about);
    if (said.length) {
      drawing.wire(`M${middle} ${y} V${y - gap}`, "up");
      y = drawing.chips(said, { ...rows, bottom: y - gap, kind: "said" });
    }
  }
  return { top: y, middle, cross };
}

/**
 * The grey frame of a stack, N×, and a tab for each layer.
 * @param {Drawing} drawing
 * @param {Stack} stack
 * @param {import("./draw.js").Frame} frame
 * @param {{mirrored: boolean, tabs: number}} how
 */
function drawStack(drawing, stack, frame, { mirrored, tabs }) {
  const { app } = drawing;
  const label = app.say(`explorer.stack.${stack.name}`);
  const group = drawing.box(frame, { at: stack.name, kind: "stack", label, zoom: 2, rx: 16 });
  drawing.frames.append(group);
  group.querySelectorAll("text").forEach((text) => text.remove());
  const edge = mirrored ? frame.x + frame.width + 4 : frame.x - tabs + 4;
  const tall = Math.min(26, (frame.height - 44) / Math.max(1, stack.layers.length));
  const first = frame.y + frame.height / 2 + (tall * stack.layers.length) / 2;
  drawing.text(edge + (tabs - 8) / 2, first - tall * stack.layers.length - 10, `${stack.layers.length}×`, "times");
  for (const layer of stack.layers) {
    const y = first - tall * (layer.index + 1);
    const tab = drawing.box(
      { x: edge, y: y + 1.5, width: tabs - 8, height: Math.max(3, tall - 3) },
      { at: layer.at, kind: "tab", label: tall > 13 ? String(layer.index + 1) : "", zoom: 3, rx: 6 },
    );
    tab.setAttribute("aria-label", app.say("explorer.layer", { number: layer.index + 1 }) + `, ${label}`);
  }
}

/**
 * Does a position of this stack see only those before it?
 * @param {import("../engine.js").About} about
 * @param {Stack} stack
 */
export function isMasked(about, stack) {
  const weights = about.steps.find((step) => step.name.startsWith(`${stack.name}.blocks.`) && step.key === "weights");
  return stack.name === "decoder" && Boolean(weights?.says.includes("masked"));
}

/**
 * The pieces that the model chose, one for each row.
 * @param {import("../engine.js").About} about
 * @returns {import("../engine.js").Token[]}
 */
export function saidBy(about) {
  const { top, classes } = about.output;
  const objects = objectsOf(about).filter(({ label }) => label !== null);
  if (objects.length) return objects.map(({ label }) => ({ piece: String(label), id: 0, span: null }));
  if (Array.isArray(top)) return top.filter((row) => row?.length).map((row) => ({ piece: row[0].piece, id: 0, span: null }));
  const best = [...(classes ?? [])].sort((a, b) => b.p - a.p)[0];
  return best ? [{ piece: `${best.label ?? best.piece}`, id: 0, span: null }] : [];
}
