// The next token as bars: the model's own probability, and what temperature, top-k and top-p leave of it.

import { ask } from "../engine.js";
import { h } from "../dom.js";
import { signal } from "../signal.js";
import { number, say } from "../words.js";
import { question, written } from "./ask.js";

const SHOWN = 12;

/**
 * @param {import("../signal.js").Owner} owner
 * @param {import("../app.js").App} app
 * @param {() => any} filters
 * @returns {HTMLElement}
 */
export function makeBars(owner, app, filters) {
  const chosen = written(owner, app, "prefix");
  const prefix = () => chosen.value.split(",").filter(Boolean).map(Number);
  const found = signal(/** @type {any} */ (null));
  const error = signal("");
  owner.effect((inner) => {
    const asked = question(app);
    if (!asked) return;
    const body = { ...asked, kind: "next", prefix: prefix(), ...filters() };
    const stop = new AbortController();
    inner.own(() => stop.abort());
    ask("/api/decode", { method: "POST", body, signal: stop.signal, lang: app.lang.value })
      .then((answer) => answer.json())
      .then((one) => {
        found.value = one;
        error.value = "";
      })
      .catch((reason) => {
        if (!stop.signal.aborted) error.value = reason.message;
      });
  });
  const title = h("h3", {});
  const says = h("p", { class: "says" });
  const line = h("p", { class: "written" });
  const rows = h("ul", { class: "bars next-bars", "data-needs": "model" });
  owner.effect(() => {
    const one = found.value;
    title.textContent = say("explorer.decoding.next");
    says.textContent = error.value || say("explorer.decoding.next_says");
    if (!one) return;
    const undo = h("button", { type: "button", class: "pill", disabled: !chosen.value, onclick: () => (chosen.value = chosen.peek().split(",").slice(0, -1).join(",")) }, `⌫ ${say("explorer.decoding.undo")}`);
    line.replaceChildren(...one.prefix.map((/** @type {string} */ piece) => h("span", { class: "token" }, piece)), h("span", { class: "cursor" }, "▏"), undo);
    const kept = h("li", { class: "quiet" }, say("explorer.decoding.kept", { kept: one.kept, of: one.of, entropy: number(one.entropy) }));
    rows.replaceChildren(...one.bars.slice(0, SHOWN).map((/** @type {any} */ bar) => row(bar, () => (chosen.value = [chosen.peek(), bar.id].filter((part) => part !== "").join(",")))), kept);
  });
  return h("section", { class: "card lab-bars" }, h("header", {}, title), says, line, rows);
}

/**
 * @param {any} bar
 * @param {() => void} choose
 */
function row(bar, choose) {
  return h(
    "li",
    {},
    h(
      "button",
      { type: "button", class: `bar-row two-bars${bar.drawn > 0 ? "" : " gone"}`, disabled: bar.ends, "data-bar": bar.id, "data-p": bar.p, "data-drawn": bar.drawn, onclick: choose },
      h("span", { class: "piece" }, bar.piece),
      h("span", { class: "both-bars" }, h("span", { class: "bar-line", style: { "--part": bar.drawn } }), h("span", { class: "bar-line own", style: { "--part": bar.p } })),
      h("span", { class: "term-value" }, number(bar.drawn), h("small", {}, number(bar.p))),
    ),
  );
}
