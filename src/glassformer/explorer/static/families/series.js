// The input of a forecaster: a series of the model's own, or numbers that are pasted.

import { h } from "../dom.js";
import { signal } from "../signal.js";
import { say } from "../words.js";
import { forecastChart, seriesChart } from "./chart.js";
import { contextOf, drawnValues, isLost, pickExample, writeSeries } from "./given.js";

/**
 * @typedef {import("../app.js").App} App
 * @typedef {import("../signal.js").Owner} Owner
 */

/**
 * Numbers between commas, semicolons, blanks or new lines. The first that is none is named.
 * @param {string} text
 * @returns {{values: number[], wrong: string | null}}
 */
export function readNumbers(text) {
  const parts = text.trim().split(/[\s,;]+/).filter(Boolean);
  const wrong = parts.find((part) => !/^[+\-−]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(part)) ?? null;
  return { values: parts.map((part) => Number(part.replace("−", "-"))), wrong };
}

/**
 * @param {Owner} owner
 * @param {App} app
 * @param {import("../engine.js").Model} model
 * @returns {(Node | null)[]}
 */
export function seriesPanel(owner, app, model) {
  const trouble = signal(/** @type {[string, Record<string, any>] | null} */ (null));
  const examples = model.examples.map((example, at) => h("button", { type: "button", class: "example", onclick: () => pickExample(app, at) }, example.series || say("explorer.example", { number: at + 1 })));
  const chips = h("div", { class: "examples", "data-needs": "model", role: "group" }, examples);
  owner.effect(() => {
    const chosen = app.field("drawn").value ? -1 : Number(app.field("example").value) || 0;
    chips.setAttribute("aria-label", say("explorer.examples"));
    examples.forEach((one, at) => one.setAttribute("aria-pressed", String(at === chosen)));
  });
  return [chips, ownValues(owner, app, model, trouble), errorLine(owner, app, model, trouble), charts(owner, app)];
}

/**
 * @param {Owner} owner
 * @param {App} app
 * @param {import("../engine.js").Model} model
 * @param {import("../signal.js").Signal<[string, Record<string, any>] | null>} trouble
 */
function ownValues(owner, app, model, trouble) {
  const context = contextOf(model);
  const box = /** @type {HTMLTextAreaElement} */ (h("textarea", { id: "own-values", rows: 4, spellcheck: "false" }));
  const go = h("button", { type: "submit", class: "go", id: "run-values" });
  const form = h("form", { class: "own-values", "data-needs": "model" }, box, go);
  const summary = h("summary", {});
  const rule = h("p", { class: "quiet" });
  const opened = /** @type {HTMLDetailsElement} */ (h("details", { class: "own" }, summary, rule, form));
  owner.listen(form, "submit", (event) => {
    event.preventDefault();
    const { values, wrong } = readNumbers(box.value);
    if (wrong !== null) trouble.value = ["explorer.families.no_number", { part: wrong.slice(0, 40) }];
    else if (values.length < context) trouble.value = ["explorer.families.few_numbers", { count: values.length, context }];
    else {
      trouble.value = null;
      writeSeries(app, values.slice(-context));
    }
  });
  owner.effect(() => {
    summary.textContent = say("explorer.families.own_values");
    rule.textContent = say("explorer.families.own_rule", { context });
    box.setAttribute("aria-label", say("explorer.families.own_values"));
    go.textContent = say("explorer.run");
  });
  owner.effect(() => {
    const given = drawnValues(app, model);
    const shown = given ?? app.run.value?.about.input["values"] ?? [];
    if (document.activeElement !== box) box.value = shown.join(", ");
    if (given) opened.open = true;
  });
  return opened;
}

/**
 * @param {Owner} owner
 * @param {App} app
 * @param {import("../engine.js").Model} model
 * @param {import("../signal.js").Signal<[string, Record<string, any>] | null>} trouble
 */
function errorLine(owner, app, model, trouble) {
  const error = h("p", { class: "error", role: "alert", id: "input-error" });
  owner.effect(() => {
    const [key, values] = trouble.value ?? (isLost(app, model) ? ["explorer.families.lost", {}] : ["", {}]);
    error.hidden = !key;
    error.textContent = key && say(key, values);
  });
  return error;
}

/**
 * @param {Owner} owner
 * @param {App} app
 */
function charts(owner, app) {
  const pair = h("div", { class: "chart-pair" });
  owner.effect((inner) => {
    if (!app.run.value?.about.input["values"]) return;
    pair.replaceChildren(seriesChart(inner, app), forecastChart(inner, app));
  });
  return pair;
}
