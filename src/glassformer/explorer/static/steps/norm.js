// The norm of one token, number by number: its mean and deviation, then scale and shift, which the model has learned.

import { h } from "../dom.js";
import { ask } from "../engine.js";
import { signal } from "../signal.js";
import { number, say } from "../words.js";
import { received, rowOf, rowStrip, streamBefore } from "./scenes.js";
import { reach } from "../heat.js";
import { strip } from "../strip.js";

/** @typedef {{kind: string, eps: number, scale: number[], shift: number[] | null}} NormWeights */

/** @type {Map<string, import("../signal.js").Signal<NormWeights | null>>} */
const known = new Map();

/**
 * @param {import("../app.js").App} app
 * @param {string} name  of the norm: "encoder.blocks.0.self_attention_norm"
 */
function weightsOf(app, name) {
  const query = new URLSearchParams({ model: app.field("model").peek(), checkpoint: app.checkpoint.peek(), name });
  const key = String(query);
  let found = known.get(key);
  if (!found) {
    found = signal(/** @type {NormWeights | null} */ (null));
    known.set(key, found);
    const mine = found;
    ask(`/api/norm?${query}`).then(async (answer) => (mine.value = await answer.json()), () => {});
  }
  return found.value;
}

/**
 * What the norm read: before a sub-layer the stream, after it the sum.
 * @param {import("./scenes.js").Given} given
 * @returns {{values: ArrayLike<number>, row: number} | null}
 */
function readBy(given) {
  const name = given.scene.steps[0]?.name ?? "";
  if (given.scene.box?.kind === "add_norm") {
    const [before, more] = [rowOf(given, streamBefore(given) ?? ""), rowOf(given, received(given))];
    return before && more ? { row: before.row, values: Float32Array.from(before.values, (value, i) => value + Number(more.values[i])) } : null;
  }
  const base = `${given.scene.stack}.blocks.${given.scene.layer}`;
  const first = given.scene.layer ? `${given.scene.stack}.blocks.${given.scene.layer - 1}.output` : `${given.scene.stack}.input`;
  const known = (/** @type {string} */ one) => given.about.steps.some((step) => step.name === one);
  if (name.includes("cross_attention_norm")) return rowOf(given, `${base}.after_self_attention`);
  if (!name.includes("feed_forward_norm")) return rowOf(given, first);
  return rowOf(given, [`${base}.after_cross_attention`, `${base}.after_self_attention`].find(known) ?? first);
}

/**
 * @param {import("./scenes.js").Given} given
 * @returns {(Node | null)[]}
 */
export function normScene(given) {
  const name = given.scene.steps[0]?.name ?? "";
  const path = given.scene.box?.kind === "add_norm" ? name.replace(/after_(\w+)$/, "$1_norm").replace(/(\d+)\.output$/, "$1.feed_forward_norm") : name.replace(/\.output$/, "");
  const input = readBy(given);
  const weights = weightsOf(given.app, path);
  if (!input) return [rowStrip(given, name, { symbol: "n" })];
  const values = Array.from(input.values);
  const rms = weights?.kind === "rms";
  const mean = rms ? 0 : values.reduce((sum, value) => sum + value, 0) / values.length;
  const variance = values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / values.length;
  const deviation = Math.sqrt(variance + (weights?.eps ?? 1e-5));
  const hat = Float32Array.from(values, (value) => (value - mean) / deviation);
  const fact = (/** @type {string} */ key, /** @type {number} */ value) => h("div", { class: "fact", "data-fact": key }, h("dt", {}, say(`explorer.${key}`)), h("dd", {}, number(value, 4)));
  return [
    strip(given.owner, given.app, { symbol: "x", values: input.values, most: reach(input.values), row: input.row }),
    h("dl", { class: "facts" }, rms ? null : fact("mean", mean), fact(rms ? "root_mean_square" : "deviation", deviation)),
    strip(given.owner, given.app, { symbol: rms ? "x / rms" : "(x − μ) / σ", values: hat, most: reach(hat) }),
    weights ? strip(given.owner, given.app, { symbol: "γ", note: say("explorer.scale"), values: weights.scale, most: reach(weights.scale), data: `${path}.scale` }) : null,
    weights?.shift ? strip(given.owner, given.app, { symbol: "β", note: say("explorer.shift"), values: weights.shift, most: reach(weights.shift), data: `${path}.shift` }) : null,
    h("div", { class: "sign", "aria-hidden": "true" }, weights?.shift ? "γ ⊙ … + β =" : "γ ⊙ … ="),
    rowStrip(given, name, { symbol: "n" }),
  ];
}
