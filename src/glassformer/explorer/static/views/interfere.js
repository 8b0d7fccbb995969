// Interfere: switch off heads, layers, positions and residuals, forbid or draw cells of attention, scale a head; see at
// once how the answer changes. Attention alone is no explanation: what happens without it is.

import { h } from "../dom.js";
import { canRedo, canUndo, change, replaceEdit, turn } from "../edits.js";
import { makeBefore } from "../interfere/before.js";
import { makeImportance } from "../interfere/importance.js";
import { outcome } from "../interfere/outcome.js";
import { paint } from "../interfere/paint.js";
import { switchboard } from "../interfere/switchboard.js";
import { told } from "../interfere/told.js";
import { say } from "../words.js";

/**
 * @typedef {import("../signal.js").Owner} Owner
 * @typedef {import("../app.js").App} App
 * @typedef {import("../engine.js").Edit} Edit
 */

/**
 * @param {Owner} owner
 * @param {App} app
 * @returns {HTMLElement}
 */
function make(owner, app) {
  const before = makeBefore(owner, app);
  const importance = makeImportance(owner, app);
  const [answer, board, cells] = [h("div"), h("div"), h("div")];
  owner.effect((inner) => {
    const [was, now] = [before.value, app.run.value];
    if (was && now) answer.replaceChildren(outcome(inner, app, was, now));
  });
  const form = owner.computed(() => formOf(app));
  owner.effect((inner) => {
    void form.value; // the switches stay while numbers change: the focus must not be lost
    const run = app.run.peek();
    if (run) board.replaceChildren(switchboard(inner, app, run.about, importance));
  });
  owner.effect((inner) => {
    const run = app.run.value;
    if (run) cells.replaceChildren(paint(inner, app, run.about));
  });
  return h(
    "div",
    { class: "interfere-view" },
    history(owner, app),
    h("section", { class: "card", "aria-label": say("explorer.interfere.answer") }, answer),
    h("section", { class: "card" }, h("header", {}, h("h3", {}, say("explorer.interfere.switches")), rowPicker(owner, app)), legend(owner, importance), board),
    h("section", { class: "card" }, h("header", {}, h("h3", {}, say("explorer.interfere.cells"))), h("p", { class: "quiet" }, say("explorer.interfere.cells_how")), cells),
  );
}

/**
 * What the switches depend on: the model, and which attentions it has.
 * @param {App} app
 */
function formOf(app) {
  const about = app.run.value?.about;
  return about ? `${about.model} ${about.checkpoint} ${about.steps.length} ${app.lang.value}` : "";
}

/**
 * Undo, redo, all back; and what is in force, each with a button that takes it back.
 * @param {Owner} owner
 * @param {App} app
 */
function history(owner, app) {
  const undo = h("button", { type: "button", class: "pill", id: "undo", onclick: () => turn(app, true) }, `↶ ${say("explorer.interfere.undo")}`);
  const redo = h("button", { type: "button", class: "pill", id: "redo", onclick: () => turn(app, false) }, `↷ ${say("explorer.interfere.redo")}`);
  const reset = h("button", { type: "button", class: "pill", id: "reset", onclick: () => change(app, []) }, say("explorer.interfere.reset"));
  const list = h("ul", { class: "in-force", "data-needs": "model", "aria-label": say("explorer.interfere.in_force") });
  owner.effect(() => {
    undo.toggleAttribute("disabled", !canUndo());
    redo.toggleAttribute("disabled", !canRedo());
    reset.toggleAttribute("disabled", !app.edits.value.length);
    list.replaceChildren(...(app.edits.value.length ? app.edits.value.map((edit) => chip(app, edit)) : [h("li", { class: "quiet" }, say("explorer.interfere.nothing_yet"))]));
  });
  return h("div", { class: "history" }, h("div", { class: "switches", "data-needs": "model" }, undo, redo, reset), list);
}

/**
 * @param {App} app
 * @param {Edit} edit
 */
function chip(app, edit) {
  const what = told(edit, app.run.value?.about ?? null);
  return h("li", {}, h("code", {}, what), h("button", { type: "button", class: "remove", "aria-label": say("explorer.interfere.take_back", { what }), onclick: () => replaceEdit(app, edit, null) }, "×"));
}

/**
 * For which row of the answer a head matters; all of them by default.
 * @param {Owner} owner
 * @param {App} app
 */
function rowPicker(owner, app) {
  const list = /** @type {HTMLSelectElement} */ (h("select", { id: "for", onchange: () => (app.field("for").value = list.value) }));
  const label = h("label", { class: "for" }, h("span", { class: "quiet" }, say("explorer.interfere.for")), list);
  owner.effect(() => {
    const output = app.run.value?.about.output ?? {};
    const rows = output["top"]?.map((/** @type {any[]} */ row) => row[0]?.piece ?? "") ?? output["numbers"]?.map((/** @type {number} */ _, /** @type {number} */ i) => `+${i + 1}`) ?? [];
    list.replaceChildren(h("option", { value: "" }, say("explorer.interfere.all_rows")), ...rows.map((/** @type {string} */ name, /** @type {number} */ i) => h("option", { value: i }, `${i + 1}. ${name}`)));
    list.value = app.field("for").value;
    label.hidden = rows.length < 2;
  });
  return label;
}

/**
 * @param {Owner} owner
 * @param {ReturnType<typeof makeImportance>} importance
 */
function legend(owner, importance) {
  const reading = h("p", { class: "quiet" });
  const start = h("button", { type: "button", class: "pill", id: "measure", "data-needs": "model", onclick: () => importance.start() }, say("explorer.interfere.measure"));
  owner.effect(() => {
    const kind = importance.measure.value;
    reading.textContent = kind ? `${say("explorer.interfere.map")} ${say(`explorer.interfere.measured.${kind}`)}` : say("explorer.interfere.map");
    start.hidden = importance.busy.value || importance.found.value.size > 0;
  });
  return h("div", { class: "legend" }, reading, start);
}

export default { id: "interfere", title: "explorer.views.interfere", saved: true, make };
