// The steps of the player, in the order of the pass: from the text to the choice. Some steps that ran are shown as one
// (Q, K, V), some as two (the sum and its norm), so that each shows one idea.

import { placeOf, readPlace, writePlace } from "../place.js";
import { planOf, sideOf } from "../plan.js";

/**
 * @typedef {import("../engine.js").About} About
 * @typedef {import("../engine.js").Step} Step
 * @typedef {import("../plan.js").Box} Box
 * @typedef {{at: string, kind: string, steps: Step[], box: Box | null, layer: number | null, stack: string}} Scene
 *   kind: text, pieces, embedding, position, qkv, scores, mask, weights, heads, concat, residual, norm, gate, hidden,
 *   network, output, pooled, logits, choice
 */

/**
 * @param {About} about
 * @param {(name: string) => boolean} masked  does this map of scores have a mask?
 * @returns {Scene[]}
 */
export function playlist(about, masked) {
  const plan = planOf(about);
  /** @type {Scene[]} */
  const scenes = [];
  plan.stacks.forEach((stack) => {
    const where = { stack: stack.name, layer: null };
    const side = sideOf(about, `${stack.name}.input`);
    const first = stack === plan.stacks[0];
    if (first) scenes.push({ at: "text", kind: "text", steps: [], box: null, ...where });
    if (first || side === "target") scenes.push({ at: first ? "pieces" : "pieces.target", kind: "pieces", steps: [], box: null, ...where });
    if (stack.embedding) scenes.push({ at: stack.embedding.at, kind: "embedding", steps: stack.embedding.steps, box: stack.embedding, ...where });
    if (stack.input) scenes.push({ at: stack.input.at, kind: "position", steps: stack.input.steps, box: stack.input, ...where });
    for (const layer of stack.layers) {
      for (const { boxes, add } of layer.groups) {
        const here = { stack: stack.name, layer: layer.index };
        for (const box of boxes) scenes.push(...inside(box, masked).map((scene) => ({ ...scene, ...here })));
        if (!add) continue;
        if (add.kind === "add_norm") scenes.push({ at: `${add.at}.sum`, kind: "residual", steps: add.steps, box: add, ...here });
        scenes.push({ at: add.at, kind: add.kind === "add_norm" ? "norm" : "residual", steps: add.steps, box: add, ...here });
      }
    }
    if (stack.output) scenes.push({ at: stack.output.at, kind: "output", steps: stack.output.steps, box: stack.output, ...where });
  });
  const head = plan.head;
  const nowhere = { stack: "", layer: null, box: head };
  for (const step of head?.steps ?? []) {
    const kind = /** @type {Record<string, string>} */ ({ logits: "logits", object_logits: "logits", pooled: "pooled" })[step.key] ?? "choice";
    scenes.push({ at: kind === "choice" ? "head.choice" : writePlace(placeOf(step.name)), kind, steps: [step], ...nowhere });
  }
  return scenes;
}

/**
 * @param {Box} box
 * @param {(name: string) => boolean} masked
 * @returns {Omit<Scene, "stack" | "layer">[]}
 */
function inside(box, masked) {
  const scene = (/** @type {string} */ kind, /** @type {Step[]} */ steps, tap = "") => ({
    at: tap ? `${box.at}.${tap}` : writePlace(placeOf(/** @type {Step} */ (steps[0]).name)),
    kind,
    steps,
    box,
  });
  if (box.kind === "norm") return [scene("norm", box.steps)];
  if (box.kind !== "attention") return box.steps.map((step) => scene(step.key, [step]));
  /** @type {ReturnType<typeof scene>[]} */
  const scenes = [];
  const threefold = box.steps.filter((step) => /\.(q|k|v)$/.test(step.name));
  if (threefold.length) scenes.push(scene("qkv", threefold));
  for (const step of box.steps.filter((one) => !threefold.includes(one))) {
    const kind = placeOf(step.name).tap;
    scenes.push(scene(kind === "output" ? "concat" : kind, [step]));
    if (kind === "scores" && masked(step.name)) scenes.push(scene("mask", [step], "mask"));
  }
  return scenes;
}

/**
 * The scene that shows a place: the very one, else the first that lies in it.
 * @param {Scene[]} scenes
 * @param {string} at
 */
export function sceneAt(scenes, at) {
  const wanted = writePlace({ ...readPlace(at), head: null });
  const exact = scenes.findIndex((scene) => scene.at === wanted);
  if (exact >= 0) return exact;
  const shared = scenes.findIndex((scene) => scene.steps.some((step) => writePlace(placeOf(step.name)) === wanted));
  if (shared >= 0) return shared;
  return Math.max(0, scenes.findIndex((scene) => wanted !== "" && `${scene.at}.`.startsWith(`${wanted}.`)));
}

/**
 * The lesson that explains a scene.
 * @param {Scene} scene
 * @param {About} about
 */
export function lessonOf(scene, about) {
  const decoding = scene.stack === "decoder";
  const cross = scene.at.includes("cross_attention");
  const patches = about.task.startsWith("image") || about.task.includes("object") ? "image_patches" : about.task === "forecasting" ? "stock_patches" : "";
  /** @type {Record<string, string>} */
  const lessons = {
    text: patches || "architecture",
    pieces: patches || "tokenizer",
    embedding: patches || "token_embedding",
    position: "positional_encoding",
    qkv: cross ? "transformer_attention" : "worked_example",
    scores: "scaled_scores",
    mask: decoding && !cross ? "look_ahead_mask" : "masking",
    weights: cross ? "transformer_attention" : "attention_patterns",
    heads: decoding ? "decoder_attention" : "encoder_attention",
    concat: "attention_patterns",
    residual: "residual",
    norm: "layer_norm",
    gate: "feed_forward",
    hidden: "feed_forward",
    network: "ffn_memory",
    output: decoding ? "decoder_contributions" : "encoder_contributions",
    pooled: "cls_or_sep",
    logits: patches || "generation",
    choice: patches || (about.task === "classification" ? "confusion_matrix" : "generation"),
  };
  return lessons[scene.kind] ?? "architecture";
}
