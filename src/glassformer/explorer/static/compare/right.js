// The right-hand question: what the address says about it, and what stands in for what it does not say.
//   with=MODEL  with_checkpoint  with_text or with_example  with_target=left  with_edits  with_position=alibi  with_at=encoder.0.self_attention.head1

import { readEdits, writeEdits } from "../edits.js";
import { readPlace } from "../place.js";

/**
 * @typedef {import("../app.js").App} App
 * @typedef {import("../engine.js").Model} Model
 * @typedef {import("../engine.js").Edit} Edit
 * @typedef {{model: Model, checkpoint: string, text: string, example: number, edits: Edit[], position: string, input: any}} Right
 */

const UNTRAINED = ["none", "sinusoidal", "rotary", "alibi"]; // positions without numbers of their own: any weights can do with them

/**
 * The models that read the same kind of input.
 * @param {App} app
 */
export const choices = (app) => app.models.value.filter((one) => one.input && one.input === app.model.value?.input);

/**
 * The kinds of position that the weights of a model can be given; the first is its own.
 * @param {Model} model
 */
export const positionsOf = (model) => [...new Set([String(model.sizes["position"]), ...UNTRAINED])];

/**
 * @param {App} app
 * @returns {Right | null}
 */
export function rightOf(app) {
  const run = app.run.value;
  const left = app.model.value;
  if (!run || !left || run.about.model !== left.name) return null;
  const model = choices(app).find((one) => one.name === app.field("with").value) ?? left;
  const asked = app.field("with_checkpoint").value;
  const checkpoint = model.checkpoints.map(String).includes(asked) ? asked : model === left ? app.checkpoint.value : "";
  const edits = readEdits(app.field("with_edits").value);
  const [own = "", ...kinds] = positionsOf(model);
  const position = kinds.find((kind) => kind === app.field("with_position").value) ?? own;
  // with nothing else to compare, the right reads something else
  const other = model !== left || checkpoint !== app.checkpoint.value || position !== own || writeEdits(edits) !== writeEdits(run.question.edits ?? []);
  const text = app.field("with_text").value || textFor(app, left, model, other);
  const example = exampleFor(app, model, other);
  return { model, checkpoint, text, example, edits, position, input: inputOf(app, model, text, example, other) };
}

/**
 * The sentence without its last word but one: what does a single word change? A gap is no word.
 * @param {string} text
 */
const shortened = (text) => text.replace(/^(.*\S) (?!_|\[)\S+ (\S+)$/, "$1 $2");

/**
 * The left's text if the model reads its language; its translation, if it reads that; else an example of its own.
 * @param {App} app
 * @param {Model} left
 * @param {Model} model
 * @param {boolean} other
 */
function textFor(app, left, model, other) {
  const run = app.run.value;
  const now = String(run?.question.input.text ?? "");
  const examples = model.examples.map((one) => String(one.text ?? ""));
  if (!other) return [shortened(now), ...examples].find((one) => one !== now) ?? now;
  if (model.source_language === left.source_language) return now;
  const said = run?.about.output["text"];
  return (model.source_language === left.target_language && said) || examples[0] || now;
}

/**
 * @param {App} app
 * @param {Model} model
 * @param {boolean} other
 */
function exampleFor(app, model, other) {
  const chosen = app.field("with_example").value;
  const now = Number(app.run.value?.question.input.example ?? 0);
  const wanted = chosen === "" ? (other ? now : now + 1) : Number(chosen) || 0;
  return wanted % Math.max(1, model.examples.length);
}

/**
 * @param {App} app
 * @param {Model} model
 * @param {string} text
 * @param {number} example
 * @param {boolean} other
 */
function inputOf(app, model, text, example, other) {
  const run = app.run.value;
  if (model.input === "tokens") {
    const said = String(run?.about.input["target"] ?? "");
    return model.task === "translation" && app.field("with_target").value === "left" && said ? { text, target: said } : { text };
  }
  const drawn = run?.question.input.example === undefined; // an input of one's own is read by the right as well
  return drawn && other && app.field("with_example").value === "" && model === app.model.value ? run?.question.input : { example };
}

/**
 * The body of /api/compare.
 * @param {App} app
 * @param {Right} right
 * @param {string} attention  that of the left
 */
export function bodyOf(app, right, attention) {
  const { model, checkpoint, input, edits } = /** @type {import("../engine.js").Run} */ (app.run.value).question;
  const at = readPlace(app.field("with_at").value);
  const chosen = at.layer === null ? {} : { attention: `${at.stack}.blocks.${at.layer}.${at.box}`, ...(at.head === null ? {} : { head: at.head }) };
  const heads = Number(app.model.value?.sizes["n_heads"] ?? 1);
  return {
    a: { model, ...(checkpoint ? { checkpoint } : {}), input, edits: edits ?? [], attention, head: Math.min(app.head.value, heads - 1) },
    b: { model: right.model.name, ...(right.checkpoint ? { checkpoint: right.checkpoint } : {}), position: right.position, input: right.input, edits: right.edits, ...chosen },
  };
}
