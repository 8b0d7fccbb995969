// The logit lens: what every layer would answer if the model stopped there, layer × position.

import { h } from "../dom.js";
import { answered, written } from "../lab/ask.js";
import { number, say } from "../words.js";

/**
 * @typedef {import("../app.js").App} App
 * @typedef {import("../signal.js").Owner} Owner
 * @typedef {{id: number, piece: string, p: number}} Guess
 * @typedef {{layers: number, positions: string[], answers: {id: number, piece: string}[], p: number[][], rank: number[][], appears: number[], top: Guess[][][]}} Lens
 */

/**
 * @param {Owner} owner
 * @param {App} app
 * @returns {HTMLElement}
 */
function make(owner, app) {
  const answer = answered(owner, app, "/api/lens", () => ({ edits: app.run.value?.question.edits ?? [] }));
  const at = written(owner, app, "lens");
  const intro = h("p", { class: "says" });
  const body = h("div", { class: "lens" });
  const one = h("div", { class: "lens-cell-open" });
  owner.effect(() => {
    const { data, error } = answer.value;
    intro.textContent = error || say("explorer.lens.intro");
    intro.classList.toggle("error", Boolean(error));
    const side = app.run.peek()?.about.tokens.target?.length ? "target" : "source";
    body.replaceChildren(...(data ? [table(data, side, (cell) => (at.value = cell.join(",")))] : []));
  });
  owner.effect(() => {
    const found = /** @type {Lens | null} */ (answer.value.data);
    if (!found) return;
    const chosen = at.value.split(",").map(Number);
    const known = chosen.length === 2 && found.top[chosen[0] ?? -1]?.[chosen[1] ?? -1];
    const [layer = 0, row = 0] = known ? chosen : [found.layers, usualRow(app.run.peek()?.about)];
    const guesses = found.top[layer]?.[row];
    body.querySelectorAll("[aria-pressed]").forEach((cell) => cell.setAttribute("aria-pressed", String(cell.getAttribute("data-lens") === `${layer},${row}`)));
    one.replaceChildren(...(guesses ? opened(found, layer, row, guesses) : []));
    const [scroller, cell] = [".scroll", "[aria-pressed=true]"].map((part) => body.querySelector(part));
    if (!scroller || !cell) return;
    const [outer, inner] = [scroller.getBoundingClientRect(), cell.getBoundingClientRect()];
    if (inner.left < outer.left || inner.right > outer.right) scroller.scrollLeft += (inner.left + inner.right - outer.left - outer.right) / 2;
  });
  return h("div", { class: "lens-view stage" }, intro, body, one);
}

/**
 * Where one looks first: at the gap, at what comes next, at the beginning of a translation.
 * @param {import("../engine.js").About | undefined} about
 */
function usualRow(about) {
  const rows = about?.output["top"]?.length ?? 1;
  return about?.output["masked"]?.[0] ?? (about?.task === "language_model" ? rows - 1 : 0);
}

/**
 * @param {Lens} lens
 * @param {"source" | "target"} side  whose tokens its columns are
 * @param {(cell: [number, number]) => void} pick
 */
function table(lens, side, pick) {
  const token = (/** @type {number} */ row) => (lens.positions[row] ? `${side}:${row}` : null);
  const order = Array.from({ length: lens.layers + 1 }, (_, i) => lens.layers - i); // as in Figure 1, the last on top
  const heads = lens.positions.map((piece, row) => h("th", { scope: "col", "data-token": token(row) }, h("span", { class: "piece" }, piece || "∑"), h("small", {}, `→ ${lens.answers[row]?.piece}`)));
  return h(
    "div",
    { class: "scroll", tabindex: "0", role: "group", "aria-label": say("explorer.views.lens") },
    h(
      "table",
      { class: "lens-table" },
      h("thead", {}, h("tr", {}, h("td", {}), heads)),
      h(
        "tbody",
        {},
        order.map((layer) =>
          h(
            "tr",
            {},
            h("th", { scope: "row" }, layerName(layer)),
            lens.positions.map((_, row) => {
              const best = /** @type {Guess} */ (lens.top[layer]?.[row]?.[0]);
              const found = lens.rank[layer]?.[row] === 0;
              const share = Math.round(best.p * 100);
              return h(
                "td",
                {},
                h(
                  "button",
                  {
                    type: "button",
                    class: `lens-cell${found ? " found" : ""}${lens.appears[row] === layer ? " first" : ""}`,
                    "data-lens": `${layer},${row}`,
                    "data-token": token(row),
                    "data-p": best.p,
                    "aria-pressed": "false",
                    style: { "--share": best.p },
                    onclick: () => pick([layer, row]),
                  },
                  h("span", { class: "piece" }, best.piece),
                  h("small", {}, `${share} %`),
                ),
              );
            }),
          ),
        ),
      ),
    ),
  );
}

/** @param {number} layer */
const layerName = (layer) => (layer === 0 ? say("explorer.lens.before") : say("explorer.layer", { number: layer }));

/**
 * @param {Lens} lens
 * @param {number} layer
 * @param {number} row
 * @param {Guess[]} guesses
 */
function opened(lens, layer, row, guesses) {
  const answer = lens.answers[row]?.piece ?? "";
  const appears = lens.appears[row] ?? 0;
  const when = appears === 0 ? "explorer.lens.at_once" : "explorer.lens.appears";
  return [
    h("h3", {}, `${layerName(layer)} · ${lens.positions[row] || say("explorer.lens.whole")}`),
    h("p", { class: "lens-when" }, say(when, { piece: answer, layer: appears, p: number(lens.p[layer]?.[row] ?? 0) })),
    h("ul", { class: "bars" }, guesses.map((guess) => bar(guess.piece, guess.p, guess.piece === answer))),
  ];
}

/**
 * @param {string} name
 * @param {number} share
 * @param {boolean} right
 */
const bar = (name, share, right) =>
  h("li", { class: `bar-row${right ? " right" : ""}` }, h("span", { class: "piece" }, name), h("span", { class: "bar-line", style: { "--part": share } }), h("span", { class: "term-value" }, number(share)));

export default {
  id: "lens",
  title: "explorer.views.lens",
  saved: true,
  /** @param {import("../engine.js").Model} model */
  fits: (model) => ["language_model", "classifier"].includes(model.sizes["head"]),
  make,
};
