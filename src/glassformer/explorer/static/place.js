// A place in the figure: a stack, a layer, a box, a tensor, a head. "encoder.0.self_attention.scores.head2" is one.
// Zoom is how near one looks: 1 model, 2 stack, 3 layer, 4 box (or head), 5 one number.

/**
 * @typedef {{stack: string, layer: number | null, box: string, tap: string, head: number | null}} Place
 */

export const LEVELS = /** @type {const} */ (["model", "stack", "layer", "box", "number"]);
const STACKS = ["encoder", "decoder"];
export const ATTENTION_TAPS = ["q", "k", "v", "scores", "mask", "weights", "heads", "output"];

/** @type {Place} */
export const WHOLE = { stack: "", layer: null, box: "", tap: "", head: null };

/**
 * @param {string} text
 * @returns {Place}
 */
export function readPlace(text) {
  const parts = text.split(".").filter(Boolean);
  const place = { ...WHOLE };
  if (STACKS.includes(parts[0] ?? "")) place.stack = /** @type {string} */ (parts.shift());
  if (place.stack && /^\d+$/.test(parts[0] ?? "")) place.layer = Number(parts.shift());
  const head = /^head(\d+)$/.exec(parts.at(-1) ?? "");
  if (head && parts.length > 1) {
    place.head = Number(head[1]);
    parts.pop();
  }
  place.box = parts.shift() ?? "";
  place.tap = parts.join(".");
  return place;
}

/**
 * @param {Place} place
 * @returns {string}
 */
export function writePlace({ stack, layer, box, tap, head }) {
  return [stack, layer ?? "", box, tap, head === null ? "" : `head${head}`].filter((part) => part !== "").join(".");
}

/**
 * How near one can look at a place.
 * @param {Place} place
 */
export function depthOf(place) {
  if (place.box) return 4;
  return place.layer !== null ? 3 : place.stack ? 2 : 1;
}

/**
 * What of a place is left when one looks from further away.
 * @param {Place} place
 * @param {number} level
 * @returns {Place}
 */
export function clip(place, level) {
  if (level >= 4) return place;
  const outside = { ...WHOLE, stack: level >= 2 ? place.stack : "" };
  return level === 3 ? { ...outside, layer: place.layer } : outside;
}

/**
 * Does the first place lie in the second (or is it the same)?
 * @param {Place} inner
 * @param {Place} outer
 */
export function lies(inner, outer) {
  return (
    (!outer.stack || inner.stack === outer.stack) &&
    (outer.layer === null || inner.layer === outer.layer) &&
    (!outer.box || (inner.box === outer.box && inner.stack === outer.stack)) &&
    (!outer.tap || inner.tap === outer.tap) &&
    (outer.head === null || inner.head === outer.head)
  );
}

/**
 * The place of a tensor, by its name in the trace: "encoder.blocks.0.self_attention.scores".
 * @param {string} name
 * @returns {Place}
 */
export function placeOf(name) {
  const found = /^(encoder|decoder)\.blocks\.(\d+)\.(.+)$/.exec(name);
  if (!found) return readPlace(name);
  const parts = /** @type {string} */ (found[3]).split(".");
  // a block's own taps (after_self_attention, output) are boxes of the figure: Add
  return { ...WHOLE, stack: String(found[1]), layer: Number(found[2]), box: parts[0] ?? "", tap: parts.slice(1).join(".") };
}
