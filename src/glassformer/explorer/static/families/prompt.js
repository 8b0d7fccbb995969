// Prompts: a point of the canvas, or a word of the model's list; each is part of the address.

import { h } from "../dom.js";
import { say } from "../words.js";

/**
 * @typedef {import("../app.js").App} App
 * @typedef {import("../signal.js").Owner} Owner
 */

/**
 * A list of words to ask by; the point is asked on the canvas itself.
 * @param {Owner} owner
 * @param {App} app
 */
export function promptTools(owner, app) {
  const words = h("div", { class: "prompt-words", "data-needs": "model", role: "group" });
  const known = owner.computed(() => String((app.run.value?.about.input["words"] ?? []).join(" ")));
  owner.effect((inner) => {
    const label = say("explorer.families.by_word");
    const buttons = known.value.split(" ").filter(Boolean).map((word) => h("button", { type: "button", class: "pill", "data-word": word, onclick: () => ask(app, word) }, word));
    words.setAttribute("aria-label", label);
    words.replaceChildren(h("span", { class: "quiet" }, label), ...buttons);
    inner.effect(() => {
      const asked = app.run.value?.about.input["prompt"]?.word;
      buttons.forEach((button) => button.setAttribute("aria-pressed", String(button.dataset["word"] === asked)));
    });
  });
  return words;
}

/**
 * @param {App} app
 * @param {string} word
 */
function ask(app, word) {
  app.field("prompt").value = word;
  app.submit();
}

/**
 * A mark on the pad where the present run was asked.
 * @param {Owner} owner
 * @param {App} app
 * @param {HTMLElement} pad
 * @param {import("./given.js").Raster} raster
 */
export function promptMark(owner, app, pad, { side }) {
  const mark = h("span", { class: "prompt-mark", id: "prompt-mark", hidden: true });
  pad.append(mark);
  owner.effect(() => {
    const point = app.run.value?.about.input["prompt"]?.point;
    mark.hidden = !point;
    if (!point) return;
    const [x, y] = point;
    mark.style.setProperty("left", `${(100 * (x + 0.5)) / side}%`);
    mark.style.setProperty("top", `${(100 * (y + 0.5)) / side}%`);
    mark.dataset["point"] = point.join(",");
  });
}
