// The attention of one head: large at the present checkpoint, and small at all of them side by side.

import { h } from "../dom.js";
import { tensorMap } from "../figure/box.js";
import { drawHeat, PALETTES } from "../heat.js";
import { attentionTitle, pickers } from "../interfere/paint.js";
import { ofHead } from "../safetensors.js";
import { say, whole } from "../words.js";

/**
 * @typedef {import("../app.js").App} App
 * @typedef {import("../signal.js").Owner} Owner
 * @typedef {import("./now.js").Now} Now
 * @typedef {ReturnType<typeof import("./answers.js").makeAnswers>} Answers
 */

/**
 * @param {Owner} owner
 * @param {App} app
 * @param {import("../signal.js").Signal<import("./life.js").Life>} life
 * @param {Now} now
 * @param {Answers} answers
 * @returns {HTMLElement}
 */
export function makeMultiples(owner, app, life, now, answers) {
  const head = owner.computed(() => Math.min(app.head.value, Number(app.run.value?.about.sizes["n_heads"] ?? 1) - 1));
  const [title, choice, large, about] = [h("h3", {}), h("div"), h("div", { class: "time-large" }), h("p", { class: "quiet" })];
  const small = h("div", { class: "time-maps", role: "group" });
  owner.effect(() => {
    const run = app.run.value;
    const weights = answers.weights.value;
    title.textContent = say("explorer.time.attention");
    small.setAttribute("aria-label", say("explorer.time.attention"));
    if (run && weights) choice.replaceChildren(pickers(app, run.about, weights.replace(/\.weights$/, ""), head.value));
    about.textContent = say(run?.about.tokens.target && !weights.startsWith("encoder.") ? "explorer.time.same_target" : "explorer.time.same_input");
  });
  owner.effect((inner) => {
    const [run, weights] = [app.run.value, answers.weights.value];
    large.classList.toggle("waiting", !now.settled.value);
    if (!run || !weights || !now.settled.value || !app.tensor(weights)) return;
    large.replaceChildren(tensorMap(inner, app, run.about, weights, head.value));
  });
  const steps = owner.computed(() => life.value.checkpoints);
  owner.effect((inner) => {
    small.replaceChildren(...steps.value.map((step) => smallMap(inner, step)));
  });

  /**
   * @param {Owner} inner
   * @param {number} step
   */
  function smallMap(inner, step) {
    const canvas = /** @type {HTMLCanvasElement} */ (h("canvas", {}));
    const button = h("button", { type: "button", class: "time-map", "data-small": step, onclick: () => now.go(step) }, canvas, h("span", { class: "time-step" }, whole(step)));
    inner.effect(() => {
      const found = answers.mapOf(step);
      const palette = /** @type {import("../heat.js").Palette} */ (app.dark.value ? PALETTES["dark"] : PALETTES["light"]);
      button.classList.toggle("waiting", !found?.tensor);
      if (!found?.tensor) return;
      const map = ofHead(found.tensor, head.value, Number(found.about.sizes["n_heads"]));
      canvas.style.aspectRatio = `${map.columns} / ${map.rows}`;
      drawHeat(canvas, map, { most: 1, palette });
      Object.assign(canvas.dataset, { map: answers.weights.peek(), head: head.value });
    });
    inner.effect(() => {
      button.setAttribute("aria-current", String(now.step.value === step));
      button.setAttribute("aria-label", `${say("explorer.time.step", { step: whole(step) })}, ${attentionTitle(answers.weights.value.replace(/\.weights$/, ""))}`);
    });
    return button;
  }
  return h("section", { class: "card" }, h("header", {}, title), choice, large, about, small);
}
