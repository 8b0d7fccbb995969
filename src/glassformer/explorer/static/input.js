// The input: a text and Enter, or what its family asks for. Enter while a syllable is being composed does nothing.

import { h, put } from "./dom.js";
import { makeFamily } from "./families/panel.js";
import { saidBy } from "./figure/model.js";
import { forgetChosen } from "./lab/ask.js";
import { say } from "./words.js";

/** @typedef {import("./app.js").App} App */

export const LONGEST = 100_000; // characters: what is pasted is refused in words by the server, not cut here; an address holds no more

/**
 * @param {import("./signal.js").Owner} owner
 * @param {App} app
 * @returns {HTMLElement}
 */
export function makeInput(owner, app) {
  const box = /** @type {HTMLInputElement} */ (h("input", { type: "text", id: "text", "data-needs": "model", autocomplete: "off", spellcheck: "false", maxlength: LONGEST }));
  const go = h("button", { type: "submit", class: "go", id: "go", "data-needs": "model" });
  const form = h("form", { class: "ask" }, box, go);
  const examples = h("div", { class: "examples", role: "group", "data-needs": "model" });
  const answer = h("p", { class: "answer", role: "status", id: "answer" });
  const error = h("p", { class: "error", role: "alert", hidden: true });
  const panel = h("section", { class: "input" }, form, examples, makeFamily(owner, app), answer, error);

  const start = () => {
    app.field("text").value = box.value;
    app.field("target").value = "";
    app.field("masked").value = "";
    forgetChosen(app);
    app.submit();
  };
  owner.listen(form, "submit", (event) => {
    event.preventDefault();
    start();
  });
  // a form submits on Enter by itself; while a syllable is being composed it must not
  owner.listen(box, "keydown", (/** @type {KeyboardEvent} */ event) => {
    if (event.key === "Enter" && (event.isComposing || event.keyCode === 229)) event.preventDefault();
  });

  let shown = "";
  owner.effect(() => {
    const model = app.model.value;
    if (!model) return;
    const key = `${model.name} ${app.checkpoint.value}`;
    if (key !== shown) {
      shown = key;
      const first = model.examples[0];
      if (model.input === "tokens" && !app.field("text").peek()) app.field("text").value = String(first?.text ?? "");
      queueMicrotask(() => app.refresh());
    }
  });
  owner.effect(() => {
    const text = app.field("text").value;
    if (text !== box.value) box.value = text;
  });
  owner.listen(window, "popstate", () => app.refresh());
  owner.effect(() => {
    const words = app.model.value?.input === "tokens";
    form.hidden = !words;
    panel.setAttribute("aria-label", say("explorer.input"));
    box.setAttribute("aria-label", say("explorer.input"));
    box.placeholder = say("explorer.placeholder");
    box.lang = app.model.value?.source_language ?? "";
    go.textContent = say("explorer.run");
    examples.setAttribute("aria-label", say("explorer.examples"));
    examples.hidden = !words;
    examples.replaceChildren(...chips(app, start, box));
  });
  owner.effect(() => {
    panel.classList.toggle("busy", app.busy.value);
    panel.setAttribute("aria-busy", String(app.busy.value));
    error.hidden = !app.error.value;
    error.textContent = app.error.value;
  });
  owner.effect(() => {
    const run = app.run.value;
    const asked = (run?.question.checkpoint ?? "") === app.checkpoint.value; // not the answer of another checkpoint
    answer.replaceChildren();
    if (run && asked && !atInput(run.about)) put(answer, ...result(run.about));
    if (run && asked) put(answer, changesOf(app, run));
    answer.classList.toggle("elsewhere", Boolean(run) && !answer.childElementCount);
  });
  return panel;
}

/**
 * @param {App} app
 * @param {() => void} start
 * @param {HTMLInputElement} box
 */
function chips(app, start, box) {
  const model = app.model.value;
  return (model?.input === "tokens" ? model.examples : []).map((example) => {
    const text = String(example.text ?? "");
    const write = () => {
      box.value = text;
      start();
    };
    return h("button", { type: "button", class: "example", onclick: write, lang: model?.source_language ?? null }, text);
  });
}

/**
 * Is the answer shown where the input is?
 * @param {import("./engine.js").About} about
 */
const atInput = ({ task, output }) => task === "masked_language_model" || output["numbers"] || output["objects"];

/**
 * Is something changed? A translation is the one that was written before, which the decoder goes on reading.
 * @param {App} app
 * @param {import("./engine.js").Run} run
 */
function changesOf(app, { question, about }) {
  const count = question.edits?.length ?? 0;
  const key = about.task === "translation" ? "explorer.interfere.before_changes" : "explorer.interfere.with_changes";
  return count > 0 && h("button", { type: "button", class: "pill changed", id: "changed", onclick: () => (app.view.value = "interfere") }, say(key, { count }));
}

/**
 * What the model answered, in a line.
 * @param {import("./engine.js").About} about
 */
export function result(about) {
  const { text, classes, numbers } = about.output;
  if (typeof text === "string" && text) return [h("span", { class: "arrow", "aria-hidden": "true" }, "→"), h("strong", {}, text)];
  const said = saidBy(about);
  if (Array.isArray(classes) && said[0]) {
    const best = [...classes].sort((a, b) => b.p - a.p)[0];
    return [h("span", { class: "arrow", "aria-hidden": "true" }, "→"), h("strong", {}, said[0].piece), h("span", { class: "quiet" }, `${(best.p * 100).toFixed(1)}%`)];
  }
  if (Array.isArray(numbers)) return [h("span", { class: "arrow", "aria-hidden": "true" }, "→"), h("strong", {}, numbers.slice(0, 6).map((/** @type {number} */ one) => one.toFixed(2)).join("  ")), numbers.length > 6 && h("span", { class: "quiet" }, "…")];
  return said.length ? [h("span", { class: "arrow", "aria-hidden": "true" }, "→"), h("strong", {}, said.at(-1)?.piece ?? "")] : [];
}
