// Compare: two sentences, two models, two checkpoints, or one model with and without its positions, side by side, with
// the signed difference. The left is what the page shows.

import { bothAnswers } from "../compare/answers.js";
import { makeCompared } from "../compare/asked.js";
import { chooser } from "../compare/choose.js";
import { bothMaps } from "../compare/maps.js";
import { streams } from "../compare/stream.js";
import { h, put } from "../dom.js";
import { say } from "../words.js";

/**
 * @param {import("../signal.js").Owner} owner
 * @param {import("../app.js").App} app
 * @returns {HTMLElement}
 */
function make(owner, app) {
  const { found, error, busy } = makeCompared(owner, app);
  const results = h("div", { class: "compare-results" });
  const fault = h("p", { class: "error", role: "alert", id: "compare-error", hidden: true });
  owner.effect(() => {
    fault.textContent = error.value;
    fault.hidden = !error.value;
  });
  owner.effect(() => results.setAttribute("aria-busy", String(busy.value)));
  owner.effect((inner) => {
    const compared = found.value;
    results.replaceChildren();
    if (!compared) return;
    put(
      results,
      card("answers", bothAnswers(compared.told)),
      card("maps", bothMaps(inner, app, compared)),
      card("distance", streams(app, compared.told)),
    );
  });
  return h("div", { class: "compare-view" }, h("section", { class: "card" }, chooser(owner, app)), fault, results);
}

/**
 * @param {string} name
 * @param {(HTMLElement | false)[]} children
 */
const card = (name, children) => h("section", { class: "card", "data-compare": name }, h("h3", {}, say(`explorer.compare.${name}`)), children);

export default { id: "compare", title: "explorer.views.compare", make };
