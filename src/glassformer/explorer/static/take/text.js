// A text of the page as lines of a drawing: each where it stands, in its font, as wide as it is on the screen.

import { s } from "../dom.js";
import { inColour } from "./colour.js";

const context = /** @type {CanvasRenderingContext2D} */ (document.createElement("canvas").getContext("2d"));

/**
 * @typedef {{text: string, left: number, top: number, right: number, bottom: number}} Line
 */

/**
 * The lines of a text as they were broken.
 * @param {Text} node
 * @returns {Line[]}
 */
function linesOf(node) {
  const range = document.createRange();
  /** @type {Line[]} */
  const lines = [];
  let at = 0;
  for (const letter of node.data) {
    range.setStart(node, at);
    range.setEnd(node, (at += letter.length));
    const box = [...range.getClientRects()].find(({ width, height }) => width > 0 && height > 0);
    if (!box) continue;
    const last = lines.at(-1);
    const same = last && (Math.abs(box.top - last.top) < 2 || (box.left < last.right && box.right > last.left && box.top >= last.bottom - 2 && vertical(node)));
    if (last && same) {
      last.text += /\s/.test(letter) ? " " : letter;
      last.right = Math.max(last.right, box.right);
      last.bottom = Math.max(last.bottom, box.bottom);
    } else lines.push({ text: letter, left: box.left, top: box.top, right: box.right, bottom: box.bottom });
  }
  return lines.filter(({ text }) => text.trim());
}

const vertical = (/** @type {Text} */ node) => getComputedStyle(/** @type {Element} */ (node.parentElement)).writingMode.startsWith("vertical");

/**
 * @param {Text} node
 * @returns {{element: SVGElement, box: Line}[]}
 */
export function drawText(node) {
  if (!node.data.trim()) return [];
  const style = getComputedStyle(/** @type {Element} */ (node.parentElement));
  const colour = inColour(style.color);
  if (!colour) return [];
  const font = { "font-family": style.fontFamily.replace(/"/g, "'"), "font-size": parseFloat(style.fontSize), "font-weight": style.fontWeight, ...(style.fontStyle === "normal" ? {} : { "font-style": style.fontStyle }) };
  context.font = `${style.fontStyle} ${style.fontWeight} ${style.fontSize} ${style.fontFamily}`;
  const { fontBoundingBoxAscent: above, fontBoundingBoxDescent: below } = context.measureText("x");
  const upright = vertical(node);
  const struck = style.textDecorationLine.includes("line-through") ? { "text-decoration": "line-through" } : {};
  return linesOf(node).map((line) => {
    const width = line.right - line.left;
    const baseline = line.top + (line.bottom - line.top - above - below) / 2 + above;
    const place = upright
      ? { x: round((line.left + line.right) / 2), y: round(line.top), "writing-mode": "vertical-rl", "dominant-baseline": "central" }
      : { x: round(line.left), y: round(baseline), textLength: round(width), lengthAdjust: "spacingAndGlyphs" };
    return { element: s("text", { ...place, ...font, ...colour, ...struck, "xml:space": "preserve" }, line.text.replace(/\s+$/, upright ? "" : "$&")), box: line };
  });
}

/** @param {number} value */
export const round = (value) => Number(value.toFixed(2));
