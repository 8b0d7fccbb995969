// The name of a box, made to fit: in one line if it can be, else in smaller letters or in more lines.

import { s } from "../dom.js";

const LEADING = 1.18; // from line to line, in letters' heights
const EDGE = 5; // free on each side
const WAYS = /** @type {const} */ ([[13, 1], [12, 1], [13, 2], [12, 2], [11, 1], [11, 2], [12, 3], [11, 3], [10, 3]]); // letters, lines

/** @type {CanvasRenderingContext2D | null} */
let pen = null;
/** @type {Map<string, number>} */
const known = new Map();

/**
 * How wide a text is.
 * @param {string} text
 * @param {number} size
 * @param {number} [weight]
 */
export function wide(text, size, weight = 600) {
  const key = `${size} ${weight} ${text}`;
  let width = known.get(key);
  if (width === undefined) {
    pen ??= /** @type {CanvasRenderingContext2D} */ (document.createElement("canvas").getContext("2d"));
    pen.font = `${weight} ${size}px ${getComputedStyle(document.body).fontFamily}`;
    width = pen.measureText(text).width;
    known.set(key, width);
  }
  return width;
}

/**
 * A text of words in at most so many lines, the longest line as short as can be.
 * @param {string[]} words
 * @param {number} count
 * @param {number} size
 * @returns {string[]}
 */
function split(words, count, size) {
  if (count === 1 || words.length === 1) return [words.join(" ")];
  let best = [words.join(" ")];
  const widest = (/** @type {string[]} */ lines) => Math.max(...lines.map((line) => wide(line, size)));
  for (let cut = 1; cut < words.length; cut += 1) {
    const lines = [words.slice(0, cut).join(" "), ...split(words.slice(cut), count - 1, size)];
    if (widest(lines) < widest(best)) best = lines;
  }
  return best;
}

/**
 * @param {string} label
 * @param {{x: number, y: number, width: number, height: number}} where  the middle, and the room around it
 * @returns {SVGElement}
 */
export function fitted(label, { x, y, width, height }) {
  let [size, lines] = [9, [label]];
  for (const [letters, count] of WAYS) {
    const tried = split(label.split(" "), count, letters);
    if (tried.length * letters * LEADING > height || tried.some((line) => wide(line, letters) > width - 2 * EDGE)) continue;
    [size, lines] = [letters, tried];
    break;
  }
  const leading = size * LEADING;
  const first = y - ((lines.length - 1) * leading) / 2;
  const text = s("text", { x, y, class: "label", style: { "font-size": `${size}px` } });
  if (lines.length === 1) text.textContent = label;
  else text.append(...lines.map((line, i) => s("tspan", { x, y: first + i * leading }, line)));
  return text;
}
