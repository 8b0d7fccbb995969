// What a family puts below the line of text: how its input is given, and its whole answer.

import { h } from "../dom.js";
import { classBars } from "./classes.js";
import { gapsPanel } from "./gaps.js";
import { imagePanel } from "./images.js";
import { seriesPanel } from "./series.js";

/**
 * @typedef {import("../app.js").App} App
 * @typedef {import("../signal.js").Owner} Owner
 */

/**
 * @param {Owner} owner
 * @param {App} app
 * @returns {HTMLElement}
 */
export function makeFamily(owner, app) {
  const panel = h("div", { class: "family" });
  owner.effect((inner) => {
    const model = app.model.value;
    const parts = !model ? [] : model.input === "image" ? imagePanel(inner, app, model) : model.input === "series" ? seriesPanel(inner, app, model) : model.task === "masked_language_model" ? gapsPanel(inner, app) : [];
    panel.className = `family ${model?.input ?? ""}`;
    panel.replaceChildren(...parts.filter((part) => part !== null));
    if (model?.sizes["head"] === "classifier") panel.append(shares(inner, app));
    panel.hidden = !panel.childElementCount;
  });
  return panel;
}

/**
 * @param {Owner} owner
 * @param {App} app
 */
function shares(owner, app) {
  const bars = h("div", { class: "class-shares" });
  owner.effect(() => {
    const about = app.run.value?.about;
    bars.replaceChildren(...(about?.output["classes"] ? [classBars(about)] : []));
  });
  return bars;
}
