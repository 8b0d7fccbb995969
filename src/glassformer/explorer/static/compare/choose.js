// What the left is, and what is chosen for the right: model, checkpoint, text or example, and what is changed in it.

import { h, put } from "../dom.js";
import { writeEdits } from "../edits.js";
import { LONGEST } from "../input.js";
import { say } from "../words.js";
import { choices, positionsOf, rightOf } from "./right.js";

/**
 * @typedef {import("../signal.js").Owner} Owner
 * @typedef {import("../app.js").App} App
 * @typedef {import("../engine.js").Model} Model
 */

/**
 * @param {Owner} owner
 * @param {App} app
 * @returns {HTMLElement}
 */
export function chooser(owner, app) {
  return h("div", { class: "compare-sides" }, leftSide(owner, app), rightSide(owner, app));
}

/**
 * @param {Owner} owner
 * @param {App} app
 */
function leftSide(owner, app) {
  const told = h("div", { class: "compare-told" });
  owner.effect(() => {
    const run = app.run.value;
    if (!run) return;
    const { text, example } = run.question.input;
    const changes = run.question.edits?.length ?? 0;
    told.replaceChildren(h("p", {}, h("b", {}, run.about.model), h("span", { class: "quiet" }, ` · ${run.about.checkpoint}`)));
    put(told, h("p", { class: "compare-text" }, text ?? (example === undefined ? say("explorer.compare.own_input") : exampleName(app.model.value, example))), changes > 0 && h("p", { class: "quiet" }, say("explorer.compare.left_changes", { count: changes })));
  });
  return h("section", {}, h("h3", {}, say("explorer.compare.left")), told);
}

/**
 * @param {Owner} owner
 * @param {App} app
 */
function rightSide(owner, app) {
  const models = picker("with", say("explorer.model"), (value) => (app.field("with").value = value));
  const checkpoints = picker("with-checkpoint", say("explorer.compare.checkpoint"), (value) => (app.field("with_checkpoint").value = value));
  const positions = picker("with-position", say("explorer.compare.position.choose"), (value) => (app.field("with_position").value = value));
  owner.listen(models, "change", () => forget(app, "with_checkpoint", "with_position", "with_text", "with_example", "with_edits", "with_target", "with_at"));
  owner.effect(() => {
    const right = rightOf(app);
    if (!right) return;
    const { model, checkpoint } = right;
    const same = model === app.model.value;
    models.replaceChildren(...choices(app).map((one) => h("option", { value: one === app.model.value ? "" : one.name }, one === app.model.value ? say("explorer.compare.same_model", { model: one.name }) : one.name)));
    models.value = same ? "" : model.name;
    checkpoints.replaceChildren(h("option", { value: "" }, say(same ? "explorer.compare.as_left" : "explorer.compare.usual")), ...model.checkpoints.map((one) => h("option", { value: one }, String(one))));
    checkpoints.value = checkpoint === app.checkpoint.value && same ? "" : checkpoint;
    checkpoints.hidden = model.checkpoints.length < 2;
    const [own = "", ...others] = positionsOf(model);
    const kind = (/** @type {string} */ one) => say(`explorer.compare.kind.${one}`);
    positions.replaceChildren(h("option", { value: "" }, say("explorer.compare.position.trained", { kind: kind(own) })), ...others.map((one) => h("option", { value: one }, say("explorer.compare.position.other", { kind: kind(one) }))));
    positions.value = right.position === own ? "" : right.position;
  });
  const input = h("div", { class: "compare-input" });
  const model = owner.computed(() => rightOf(app)?.model ?? null);
  owner.effect((inner) => {
    if (model.value) input.replaceChildren(...(model.value.input === "tokens" ? textBox(inner, app, model.value) : examples(inner, app, model.value)));
  });
  return h("section", {}, h("h3", {}, say("explorer.compare.right")), h("div", { class: "compare-picks" }, models, checkpoints, positions), input, switches(owner, app, model));
}

/**
 * A text of one's own; Enter while a syllable is being composed does nothing.
 * @param {Owner} owner
 * @param {App} app
 * @param {Model} model
 */
function textBox(owner, app, model) {
  const label = say("explorer.compare.text");
  const box = /** @type {HTMLInputElement} */ (h("input", { type: "text", id: "with-text", autocomplete: "off", spellcheck: "false", maxlength: LONGEST, "aria-label": label, lang: model.source_language ?? null }));
  const form = h("form", { class: "compare-ask" }, box, h("button", { type: "submit", class: "pill" }, say("explorer.compare.go")));
  owner.listen(form, "submit", (event) => {
    event.preventDefault();
    app.field("with_text").value = box.value.trim();
  });
  owner.listen(box, "keydown", (/** @type {KeyboardEvent} */ event) => {
    if (event.key === "Enter" && (event.isComposing || event.keyCode === 229)) event.preventDefault();
  });
  owner.effect(() => (box.value = rightOf(app)?.text ?? ""));
  const chips = model.examples.map(({ text }) => h("button", { type: "button", class: "example", lang: model.source_language ?? null, onclick: () => (app.field("with_text").value = String(text)) }, String(text)));
  return [form, h("div", { class: "examples", role: "group", "aria-label": say("explorer.examples") }, chips)];
}

/**
 * @param {Owner} owner
 * @param {App} app
 * @param {Model} model
 */
function examples(owner, app, model) {
  const chips = model.examples.map((_, at) => {
    const button = h("button", { type: "button", class: "example", "data-with-example": at, onclick: () => (app.field("with_example").value = String(at)) }, exampleName(model, at));
    owner.effect(() => button.setAttribute("aria-pressed", String(rightOf(app)?.example === at)));
    return button;
  });
  return [h("div", { class: "examples", role: "group", "aria-label": say("explorer.examples") }, chips)];
}

/**
 * The left's changes taken over, the left's translation read.
 * @param {Owner} owner
 * @param {App} app
 * @param {import("../signal.js").Signal<Model | null>} model
 */
function switches(owner, app, model) {
  const edits = app.field("with_edits");
  const changes = () => writeEdits(app.edits.value);
  const taken = () => changes() !== "" && edits.value === changes();
  const changed = toggle(owner, "changes", say("explorer.compare.changes"), taken, () => (edits.value = taken() ? "" : changes()));
  const target = app.field("with_target");
  const reads = toggle(owner, "target", say("explorer.compare.same_target"), () => target.value === "left", () => (target.value = target.value ? "" : "left"));
  owner.effect(() => {
    const right = model.value;
    changed.hidden = !app.edits.value.length || right !== app.model.value;
    reads.hidden = right?.task !== "translation" || app.model.value?.task !== "translation";
  });
  return h("div", { class: "compare-switches" }, changed, reads);
}

/**
 * @param {Owner} owner
 * @param {string} name
 * @param {string} label
 * @param {() => boolean} on
 * @param {() => void} turn
 */
function toggle(owner, name, label, on, turn) {
  const button = h("button", { type: "button", role: "switch", class: "switch", "data-with": name, onclick: turn }, h("span", { class: "knob", "aria-hidden": "true" }), label);
  owner.effect(() => button.setAttribute("aria-checked", String(on())));
  return button;
}

/**
 * @param {string} id
 * @param {string} label
 * @param {(value: string) => void} choose
 */
function picker(id, label, choose) {
  const list = /** @type {HTMLSelectElement} */ (h("select", { id, class: "attention-picker", "aria-label": label, onchange: () => choose(list.value) }));
  return list;
}

/**
 * What was chosen for one model says nothing about another.
 * @param {App} app
 * @param {...string} names
 */
function forget(app, ...names) {
  for (const name of names) app.field(name).value = "";
}

/**
 * @param {Model | null} model
 * @param {number} at
 */
const exampleName = (model, at) => model?.examples[at]?.series || say("explorer.example", { number: at + 1 });
