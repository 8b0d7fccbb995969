// What every checkpoint answers, and its attention, asked from the server one after the other.

import { Refused, run as ask } from "../engine.js";
import { chosenAttention } from "../interfere/paint.js";
import { signal } from "../signal.js";

/**
 * @typedef {import("../app.js").App} App
 * @typedef {import("../engine.js").About} About
 * @typedef {import("../safetensors.js").Tensor} Tensor
 * @typedef {{about: About | null, error: string}} Answer
 * @typedef {{about: About, tensor: Tensor | null}} AMap
 * @typedef {{of: string, answers: Map<number, Answer>, maps: Map<string, AMap>}} Found  `of`: the question
 */

const AT_ONCE = 4e6; // parameters: a smaller model is asked without being told to

/**
 * @param {import("../signal.js").Owner} owner
 * @param {App} app
 * @param {import("../signal.js").Signal<import("./life.js").Life>} life
 */
export function makeAnswers(owner, app, life) {
  const found = signal(/** @type {Found} */ ({ of: "", answers: new Map(), maps: new Map() }));
  const allowed = signal(false);
  /** The question without its checkpoint: the same for all of them. */
  const asked = owner.computed(() => {
    const question = app.run.value?.question;
    return question ? JSON.stringify({ model: question.model, input: question.input, edits: question.edits ?? [] }) : "";
  });
  /** The attention whose maps are compared. */
  const weights = owner.computed(() => {
    const about = app.run.value?.about;
    const name = about ? chosenAttention(app, about) : "";
    return name && `${name}.weights`;
  });
  let stop = new AbortController();
  let working = false;
  owner.own(() => stop.abort());
  owner.effect(() => {
    allowed.value = (app.model.value?.parameters ?? 0) < AT_ONCE;
  });
  owner.effect(() => {
    stop.abort();
    stop = new AbortController();
    found.value = { of: asked.value, answers: new Map(), maps: new Map() };
  });
  owner.effect(() => {
    void [asked.value, weights.value, life.value.checkpoints];
    if (allowed.value) work();
  });

  async function work() {
    if (working) return;
    working = true;
    for (let step = missing(); step !== undefined && !stop.signal.aborted; step = missing()) await look(step);
    working = false;
  }

  /** The newest checkpoint first, since the maps of all of them read its translation; then from the oldest on. */
  function missing() {
    const { of, answers } = found.peek();
    const steps = life.peek().checkpoints;
    if (!of || JSON.parse(of).model !== app.model.peek()?.name) return undefined;
    return [...steps.slice(-1), ...steps].find((step) => {
      const answer = answers.get(step);
      return !answer || (!answer.error && weights.peek() && !mapOf(step));
    });
  }

  /** What a decoder reads in every map, so that their rows are the same: the translation of the newest checkpoint. */
  function target() {
    const newest = life.peek().checkpoints.at(-1);
    const own = found.peek().of ? JSON.parse(found.peek().of).input.target : undefined;
    return own ?? found.peek().answers.get(newest ?? -1)?.about?.input["target"] ?? "";
  }

  const keyOf = (/** @type {number} */ step) => `${weights.peek()} ${step} ${target()}`;
  /** @param {number} step */
  const mapOf = (step) => found.value.maps.get(keyOf(step));

  /** @param {number} step */
  async function look(step) {
    const { of } = found.peek();
    const { input, ...rest } = JSON.parse(of);
    const question = { ...rest, checkpoint: String(step) };
    const how = { signal: stop.signal, lang: app.lang.peek() };
    const named = weights.peek();
    const wanted = named ? [named] : [];
    /** @param {string} kind @param {number | string} key @param {any} value */
    const keep = (kind, key, value) => {
      const now = found.peek();
      if (now.of === of) found.value = { ...now, [kind]: new Map(/** @type {any} */ (now)[kind]).set(key, value) };
    };
    try {
      const translates = app.model.peek()?.task === "translation";
      if (translates && !found.peek().answers.has(step)) {
        const { about } = await ask({ ...question, input: { text: input.text }, wanted: [] }, how);
        keep("answers", step, { about, error: "" });
      }
      const key = keyOf(step);
      const { about, tensors } = await ask({ ...question, input: translates ? { text: input.text, target: target() } : input, wanted }, how);
      if (!translates) keep("answers", step, { about, error: "" });
      keep("maps", key, { about, tensor: tensors.get(named) ?? null });
    } catch (error) {
      if (how.signal.aborted) return;
      keep("answers", step, { about: null, error: /** @type {Error} */ (error).message });
      if (!(error instanceof Refused)) stop.abort(); // nobody answers
    }
  }

  return { found, weights, allowed, mapOf };
}
