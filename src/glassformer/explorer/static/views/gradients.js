// Gradients: which tokens mattered for one output, beside the attention that each of them got. Attention alone is no
// explanation; the two need not agree, and how far they do is said in ranks.

import { h } from "../dom.js";
import { chosen, outputs } from "../gradients/outputs.js";
import { imageGrids, seriesBands } from "../gradients/patches.js";
import { tokenTable } from "../gradients/tokens.js";
import { answered } from "../lab/ask.js";
import { number, say } from "../words.js";

/**
 * @typedef {import("../app.js").App} App
 * @typedef {import("../signal.js").Owner} Owner
 * @typedef {import("../gradients/tokens.js").Side} Side
 */

const HEADS = ["language_model", "classifier", "distilled", "regression"];

/**
 * @param {Owner} owner
 * @param {App} app
 * @returns {HTMLElement}
 */
function make(owner, app) {
  const answer = answered(owner, app, "/api/gradients", () => {
    const { row, choice } = chosen(app);
    return { edits: app.run.value?.question.edits ?? [], ...(row === null ? {} : { row }), ...(choice === null ? {} : { choice }) };
  });
  const [intro, choice, value] = [h("p", { class: "says" }), h("div", { class: "outputs-all" }), h("p", { class: "asked", role: "status" })];
  const sides = h("div", { class: "stage" });
  const [rank, caution, away] = [h("p", {}), h("p", {}), h("button", { type: "button", class: "pill", id: "to-interfere", onclick: () => (app.view.value = "interfere") })];
  owner.effect(() => {
    const { error } = answer.value;
    intro.textContent = error || say("explorer.gradients.intro");
    intro.classList.toggle("error", Boolean(error));
    rank.textContent = say("explorer.gradients.rank");
    caution.textContent = say("explorer.gradients.caution");
    away.textContent = say("explorer.views.interfere");
  });
  owner.effect((inner) => {
    const [{ data: found, of }, run] = [answer.value, app.run.value];
    if (!found || !run || of !== run.question) return;
    const focused = /** @type {HTMLElement | null} */ (choice.contains(document.activeElement) ? document.activeElement : null);
    const key = focused && ["row", "choice"].map((one) => [one, focused.dataset[one]]).find(([, which]) => which !== undefined);
    choice.replaceChildren(...outputs(app, run.about, found));
    if (key) /** @type {HTMLElement | null} */ (choice.querySelector(`[data-${key[0]}="${key[1]}"]`))?.focus();
    value.replaceChildren(h("code", { id: "asked", "data-value": found.value, "data-row": found.row, "data-choice": found.choice }, found.kind === "log_probability" ? `log p(${found.name}) = ${number(found.value)}` : `y[+${found.name}] = ${number(found.value)}`), ...(found.kind === "number" ? [h("span", { class: "quiet" }, say("explorer.gradients.scaled"))] : []));
    sides.replaceChildren(...found.sides.map((/** @type {Side} */ side) => card(inner, app, run, side)));
  });
  return h("div", { class: "gradients-view stage" }, intro, h("section", { class: "card" }, choice, value), sides, h("div", { class: "caution-box" }, caution, rank, away));
}

/**
 * @param {Owner} owner
 * @param {App} app
 * @param {import("../engine.js").Run} run
 * @param {Side} side
 */
function card(owner, app, run, side) {
  const target = side.stack === "decoder" && Boolean(run.about.tokens.target);
  const label = say(`explorer.gradients.side.${target ? "target" : run.about.tokens.target ? "source" : "input"}`);
  const picture = target ? null : run.about.input["grid"] ? imageGrids(owner, app, run, side) : run.about.input["stride"] ? seriesBands(owner, app, run, side) : null;
  return h("section", { class: "card", "data-side": side.stack }, h("header", {}, h("h3", {}, label)), picture, ...tokenTable(run.about, side, target ? "target" : "source", label));
}

export default {
  id: "gradients",
  title: "explorer.views.gradients",
  /** @param {import("../engine.js").Model} model */
  fits: (model) => HEADS.includes(model.sizes["head"]) && model.task !== "features",
  make,
};
