// The decoding lab: the bars of the next token under every filter, many samples, and a beam tree that grows.

import { h } from "../dom.js";
import { makeBars } from "../lab/bars.js";
import { makeSamples } from "../lab/samples.js";
import { makeTree } from "../lab/tree.js";
import { setting } from "../lab/ask.js";
import { slider } from "../lab/slider.js";
import { say } from "../words.js";

/**
 * @typedef {import("../app.js").App} App
 * @typedef {import("../signal.js").Owner} Owner
 */

const TEMPERATURES = [0.1, 0.2, 0.3, 0.5, 0.7, 0.85, 1, 1.2, 1.5, 2, 3, 5];
const COUNTS = [0, 1, 2, 3, 4, 5, 8, 10, 20, 50]; // 0: all
const SHARES = [0.1, 0.3, 0.5, 0.7, 0.8, 0.9, 0.95, 1];

/**
 * @param {Owner} owner
 * @param {App} app
 * @returns {HTMLElement}
 */
function make(owner, app) {
  const temperature = setting(owner, app, "temperature", 1);
  const topK = setting(owner, app, "top_k", 0);
  const topP = setting(owner, app, "top_p", 1);
  const filters = () => ({
    temperature: temperature.value,
    ...(topK.value ? { top_k: topK.value } : {}),
    ...(topP.value < 1 ? { top_p: topP.value } : {}),
  });
  const controls = h(
    "div",
    { class: "sliders" },
    slider(owner, { name: "temperature", key: "explorer.decoding.temperature", values: TEMPERATURES, setting: temperature }),
    slider(owner, { name: "top_k", key: "explorer.decoding.top_k", values: COUNTS, setting: topK, show: (k) => (k ? String(k) : say("explorer.decoding.all")) }),
    slider(owner, { name: "top_p", key: "explorer.decoding.top_p", values: SHARES, setting: topP }),
  );
  return h("div", { class: "decoding-view stage" }, controls, makeBars(owner, app, filters), makeSamples(owner, app, filters), makeTree(owner, app));
}

export default {
  id: "decoding",
  title: "explorer.views.decoding",
  saved: true,
  /** @param {import("../engine.js").Model} model */
  fits: (model) => ["translation", "language_model"].includes(model.task),
  make,
};
