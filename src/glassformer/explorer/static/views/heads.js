// All heads at a glance, layer by layer; one of them large, as lines or as a matrix. For a translation the encoder, the
// decoder and the attention between them stand side by side.

import { arcs } from "../arcs.js";
import { h, put } from "../dom.js";
import { board } from "../families/board.js";
import { nameOf, patched, wording } from "../families/names.js";
import { tensorMap } from "../figure/box.js";
import { headGuess } from "../guess/head.js";
import { guessSwitch } from "../guess/panel.js";
import { drawHeat, PALETTES, shrunk } from "../heat.js";
import { placeOf, writePlace } from "../place.js";
import { sideOf, tokensOf } from "../plan.js";
import { matrix } from "../safetensors.js";
import { signal } from "../signal.js";
import { number, say } from "../words.js";

/**
 * @typedef {import("../app.js").App} App
 * @typedef {import("../signal.js").Owner} Owner
 * @typedef {{key: string, names: string[]}} Kind  the attentions of one sort: a name for each layer
 */

const SMALL = 128; // pixels of a small map on each side, at most
const MOST_LINES = 96; // tokens: lines between more would be fog

const chosenShape = signal(localStorage.getItem("shape") ?? "");

/**
 * How a head is drawn: where it looks at patches, over them, unless somebody chose otherwise.
 * @param {boolean} overPatches
 * @param {boolean} many
 */
function shapeOf(overPatches, many) {
  const known = overPatches ? ["picture", "arcs", "matrix"] : ["arcs", "matrix"];
  const fitting = known.filter((one) => one !== "arcs" || !many);
  return { known, shape: fitting.find((one) => one === chosenShape.value) ?? /** @type {string} */ (fitting[0]) };
}

/**
 * The attentions of a run: of the encoder, of the decoder, between them.
 * @param {import("../engine.js").About} about
 * @returns {Kind[]}
 */
function kindsOf(about) {
  /** @type {Map<string, string[]>} */
  const kinds = new Map();
  for (const { name } of about.steps) {
    if (!name.endsWith(".weights")) continue;
    const { stack, box } = placeOf(name);
    const key = box === "cross_attention" ? "cross" : stack;
    const names = kinds.get(key) ?? [];
    if (!names.includes(name)) kinds.set(key, [...names, name]);
  }
  return [...kinds].map(([key, names]) => ({ key, names }));
}

/**
 * @param {import("../engine.js").About} about
 * @param {string} key
 */
function attentionName(about, key) {
  const alone = !about.tokens.target?.length && !patched(about); // a stack alone has neither source nor target
  return wording("attention", alone ? `${key}_alone` : key, about, key === "encoder" ? "source" : "target");
}

/**
 * @param {Owner} owner
 * @param {App} app
 * @returns {HTMLElement}
 */
function make(owner, app) {
  const now = owner.computed(() => chosen(app)); // once for all cells
  const grids = h("div", { class: "head-grids" });
  const large = h("div", { class: "one-head" });
  owner.effect((inner) => {
    const run = app.run.value;
    if (!run) return;
    grids.replaceChildren(...kindsOf(run.about).map((kind) => grid(inner, app, run.about, kind, now)));
  });
  owner.effect((inner) => {
    const run = app.run.value;
    if (!run) return;
    large.replaceChildren(oneHead(inner, app, run.about, now));
  });
  return h("div", { class: "heads-view" }, grids, large);
}

/**
 * @param {Owner} owner
 * @param {App} app
 * @param {import("../engine.js").About} about
 * @param {Kind} kind
 * @param {import("../signal.js").Signal<string>} now
 */
function grid(owner, app, about, { key, names }, now) {
  const rows = h("div", { class: "head-grid" });
  for (const name of names) {
    const tensor = app.tensor(name);
    const place = placeOf(name);
    const heads = tensor?.shape.at(-3) ?? 0;
    const cells = Array.from({ length: heads }, (_, head) => {
      const at = writePlace({ ...place, tap: "", head });
      const canvas = /** @type {HTMLCanvasElement} */ (h("canvas", { "data-map": name, "data-head": head }));
      owner.effect(() => {
        const palette = /** @type {import("../heat.js").Palette} */ (app.dark.value ? PALETTES["dark"] : PALETTES["light"]);
        if (tensor) drawHeat(canvas, shrunk(matrix(tensor, head), SMALL), { most: 1, palette });
      });
      const label = `${attentionName(about, key)}, ${say("explorer.layer", { number: (place.layer ?? 0) + 1 })}, ${say("explorer.head", { number: head + 1 })}`;
      const button = h("button", { type: "button", class: "head-cell", "data-at": at, "aria-label": label, title: label, onclick: () => app.go(at) }, canvas);
      owner.effect(() => button.setAttribute("aria-pressed", String(now.value === `${name} ${head}`)));
      return button;
    });
    rows.append(h("div", { class: "head-row", role: "group", "aria-label": say("explorer.layer", { number: (place.layer ?? 0) + 1 }) }, h("span", { class: "head-layer", "aria-hidden": "true" }, String((place.layer ?? 0) + 1)), h("div", { class: "head-cells" }, cells)));
  }
  return h("section", { class: "head-kind" }, h("h3", {}, attentionName(about, key)), rows);
}

/**
 * The attention that is looked at, "name head"; by default what says most: the attention between the stacks, else the first.
 * @param {App} app
 */
export function chosen(app) {
  const about = app.run.value?.about;
  if (!about) return "";
  const kinds = kindsOf(about);
  const place = app.place.value;
  const all = kinds.flatMap(({ names }) => names);
  const exact = all.find((name) => {
    const own = placeOf(name);
    return own.stack === place.stack && own.layer === place.layer && own.box === place.box;
  });
  const near = all.find((name) => placeOf(name).stack === place.stack && placeOf(name).layer === place.layer);
  const first = kinds.find(({ key }) => key === "cross")?.names.at(-1) ?? all[0] ?? "";
  return `${exact ?? near ?? first} ${app.head.value}`;
}

/**
 * @param {Owner} owner
 * @param {App} app
 * @param {import("../engine.js").About} about
 * @param {import("../signal.js").Signal<string>} now
 */
function oneHead(owner, app, about, now) {
  const [name = "", which = "0"] = now.value.split(" ");
  const head = Number(which);
  const tensor = app.tensor(name);
  const panel = h("section", { class: "card" });
  if (!tensor) return panel;
  const place = placeOf(name);
  const key = place.box === "cross_attention" ? "cross" : place.stack;
  const found = matrix(tensor, head);
  const [side, across] = [sideOf(about, name), sideOf(about, name, "columns")];
  const pieces = (/** @type {"source" | "target"} */ which) => tokensOf(about, which).map((_, i) => nameOf(about, which, i));
  const many = Math.max(found.rows, found.columns) > MOST_LINES;
  const { known, shape } = shapeOf(Boolean(patched(about)) && across === "source", many);
  const at = { ...place, tap: "weights", head };
  const hot = signal(/** @type {{row: number | null, column: number | null}} */ ({ row: null, column: null }));
  const weight = (/** @type {number} */ row, /** @type {number} */ column) => Number(found.data[row * found.columns + column] ?? 0);
  const sentence = h("p", { class: "quiet sentence", "aria-live": "polite" });
  owner.effect(() => {
    const { row, column } = hot.value;
    const asks = row ?? (column === null ? app.rows.value[side] : null);
    if (asks !== null) {
      const best = pieces(across).map((piece, i) => ({ piece, share: weight(asks, i) })).sort((a, b) => b.share - a.share)[0];
      sentence.textContent = say("explorer.looks_at", { from: pieces(side)[asks] ?? asks, to: best?.piece ?? "", share: number(best?.share ?? 0) });
    } else {
      const best = pieces(side).map((piece, i) => ({ piece, share: weight(i, column ?? 0) })).sort((a, b) => b.share - a.share)[0];
      sentence.textContent = say("explorer.looked_at_by", { to: pieces(across)[column ?? 0] ?? "", from: best?.piece ?? "", share: number(best?.share ?? 0) });
    }
  });
  const guess = headGuess(owner, app, about, name, head);
  const switches = h(
    "div",
    { class: "switches", role: "group", "aria-label": say("explorer.shape") },
    known.map((one) => h("button", { type: "button", class: "pill", "data-shape": one, disabled: one === "arcs" && many, "aria-pressed": String(shape === one), onclick: () => choose(one) }, one === "picture" ? say(`explorer.families.over_${patched(about)}`) : say(`explorer.${one}`))),
    guessSwitch(owner, app),
  );
  put(
    panel,
    h("header", {}, h("div", {}, h("p", { class: "eyebrow" }, `${attentionName(about, key)} · ${say("explorer.layer", { number: (place.layer ?? 0) + 1 })}`), h("h3", {}, say("explorer.head", { number: head + 1 }))), switches),
    guess.panel,
  );
  if (guess.open) return panel;
  put(
    panel,
    sentence,
    shape === "picture" ? overPatches(owner, app, { name, side, weight, hot, columns: found.columns }) : null,
    shape === "arcs"
      ? arcs(owner, {
          left: pieces(side),
          right: pieces(across),
          weight,
          hot,
          sides: { left: side, right: across },
          names: { left: say("explorer.asks"), right: say("explorer.is_looked_at") },
          onPick: (row, column) => (row >= 0 ? app.follow(side, row) : app.go(at, { zoom: 5, cell: [app.rows.peek()[side], column] })),
        })
      : shape === "matrix"
        ? tensorMap(owner, app, about, name, head)
        : null,
    h("p", { class: "caution quiet" }, say("explorer.not_explanation")),
  );
  return panel;
}

/**
 * What the pointed at or followed token looks at, over the image or on the chart.
 * @param {Owner} owner
 * @param {App} app
 * @param {{name: string, side: "source" | "target", columns: number, weight: (row: number, column: number) => number, hot: import("../arcs.js").Hot}} given
 */
function overPatches(owner, app, { name, side, columns, weight, hot }) {
  const about = /** @type {import("../engine.js").Run} */ (app.run.peek()).about;
  const asking = h("div", { class: "token-picker", role: "group", "aria-label": say("explorer.asks") });
  const over = h("div", {});
  if (side === "target") {
    const buttons = tokensOf(about, side).map((_, at) => h("button", { type: "button", class: "token", "data-token": `target:${at}`, onclick: () => app.follow("target", at) }, nameOf(about, side, at)));
    asking.append(...buttons);
    owner.effect(() => buttons.forEach((one, at) => one.setAttribute("aria-pressed", String(app.rows.value.target === at))));
  }
  owner.effect((inner) => {
    const row = app.rows.value[side];
    const shown = board(inner, app, { shares: { name, values: Float32Array.from({ length: columns }, (_, column) => weight(row, column)) } });
    const focused = over.contains(document.activeElement) ? document.activeElement?.getAttribute("data-token") : null;
    over.replaceChildren(...(shown ? [shown] : []));
    if (focused) /** @type {HTMLElement | null} */ (over.querySelector(`[data-token="${focused}"]`))?.focus();
  });
  owner.listen(over, "pointerover", (event) => {
    const token = event.target instanceof Element ? event.target.closest("[data-token]")?.getAttribute("data-token") : null;
    hot.value = { row: null, column: token ? Number(token.split(":")[1]) : null };
  });
  owner.listen(over, "pointerleave", () => (hot.value = { row: null, column: null }));
  return h("div", { class: "over-patches" }, side === "target" ? asking : null, over);
}

/** @param {string} wanted */
function choose(wanted) {
  localStorage.setItem("shape", wanted);
  chosenShape.value = wanted;
}

export default { id: "heads", title: "explorer.views.heads", saved: true, make };
