// A panel of the page as one drawing (SVG): areas, borders, texts, maps and drawings, each where it stands on the screen.

import { s } from "../dom.js";
import { inColour } from "./colour.js";
import { copyOf } from "./copy.js";
import { drawControl } from "./control.js";
import { drawText, round } from "./text.js";

const LEFT_OUT = ".player, .lesson, .guess, .guess-switch, .term-note, .take, [data-no-picture], script, style, template, [hidden]";
const MARGIN = 14;

/**
 * @typedef {{left: number, top: number, right: number, bottom: number}} Box
 */

/** One drawing while it grows: its parts, and how far they reach. */
class Painting {
  constructor() {
    this.reach = { left: Infinity, top: Infinity, right: -Infinity, bottom: -Infinity };
    this.clips = s("defs", {});
  }

  /**
   * @param {Element} parent
   * @param {Element} part
   * @param {Box} box
   */
  put(parent, part, box) {
    parent.append(part);
    if (parent.closest("[clip-path]")) return;
    const { reach } = this;
    this.reach = { left: Math.min(reach.left, box.left), top: Math.min(reach.top, box.top), right: Math.max(reach.right, box.right), bottom: Math.max(reach.bottom, box.bottom) };
  }

  /**
   * @param {Element} parent
   * @param {Box} box
   */
  clipped(parent, { left, top, right, bottom }) {
    const id = `clip-${this.clips.childElementCount + 1}`;
    this.clips.append(s("clipPath", { id }, s("rect", { x: round(left), y: round(top), width: round(right - left), height: round(bottom - top) })));
    const group = s("g", { "clip-path": `url(#${id})` });
    parent.append(group);
    return group;
  }
}

/**
 * @param {Element} panel
 * @param {string} title
 * @returns {{svg: SVGElement, width: number, height: number}}
 */
export function paint(panel, title) {
  const painting = new Painting();
  const parts = s("g", {});
  const inside = s("svg", {}, parts); // so that closest() ends here
  for (const child of panel.children) draw(painting, parts, child);
  const { left, top, right, bottom } = Number.isFinite(painting.reach.left) ? painting.reach : { left: 0, top: 0, right: 1, bottom: 1 };
  const [x, y] = [Math.floor(left) - MARGIN, Math.floor(top) - MARGIN];
  const [width, height] = [Math.ceil(right) + MARGIN - x, Math.ceil(bottom) + MARGIN - y];
  const paper = s("rect", { x, y, width, height, ...inColour(paperOf(panel)) });
  const svg = s("svg", { viewBox: `${x} ${y} ${width} ${height}`, width, height }, s("title", {}, title), painting.clips, paper, ...inside.childNodes);
  return { svg, width, height };
}

/**
 * The colour of what the panel stands on.
 * @param {Element} panel
 */
function paperOf(panel) {
  for (let at = /** @type {Element | null} */ (panel); at; at = at.parentElement) {
    const colour = getComputedStyle(at).backgroundColor;
    if (inColour(colour)) return colour;
  }
  return "#fff";
}

/**
 * @param {Painting} painting
 * @param {Element} parent
 * @param {Element} element
 */
function draw(painting, parent, element) {
  if (element.matches(LEFT_OUT)) return;
  const style = getComputedStyle(element);
  const box = element.getBoundingClientRect();
  if (style.display === "none" || style.opacity === "0") return;
  const faded = Number(style.opacity) < 1;
  const group = faded ? s("g", { opacity: style.opacity }) : parent;
  if (faded) parent.append(group);
  if (element instanceof SVGSVGElement) return drawing(painting, group, element, box);
  if (style.visibility === "visible" && box.width > 0 && box.height > 0) {
    area(painting, group, style, box);
    knob(painting, group, element, box);
    if (element instanceof HTMLCanvasElement) return picture(painting, group, element, box);
    if (drawControl(painting, group, element, box)) return;
  }
  const cut = ["hidden", "clip"].includes(style.overflowX) && (element.scrollWidth > element.clientWidth + 1 || element.scrollHeight > element.clientHeight + 1);
  const inner = cut && box.width > 0 ? painting.clipped(group, box) : group;
  for (const child of element.childNodes) {
    if (child instanceof Element) draw(painting, inner, child);
    else if (child instanceof Text && style.visibility === "visible") for (const line of drawText(child)) painting.put(inner, line.element, line.box);
  }
}

/**
 * Ground, bar and border of an element.
 * @param {Painting} painting
 * @param {Element} parent
 * @param {CSSStyleDeclaration} style
 * @param {DOMRect} box
 */
function area(painting, parent, style, box) {
  const radius = Math.min(parseFloat(style.borderTopLeftRadius) || 0, box.width / 2, box.height / 2);
  const rect = (/** @type {Record<string, any>} */ given, wide = box.width) => s("rect", { x: round(box.left), y: round(box.top), width: round(wide), height: round(box.height), ...(radius ? { rx: round(Math.min(radius, wide / 2)) } : {}), ...given });
  const ground = inColour(style.backgroundColor);
  if (ground) painting.put(parent, rect(ground), box);
  // a bar: one colour as far as its share goes, then another
  const bar = /^linear-gradient\(to right, (.+) (?:calc\()?(-?[\d.]+)%\)?, (.+) 0(?:px|%)?\)$/.exec(style.backgroundImage);
  if (bar) {
    const [from, to] = [inColour(String(bar[1])), inColour(String(bar[3]))];
    const wide = Math.max(0, Math.min(1, Number(bar[2]) / 100)) * box.width;
    if (to) painting.put(parent, rect(to), box);
    if (from && wide > 0) painting.put(parent, rect(from, wide), box);
  }
  border(painting, parent, style, box, radius);
}

/**
 * What the style sheet puts onto an element: the knob of a switch.
 * @param {Painting} painting
 * @param {Element} parent
 * @param {Element} element
 * @param {DOMRect} box
 */
function knob(painting, parent, element, box) {
  const style = getComputedStyle(element, "::after");
  const ground = style.content !== "none" && style.position === "absolute" && inColour(style.backgroundColor);
  if (!ground) return;
  const [width, height] = [parseFloat(style.width), parseFloat(style.height)];
  const place = { x: round(box.left + parseFloat(style.left)), y: round(box.top + parseFloat(style.top)), width, height };
  painting.put(parent, s("rect", { ...place, rx: style.borderTopLeftRadius.endsWith("%") ? width / 2 : 0, ...ground }), box);
}

/**
 * @param {Painting} painting
 * @param {Element} parent
 * @param {CSSStyleDeclaration} style
 * @param {DOMRect} box
 * @param {number} radius
 */
function border(painting, parent, style, box, radius) {
  const sides = /** @type {const} */ (["top", "right", "bottom", "left"]).map((side) => ({
    side,
    wide: style.getPropertyValue(`border-${side}-style`) === "none" ? 0 : parseFloat(style.getPropertyValue(`border-${side}-width`)),
    colour: style.getPropertyValue(`border-${side}-color`),
    dashed: ["dashed", "dotted"].includes(style.getPropertyValue(`border-${side}-style`)),
  }));
  const [first] = sides;
  const lines = (/** @type {number} */ wide, /** @type {boolean} */ dashed) => ({ "stroke-width": wide, ...(dashed ? { "stroke-dasharray": `${3 * wide} ${2 * wide}` } : {}) });
  if (first && sides.every(({ wide, colour }) => wide === first.wide && colour === first.colour)) {
    const stroke = first.wide > 0 && inColour(first.colour, "stroke");
    const half = first.wide / 2;
    if (stroke) painting.put(parent, s("rect", { x: round(box.left + half), y: round(box.top + half), width: round(box.width - first.wide), height: round(box.height - first.wide), rx: round(Math.max(0, radius - half)), fill: "none", ...stroke, ...lines(first.wide, first.dashed) }), box);
    return;
  }
  for (const { side, wide, colour, dashed } of sides) {
    const stroke = wide > 0 && inColour(colour, "stroke");
    if (!stroke) continue;
    const at = { top: box.top + wide / 2, bottom: box.bottom - wide / 2, left: box.left + wide / 2, right: box.right - wide / 2 }[side];
    const ends = side === "top" || side === "bottom" ? { x1: box.left, y1: at, x2: box.right, y2: at } : { x1: at, y1: box.top, x2: at, y2: box.bottom };
    painting.put(parent, s("line", { ...Object.fromEntries(Object.entries(ends).map(([key, value]) => [key, round(value)])), ...stroke, ...lines(wide, dashed) }), box);
  }
}

/**
 * A map: its own pixels, enlarged without being blurred.
 * @param {Painting} painting
 * @param {Element} parent
 * @param {HTMLCanvasElement} canvas
 * @param {DOMRect} box
 */
function picture(painting, parent, canvas, box) {
  if (!canvas.width || !canvas.height) return;
  const place = { x: round(box.left + canvas.clientLeft), y: round(box.top + canvas.clientTop), width: round(canvas.clientWidth), height: round(canvas.clientHeight) };
  const pixelated = getComputedStyle(canvas).imageRendering === "pixelated";
  painting.put(parent, s("image", { ...place, preserveAspectRatio: "none", href: canvas.toDataURL("image/png"), ...(pixelated ? { style: { "image-rendering": "pixelated" } } : {}) }), box);
}

/**
 * @param {Painting} painting
 * @param {Element} parent
 * @param {SVGSVGElement} element
 * @param {DOMRect} box
 */
function drawing(painting, parent, element, box) {
  /** @type {Element[]} */
  const foreign = [];
  const copy = copyOf(element, (inner) => foreign.push(inner));
  if (!copy || !box.width || !box.height) return;
  for (const [name, value] of Object.entries({ x: box.left, y: box.top, width: box.width, height: box.height })) copy.setAttribute(name, String(round(value)));
  copy.setAttribute("overflow", "visible");
  painting.put(parent, copy, box);
  for (const inner of foreign) for (const child of inner.children) draw(painting, parent, child);
}
