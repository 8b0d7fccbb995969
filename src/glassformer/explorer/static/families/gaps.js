// Masked words: click a piece and it becomes a gap; below stand the likeliest pieces for each gap.

import { h } from "../dom.js";
import { say } from "../words.js";
import { readMasked } from "./given.js";
import { percent } from "./names.js";

/**
 * @typedef {import("../app.js").App} App
 * @typedef {import("../signal.js").Owner} Owner
 */

const SHOWN = 5;

/**
 * @param {Owner} owner
 * @param {App} app
 * @returns {(Node | null)[]}
 */
export function gapsPanel(owner, app) {
  const pieces = h("div", { class: "gap-pieces", "data-needs": "model", role: "group" });
  const hint = h("p", { class: "quiet" });
  const gaps = h("div", { class: "gaps" });
  owner.effect(() => {
    const about = app.run.value?.about;
    if (about?.task !== "masked_language_model") return;
    const focused = pieces.contains(document.activeElement) ? document.activeElement?.getAttribute("data-token") : null;
    const places = /** @type {number[]} */ (about.output["masked"] ?? []);
    pieces.setAttribute("aria-label", say("explorer.families.hide"));
    pieces.replaceChildren(...(about.tokens.source ?? []).flatMap((token, at) => piece(app, about, token, at, places.includes(at)) ?? []));
    if (focused) /** @type {HTMLElement | null} */ (pieces.querySelector(`[data-token="${focused}"]`))?.focus();
    hint.textContent = say(places.length ? "explorer.families.hide_more" : "explorer.families.hide");
    gaps.replaceChildren(...places.map((at, i) => gap(about, at, i)));
  });
  return [pieces, hint, gaps];
}

/**
 * @param {App} app
 * @param {import("../engine.js").About} about
 * @param {import("../engine.js").Token} token
 * @param {number} at
 * @param {boolean} hidden
 */
function piece(app, about, token, at, hidden) {
  const text = String(about.input["text"] ?? "");
  const said = token.span ? text.slice(...token.span).trim() : token.special ? "" : token.piece;
  if (!said && !hidden) return null; // what only frames the sentence
  const apart = token.span !== null && /\s/.test(text.slice(Math.max(0, token.span[0] - 1), token.span[0] + 1));
  return h(
    "button",
    {
      type: "button",
      class: `gap-piece${hidden ? " hidden-piece" : ""}${apart ? " apart" : ""}`,
      "data-token": `source:${at}`,
      "aria-pressed": String(hidden),
      disabled: hidden && !readMasked(app.field("masked").peek()).includes(at), // written as a gap
      onclick: () => toggle(app, at),
    },
    hidden ? h("span", {}, "[MASK]") : said,
    hidden && said ? h("s", {}, said) : null,
  );
}

/**
 * @param {App} app
 * @param {number} at
 */
function toggle(app, at) {
  const now = readMasked(app.field("masked").peek());
  app.field("masked").value = (now.includes(at) ? now.filter((one) => one !== at) : [...now, at].sort((a, b) => a - b)).join(",");
  app.submit();
}

/**
 * @param {import("../engine.js").About} about
 * @param {number} at
 * @param {number} number
 */
function gap(about, at, number) {
  const likely = /** @type {{piece: string, p: number}[]} */ (about.output["top"]?.[at] ?? []).slice(0, SHOWN);
  return h(
    "section",
    { class: "gap", "data-gap": at, "data-token": `source:${at}` },
    h("h3", {}, say("explorer.families.gap", { number: number + 1 })),
    h("ol", { class: "terms" }, likely.map((one) => h("li", { "data-p": one.p }, h("div", {}, h("span", { class: "term-label" }, one.piece), h("span", { class: "term-bar plus", style: { "--part": one.p / Number(likely[0]?.p) } }), h("span", { class: "term-value" }, percent(one.p)))))),
  );
}
