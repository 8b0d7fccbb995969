// The map of parameters: one rectangle for each part, its area its share; a click or Enter looks closer, Escape further.

import { s } from "../dom.js";
import { placeOf, writePlace } from "../place.js";
import { say, whole } from "../words.js";
import { counted, percent } from "./amounts.js";
import { colourOf, nameOf } from "./ledger.js";
import { strips } from "./strips.js";

/**
 * @typedef {import("./ledger.js").Part} Part
 * @typedef {import("./strips.js").Frame} Frame
 * @typedef {{part: Part, width: number, height: number, from: string, open: (part: Part) => void, out: () => void, show: (part: Part | null) => void}} MapOf
 *   `from`: where one comes from; its tile is the first for the keys
 */

const [HEADER, PAD, LEAST] = [20, 3, 12]; // the line with a group's name, the rim, the smallest side that is divided
const LINE = 16;

/**
 * @param {MapOf} given
 * @returns {SVGElement}
 */
export function treemap({ part, width, height, from, open, out, show }) {
  const svg = s("svg", { class: "treemap", viewBox: `0 0 ${width} ${height}`, width, height, role: "group", "aria-label": say("explorer.ledger.map", { part: nameOf(part), count: whole(part.parameters) }) });
  const inside = part.children.filter((child) => child.parameters > 0);
  const shown = inside.length ? inside : part.parameters ? [part] : [];
  const frames = strips(shown.map((child) => child.parameters), { x: 0, y: 0, width, height });
  const first = Math.max(0, shown.findIndex((child) => child.path === from));
  const tiles = shown.map((child, i) => tile(child, /** @type {Frame} */ (frames[i]), i === first, child !== part && !child.own ? open : null, show));
  svg.append(...tiles);
  svg.addEventListener("keydown", (event) => {
    if (event.key === "Escape" || event.key === "Backspace") out();
    else if (!step(tiles, event.key)) return;
    event.preventDefault();
    event.stopPropagation();
  });
  svg.addEventListener("pointerleave", () => show(null));
  return svg;
}

/**
 * Moves the focus among the tiles; says whether the key does.
 * @param {SVGElement[]} tiles
 * @param {string} key
 */
function step(tiles, key) {
  const now = tiles.findIndex((one) => one === document.activeElement);
  const to = /** @type {Record<string, number>} */ ({ ArrowRight: now + 1, ArrowDown: now + 1, ArrowLeft: now - 1, ArrowUp: now - 1, Home: 0, End: tiles.length - 1 })[key];
  if (to === undefined) return false;
  const next = tiles[Math.max(0, Math.min(tiles.length - 1, to))];
  tiles.forEach((one) => one.setAttribute("tabindex", one === next ? "0" : "-1"));
  next?.focus();
  return true;
}

/**
 * One part that can be opened, with what is inside of it.
 * @param {Part} part
 * @param {Frame} frame
 * @param {boolean} first
 * @param {((part: Part) => void) | null} open
 * @param {(part: Part) => void} show
 */
function tile(part, frame, first, open, show) {
  const group = s("g", { class: `tile${open ? "" : " whole"}`, role: open ? "button" : "img", tabindex: first ? "0" : "-1", "aria-label": spoken(part), "data-part": part.path, "data-parameters": part.parameters, "data-at": placed(part.path) });
  if (open) {
    group.addEventListener("click", () => open(part));
    group.addEventListener("keydown", (event) => {
      if (event.key !== "Enter" && event.key !== " ") return;
      event.preventDefault();
      open(part);
    });
  }
  group.addEventListener("focus", () => show(part));
  draw(group, part, frame, show);
  return group;
}

/**
 * @param {SVGElement} into
 * @param {Part} part
 * @param {Frame} frame
 * @param {(part: Part) => void} show
 */
function draw(into, part, frame, show) {
  const rect = s("rect", { class: `cell ${colourOf(part.path)}${part.row ? "" : " group"}`, ...frame, rx: Math.min(6, frame.width / 4, frame.height / 4), "data-cell": part.path });
  rect.addEventListener("pointerenter", () => show(part));
  into.append(rect);
  const inside = part.children.filter((child) => child.parameters > 0);
  if (part.row || !inside.length || Math.min(frame.width, frame.height) < LEAST) return label(into, part, frame);
  const heading = { x: frame.x + 7, y: frame.y + HEADER / 2 + 1 };
  const title = (/** @type {string} */ line) => text(into, line, heading, frame.width - 12, "cell-name");
  const named = frame.height > 2 * HEADER && (title(`${nameOf(part)} · ${whole(part.parameters)}`) || title(nameOf(part)) || title(layerOf(part.path)));
  const inner = { x: frame.x + PAD, y: frame.y + (named ? HEADER : PAD), width: frame.width - 2 * PAD, height: frame.height - PAD - (named ? HEADER : PAD) };
  strips(inside.map((child) => child.parameters), inner).forEach((one, i) => draw(into, /** @type {Part} */ (inside[i]), one, show));
}

/**
 * As many of its lines as have room: the name, the count, the unit, the formula.
 * @param {SVGElement} into
 * @param {Part} part
 * @param {Frame} frame
 */
function label(into, part, { x, y, width, height }) {
  const lines = [
    { text: nameOf(part), kind: "cell-name" },
    { text: counted(part.parameters), other: whole(part.parameters), kind: "cell-count" },
    { text: part.row?.formula ?? "", kind: "cell-formula" },
    { text: part.row ? `= ${part.row.numbers}` : "", kind: "cell-formula" },
  ].filter((line) => line.text);
  let at = y + 5 + LINE / 2;
  for (const line of lines) {
    if (at + LINE / 2 > y + height) return;
    const place = { x: x + 7, y: at };
    if (text(into, line.text, place, width - 12, line.kind) || (line.other && text(into, line.other, place, width - 12, line.kind))) at += LINE;
    else if (line.kind === "cell-name") return;
  }
}

const pen = /** @type {CanvasRenderingContext2D} */ (document.createElement("canvas").getContext("2d"));
const FONTS = /** @type {Record<string, string>} */ ({ "cell-name": "600 12px", "cell-count": "12px", "cell-formula": "11px" });

/**
 * A line of text, if it fits into the width; says whether it does.
 * @param {SVGElement} into
 * @param {string} line
 * @param {{x: number, y: number}} place
 * @param {number} width
 * @param {string} kind
 */
function text(into, line, place, width, kind) {
  const root = getComputedStyle(document.documentElement);
  if (!line) return false;
  pen.font = `${FONTS[kind]} ${root.getPropertyValue(kind === "cell-name" ? "--sans" : "--mono")}`;
  if (pen.measureText(line).width > width) return false;
  into.append(s("text", { class: kind, ...place, "aria-hidden": "true" }, line));
  return true;
}

/**
 * The number of a layer, where its name has no room.
 * @param {string} path
 */
const layerOf = (path) => String(Number(path.split(".").at(-1)) + 1 || "");

/** @param {Part} part */
const spoken = (part) => `${nameOf(part)}, ${say("explorer.parameters", { count: whole(part.parameters) })}, ${percent(part.share)}`;

/**
 * Where a part stands in the figure.
 * @param {string} path
 */
function placed(path) {
  const layer = /^(encoder|decoder)\.blocks\.(\d+)$/.exec(path);
  if (layer) return `${layer[1]}.${layer[2]}`;
  return writePlace({ ...placeOf(path), tap: "" });
}
