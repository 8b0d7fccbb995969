// Many samples of the same question: what is drawn often, what rarely, and how likely the model finds it.

import { h } from "../dom.js";
import { signal } from "../signal.js";
import { number, say } from "../words.js";
import { question, stream } from "./ask.js";

const AT_ONCE = 16;

/**
 * @param {import("../signal.js").Owner} owner
 * @param {import("../app.js").App} app
 * @param {() => any} filters
 * @returns {HTMLElement}
 */
export function makeSamples(owner, app, filters) {
  const drawn = signal(/** @type {any[]} */ ([]));
  const error = signal("");
  let stop = new AbortController();
  owner.own(() => stop.abort());
  owner.effect(() => {
    app.run.value;
    filters(); // other filters, other samples
    stop.abort();
    drawn.value = [];
  });
  const draw = async () => {
    const asked = question(app);
    if (!asked) return;
    stop = new AbortController();
    const body = { ...asked, kind: "sample", n: AT_ONCE, seed: drawn.peek().length, ...filters() };
    error.value = "";
    await stream("/api/decode", body, { signal: stop.signal, lang: app.lang.peek() }, (record) => {
      if (record.kind === "sample") drawn.value = [...drawn.peek(), record];
    }).catch((reason) => {
      if (!stop.signal.aborted) error.value = reason.message;
    });
  };
  const title = h("h3", {});
  const button = h("button", { type: "button", class: "pill", id: "draw-samples", "data-needs": "model", onclick: draw });
  const list = h("ol", { class: "samples" });
  owner.effect(() => {
    title.textContent = say("explorer.decoding.samples");
    button.textContent = say("explorer.decoding.draw", { count: AT_ONCE });
    const all = drawn.value;
    /** @type {Map<string, any[]>} */
    const groups = new Map();
    for (const one of all) groups.set(one.text, [...(groups.get(one.text) ?? []), one]);
    const often = [...groups].sort((a, b) => b[1].length - a[1].length);
    list.replaceChildren(
      ...often.map(([text, same]) =>
        h(
          "li",
          { class: "sample", "data-count": same.length, "data-log": same[0].log_probability },
          h("span", { class: "sample-text" }, text || "∅"),
          h("span", { class: "bar-line", style: { "--part": same.length / all.length } }),
          h("span", { class: "term-value" }, `${same.length} ×`, h("small", {}, `log p ${number(same[0].log_probability, 2)}`)),
        ),
      ),
    );
    if (error.value) list.replaceChildren(h("li", { class: "error" }, error.value));
  });
  return h("section", { class: "card lab-samples" }, h("header", {}, title, button), list);
}
