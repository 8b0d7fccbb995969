// What each step of the player shows: the real numbers of the token that is followed, as an equation of strips.

import { h } from "../dom.js";
import { board } from "../families/board.js";
import { forecastChart } from "../families/chart.js";
import { nameOf, patched } from "../families/names.js";
import { boxesOver, objectList } from "../families/objects.js";
import { pixelsOf, still } from "../families/raster.js";
import { tensorMap } from "../figure/box.js";
import { reach } from "../heat.js";
import { placeOf } from "../place.js";
import { sideOf, tokensOf } from "../plan.js";
import { hasHeads, matrix, ofHead } from "../safetensors.js";
import { strip } from "../strip.js";
import { number, say } from "../words.js";
import { normScene } from "./norm.js";

/**
 * @typedef {import("../signal.js").Owner} Owner
 * @typedef {import("../app.js").App} App
 * @typedef {import("../engine.js").Step} Step
 * @typedef {import("./playlist.js").Scene} Scene
 * @typedef {{owner: Owner, app: App, about: import("../engine.js").About, scene: Scene}} Given
 */

/**
 * The row of a tensor that belongs to the followed token.
 * @param {Given} given
 * @param {string} name
 * @param {number} [head]
 * @returns {{row: number, values: ArrayLike<number>, piece: string} | null}
 */
export function rowOf({ app, about }, name, head) {
  const tensor = app.tensor(name);
  if (!tensor) return null;
  const found = head === undefined ? matrix(tensor) : ofHead(tensor, head, Number(about.sizes["n_heads"]));
  const side = sideOf(about, name);
  const row = Math.min(app.rows.value[side], found.rows - 1);
  const piece = tokensOf(about, side)[row]?.piece ?? "";
  return { row, values: found.data.subarray(row * found.columns, (row + 1) * found.columns), piece };
}

/**
 * A strip for the followed row of a tensor.
 * @param {Given} given
 * @param {string} name
 * @param {{symbol: string, note?: string, head?: number, most?: number}} how
 */
export function rowStrip(given, name, { symbol, note, head, most }) {
  const found = rowOf(given, name, head);
  if (!found) return null;
  const place = { ...placeOf(name), head: head ?? null };
  return strip(given.owner, given.app, {
    symbol,
    note: note ?? found.piece,
    values: found.values,
    most: most ?? reach(found.values),
    data: name,
    row: found.row,
    head,
    onPick: (column) => given.app.go(place, { zoom: 5, cell: [found.row, column] }),
  });
}

const sign = (/** @type {string} */ text) => h("div", { class: "sign", "aria-hidden": "true" }, text);

/** @param {Step} step */
export const symbolOf = (step) => (step.formula.split(" = ")[0] ?? "").trim();

/**
 * The step that made what a sum begins with: the input of this layer, or the sum before.
 * @param {Given} given
 * @returns {string | null}
 */
export function streamBefore({ about, scene }) {
  const name = scene.steps[0]?.name ?? "";
  const base = `${scene.stack}.blocks.${scene.layer}`;
  const known = (/** @type {string} */ one) => about.steps.some((step) => step.name === one);
  const before = [`${base}.after_cross_attention`, `${base}.after_self_attention`];
  const candidates = name.endsWith("after_self_attention") ? [] : name.endsWith("after_cross_attention") ? before.slice(1) : before;
  const found = candidates.find(known);
  if (found) return found;
  return scene.layer ? `${scene.stack}.blocks.${scene.layer - 1}.output` : `${scene.stack}.input`;
}

/**
 * What a sum receives: the output of its sub-layer.
 * @param {Given} given
 */
export function received({ scene }) {
  const name = scene.steps[0]?.name ?? "";
  const base = `${scene.stack}.blocks.${scene.layer}`;
  const box = name.endsWith("after_self_attention") ? "self_attention" : name.endsWith("after_cross_attention") ? "cross_attention" : "feed_forward";
  return `${base}.${box}.output`;
}

/** @type {Record<string, (given: Given) => (Node | null)[]>} */
export const SCENES = {
  text: ({ owner, app, about }) =>
    patched(about)
      ? [board(owner, app, { plain: true })]
      : [h("p", { class: "said-text" }, String(about.input?.["text"] ?? app.input().text ?? "")), about.output["text"] && h("p", { class: "quiet" }, `→ ${about.output["text"]}`)],
  pieces: (given) => {
    const side = given.scene.at === "pieces.target" ? "target" : "source";
    if (side === "source" && patched(given.about)) return [board(given.owner, given.app, { apart: true })];
    return [
      h(
        "ol",
        { class: "piece-list" },
        tokensOf(given.about, side).map(({ piece, id }, at) =>
          h(
            "li",
            {},
            h(
              "button",
              { type: "button", class: "piece-card", "data-token": `${side}:${at}`, "aria-pressed": String(given.app.rows.value[side] === at), onclick: () => given.app.follow(side, at) },
              h("span", {}, patched(given.about) ? nameOf(given.about, side, at) : piece),
              h("small", {}, id === null ? `#${at}` : String(id)),
            ),
          ),
        ),
      ),
    ];
  },
  embedding: (given) => [rowStrip(given, stepName(given), { symbol: "e" }), mapOf(given)],
  position: (given) => {
    const name = stepName(given);
    const stack = name.split(".")[0] ?? "";
    const embedding = given.about.steps.filter((step) => step.key === "embedding" && sideOf(given.about, step.name) === sideOf(given.about, name)).at(-1);
    const encoding = `${stack}.positions.encoding`;
    const parts = [embedding && rowStrip(given, embedding.name, { symbol: "e" }), given.app.run.value?.tensors.has(encoding) ? rowStrip(given, encoding, { symbol: "P" }) : null];
    return [parts[0] ?? null, parts[1] ? sign("+") : null, parts[1] ?? null, sign("="), rowStrip(given, name, { symbol: "x" })];
  },
  qkv: (given) => given.scene.steps.map((step) => rowStrip(given, step.name, { symbol: symbolOf(step), head: given.app.head.value })),
  scores: (given) => [mapOf(given), rowNumbers(given)],
  mask: (given) => [mapOf(given), h("p", { class: "quiet" }, say("explorer.mask_note"))],
  weights: (given) => [overPatches(given), mapOf(given), rowNumbers(given)],
  heads: (given) => [mapOf(given), rowStrip(given, stepName(given), { symbol: "H", head: given.app.head.value })],
  concat: (given) => {
    const base = stepName(given).replace(/output$/, "heads");
    const count = given.app.tensor(base)?.shape.at(-3) ?? 0;
    const some = Math.min(count, 4);
    const heads = Array.from({ length: some }, (_, head) => rowStrip(given, base, { symbol: `H${head + 1}`, head, note: say("explorer.head", { number: head + 1 }) }));
    return [h("div", { class: "side-by-side" }, heads), count > some ? h("p", { class: "quiet" }, `… ${count}`) : null, sign("× W_O ="), rowStrip(given, stepName(given), { symbol: "O" })];
  },
  residual: (given) => {
    const [before, more] = [streamBefore(given), received(given)];
    const parts = [before && rowOf(given, before), rowOf(given, more)];
    if (!before || !parts[0] || !parts[1]) return [rowStrip(given, stepName(given), { symbol: "u" })];
    const sum = Float32Array.from(parts[0].values, (value, i) => value + Number(/** @type {any} */ (parts[1]).values[i]));
    const most = Math.max(reach(parts[0].values), reach(parts[1].values), reach(sum));
    const virtual = given.scene.at.endsWith(".sum");
    return [
      rowStrip(given, before, { symbol: "x", note: say("explorer.what_was"), most }),
      sign("+"),
      rowStrip(given, more, { symbol: given.scene.at.includes("attention") ? "O" : "f", note: say("explorer.what_came"), most }),
      sign("="),
      virtual ? strip(given.owner, given.app, { symbol: "x + O", values: sum, most, data: `${stepName(given)}.sum`, row: parts[0].row }) : rowStrip(given, stepName(given), { symbol: symbolOf(/** @type {Step} */ (given.scene.steps[0])), most }),
    ];
  },
  norm: normScene,
  gate: (given) => [rowStrip(given, stepName(given), { symbol: "g" }), mapOf(given)],
  hidden: (given) => {
    const found = rowOf(given, stepName(given));
    const active = found ? Array.from(found.values).filter((value) => value > 0).length : 0;
    return [rowStrip(given, stepName(given), { symbol: "h" }), found && h("p", { class: "quiet" }, say("explorer.active", { active, all: found.values.length })), mapOf(given)];
  },
  network: (given) => [rowStrip(given, stepName(given), { symbol: "f" }), mapOf(given)],
  output: (given) => [rowStrip(given, stepName(given), { symbol: symbolOf(/** @type {Step} */ (given.scene.steps[0])) }), mapOf(given)],
  pooled: (given) => [rowStrip(given, stepName(given), { symbol: "q" })],
  logits: (given) => [rowStrip(given, stepName(given), { symbol: "logits" })],
  choice: (given) => [...choiceOf(given)],
};

/** @param {Given} given */
const stepName = (given) => given.scene.steps[0]?.name ?? "";

/** @param {Given} given */
function mapOf(given) {
  const name = stepName(given);
  const tensor = given.app.tensor(name);
  return tensor ? tensorMap(given.owner, given.app, given.about, name, hasHeads(name) ? given.app.head.value : null) : null;
}

/**
 * Where the keys are patches: the followed row of weights over the image, or on the chart.
 * @param {Given} given
 */
function overPatches({ owner, app, about, scene }) {
  const name = scene.steps[0]?.name ?? "";
  const found = rowOf({ owner, app, about, scene }, name, app.head.value);
  return found && patched(about) && sideOf(about, name, "columns") === "source" ? board(owner, app, { shares: { name, values: found.values } }) : null;
}

/**
 * @param {Given} given
 * @returns {Node[]}
 */
function choiceOf(given) {
  const { owner, app, about } = given;
  const pixels = app.run.value && pixelsOf(app.run.value);
  if (about.output["objects"] && pixels) return [h("div", { class: "canvas-found" }, still(pixels), boxesOver(app)), objectList(owner, app)];
  return [patched(about) === "series" ? forecastChart(owner, app) : bars(given)];
}

const MANY = 16; // patches stand side by side

/**
 * The followed row of a map in numbers: every token that is looked at, with its share.
 * @param {Given} given
 */
function rowNumbers(given) {
  const name = stepName(given);
  const found = rowOf(given, name, given.app.head.value);
  if (!found) return null;
  const side = sideOf(given.about, name, "columns");
  const most = reach(found.values);
  const place = { ...placeOf(name), head: given.app.head.value };
  return h(
    "ul",
    { class: `terms row-numbers${found.values.length > MANY ? " many" : ""}` },
    tokensOf(given.about, side).map((_, column) => {
      const value = Number(found.values[column]);
      return h(
        "li",
        {},
        h(
          "button",
          { type: "button", "data-token": `${side}:${column}`, "data-column": column, onclick: () => given.app.go(place, { zoom: 5, cell: [found.row, column] }) },
          h("span", { class: "term-label" }, nameOf(given.about, side, column)),
          h("span", { class: `term-bar ${value < 0 ? "minus" : "plus"}`, style: { "--part": Math.abs(value) / most } }),
          h("span", { class: "term-value" }, number(value)),
        ),
      );
    }),
  );
}

/**
 * The likeliest choices at the followed row.
 * @param {Given} given
 */
function bars({ app, about }) {
  const { top, classes, numbers, objects } = about.output;
  const side = about.tokens.target?.length ? "target" : "source";
  if (Array.isArray(objects)) return h("div", {}, found(objects, app.rows.value[side]));
  const rows = Array.isArray(top) ? top : [];
  const row = Math.min(app.rows.value[side], Math.max(0, rows.length - 1));
  /** @type {{label: string, p: number}[]} */
  const shown = rows[row]?.map((/** @type {any} */ one) => ({ label: one.piece, p: one.p })) ?? [...(classes ?? [])].map((one) => ({ label: one.label ?? one.piece, p: one.p })).sort((a, b) => b.p - a.p);
  if (!shown.length && Array.isArray(numbers)) return h("p", { class: "numbers" }, numbers.slice(0, 12).map((/** @type {number} */ one) => h("span", { class: "number" }, number(one, 2))));
  return choices(shown);
}

/** @param {{label: string, p: number}[]} shown */
function choices(shown) {
  return h(
    "ol",
    { class: "terms choices" },
    shown.map((one) =>
      h("li", {}, h("div", {}, h("span", { class: "term-label" }, one.label), h("span", { class: "term-bar plus", style: { "--part": one.p } }), h("span", { class: "term-value" }, number(one.p)))),
    ),
  );
}

/**
 * What each query or prompt has found, and the box of the followed one.
 * @param {{label: string | null, p: number, box: number[]}[]} objects
 * @param {number} row
 */
function found(objects, row) {
  const followed = objects[Math.min(row, objects.length - 1)];
  const name = (/** @type {string | null} */ label) => label ?? say("explorer.interfere.nothing");
  return [
    choices(objects.map(({ label, p }, at) => ({ label: `${at + 1}. ${name(label)}`, p }))),
    h("p", { class: "numbers box-numbers" }, (followed?.box ?? []).map((one) => h("span", { class: "number" }, number(one)))),
  ];
}
