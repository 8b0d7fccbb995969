// The figure's parts, read off the steps that ran: stacks, layers, boxes, and which tensors each box made.
// Nothing here knows a family of models: a box is there because its steps are.

import { lies, placeOf, readPlace, writePlace } from "./place.js";

/**
 * @typedef {import("./engine.js").About} About
 * @typedef {import("./engine.js").Step} Step
 * @typedef {{at: string, name: string, kind: string, steps: Step[]}} Box
 *   kind: attention, norm, add, add_norm, feed_forward, embedding, position, output, head
 * @typedef {{boxes: Box[], add: Box | null}} Group  boxes between two sums, and the sum that closes them
 * @typedef {{index: number, at: string, groups: Group[]}} Layer
 * @typedef {{name: string, embedding: Box | null, input: Box | null, layers: Layer[], output: Box | null}} Stack
 * @typedef {{stacks: Stack[], head: Box | null}} Plan
 */

const ADDS = ["after_self_attention", "after_cross_attention", "output"];

/**
 * @param {About} about
 * @returns {Plan}
 */
export function planOf(about) {
  /** @type {Map<string, Stack>} */
  const stacks = new Map();
  /** @type {Step[]} */
  const head = [];
  /** @type {Step[]} */
  const embeddings = [];
  for (const step of about.steps) {
    const place = placeOf(step.name);
    if (/^head\b/.test(step.name)) head.push(step);
    else if (!place.stack) embeddings.push(step);
    else {
      const stack = stacks.get(place.stack) ?? { name: place.stack, embedding: null, input: null, layers: [], output: null };
      stacks.set(place.stack, stack);
      if (place.layer !== null) putIntoLayer(stack, place.layer, step);
      else if (place.box === "input" && step.says !== "input_layer") stack.input = box(step, "position");
      else if (place.box === "output") stack.output = box(step, "output");
    }
  }
  const all = [...stacks.values()];
  embeddings.forEach((step, i) => {
    const stack = all[embeddings.length === 1 ? 0 : Math.min(i, all.length - 1)];
    if (stack) stack.embedding ??= box(step, "embedding");
  });
  return { stacks: all, head: head[0] ? { ...box(head[0], "head"), at: "head", steps: head } : null };
}

/**
 * @param {Stack} stack
 * @param {number} index
 * @param {Step} step
 */
function putIntoLayer(stack, index, step) {
  if (["input_layer", "stream"].includes(step.says)) return; // the same tensor as the output of the layer before
  let layer = stack.layers.find((one) => one.index === index);
  if (!layer) {
    layer = { index, at: `${stack.name}.${index}`, groups: [{ boxes: [], add: null }] };
    stack.layers.push(layer);
  }
  const place = placeOf(step.name);
  const group = /** @type {Group} */ (layer.groups.at(-1));
  if (!place.tap && ADDS.includes(place.box)) {
    group.add = box(step, step.says === "add_norm" ? "add_norm" : "add");
    if (place.box !== "output") layer.groups.push({ boxes: [], add: null });
    return;
  }
  const at = writePlace({ ...place, tap: "" });
  const known = group.boxes.find((one) => one.at === at);
  if (known) known.steps.push(step);
  else group.boxes.push({ ...box(step, kindOf(place.box)), at, name: place.box });
}

/** @param {string} name */
function kindOf(name) {
  if (name.endsWith("attention")) return "attention";
  return name.endsWith("norm") ? "norm" : name;
}

/**
 * @param {Step} step
 * @param {string} kind
 * @returns {Box}
 */
function box(step, kind) {
  return { at: writePlace(placeOf(step.name)), name: kind, kind, steps: [step] };
}

/**
 * All boxes of a plan, in the order of the pass.
 * @param {Plan} plan
 * @returns {Box[]}
 */
export function boxesOf(plan) {
  /** @type {(Box | null)[]} */
  const all = plan.stacks.flatMap((stack) => [
    stack.embedding,
    stack.input,
    ...stack.layers.flatMap((layer) => layer.groups.flatMap((group) => [...group.boxes, group.add])),
    stack.output,
  ]);
  return [...all, plan.head].filter((one) => one !== null);
}

/**
 * The box in which a place lies.
 * @param {Plan} plan
 * @param {import("./place.js").Place} place
 */
export const boxAt = (plan, place) => boxesOf(plan).find((one) => lies(place, readPlace(one.at)) && readPlace(one.at).layer === place.layer);

/**
 * Which tokens the rows of a tensor belong to; the columns of scores and weights belong to the keys.
 * @param {About} about
 * @param {string} name
 * @param {"rows" | "columns"} [axis]
 * @returns {"source" | "target"}
 */
export function sideOf(about, name, axis = "rows") {
  if (!about.tokens.target?.length) return "source";
  const fromDecoder = name.startsWith("decoder") || name.startsWith("head") || name.includes("#2") || name.startsWith("target");
  const ofMemory = /cross_attention\.(k|v)$/.test(name) || (axis === "columns" && name.includes("cross_attention"));
  return fromDecoder && !ofMemory ? "target" : "source";
}

/**
 * @param {About} about
 * @param {"source" | "target"} side
 * @returns {import("./engine.js").Token[]}
 */
export const tokensOf = (about, side) => about.tokens[side] ?? [];

/**
 * The name of a tensor by its place in the figure.
 * @param {import("./place.js").Place} place
 */
export function tensorName({ stack, layer, box: name, tap }) {
  const inside = layer === null ? [stack] : [stack, "blocks", layer];
  return [...inside, name, tap === "mask" ? "scores" : tap].filter((part) => part !== "").join(".");
}
