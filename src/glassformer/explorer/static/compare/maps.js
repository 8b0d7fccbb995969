// The map of one head on the left and on the right, and the signed difference of the cells that both have.

import { h } from "../dom.js";
import { reach } from "../heat.js";
import { attentionTitle, chosenAttention, pickers } from "../interfere/paint.js";
import { heatMap } from "../map.js";
import { placeOf, writePlace } from "../place.js";
import { matrix } from "../safetensors.js";
import { signal } from "../signal.js";
import { number, say } from "../words.js";
import { signedLegend } from "./legend.js";

const MOST_NAMED = 20;

/**
 * @typedef {import("../signal.js").Owner} Owner
 * @typedef {import("../app.js").App} App
 * @typedef {import("./asked.js").Compared} Compared
 * @typedef {import("./asked.js").Side} Side
 */

/**
 * @param {Owner} owner
 * @param {App} app
 * @param {Compared} compared
 * @returns {HTMLElement[]}
 */
export function bothMaps(owner, app, compared) {
  const about = app.run.peek()?.about;
  if (!about) return [];
  const { b } = compared.told;
  return [
    h("div", { class: "compare-maps" }, h("section", {}, h("h4", {}, say("explorer.compare.left_short")), leftPickers(owner, app, about), side(owner, app, compared, "a")), h("section", {}, h("h4", {}, say("explorer.compare.right_short")), rightPickers(app, b), side(owner, app, compared, "b"))),
    h("h4", { class: "compare-difference" }, say("explorer.compare.difference")),
    ...difference(owner, app, compared),
  ];
}

/**
 * They follow what is looked at, even before its map has come.
 * @param {Owner} owner
 * @param {App} app
 * @param {import("../engine.js").About} about
 */
function leftPickers(owner, app, about) {
  const place = h("div");
  owner.effect(() => place.replaceChildren(pickers(app, about, chosenAttention(app, about), Math.min(app.head.value, Number(about.sizes["n_heads"] ?? 1) - 1))));
  return place;
}

/**
 * Another attention and head on the right; by default those of the left, or the nearest.
 * @param {App} app
 * @param {Side} side
 */
function rightPickers(app, { attentions, heads, attention, head }) {
  const go = (/** @type {string} */ name, /** @type {number} */ which) => (app.field("with_at").value = writePlace({ ...placeOf(name), tap: "", head: which }));
  const list = /** @type {HTMLSelectElement} */ (h("select", { class: "attention-picker", id: "with-attention", "aria-label": say("explorer.interfere.which"), onchange: () => go(list.value, head) }, attentions.map((one) => h("option", { value: one, selected: one === attention }, attentionTitle(one)))));
  const pills = Array.from({ length: heads }, (_, one) => h("button", { type: "button", class: "pill", "data-with-head": one, "aria-pressed": String(one === head), onclick: () => go(list.value, one) }, say("explorer.head", { number: one + 1 })));
  return h("div", { class: "pickers" }, list, h("div", { class: "head-picker", role: "group", "aria-label": say("explorer.heads") }, pills));
}

/**
 * @param {Owner} owner
 * @param {App} app
 * @param {Compared} compared
 * @param {"a" | "b"} key
 */
function side(owner, app, { told, maps }, key) {
  const { rows, columns, attention, head } = told[key];
  const mask = maps.get(`${key}.mask`);
  const left = key === "a";
  return named(rows, columns, heatMap(owner, app, {
    name: `compare.${key}`,
    head,
    matrix: matrix(/** @type {import("../safetensors.js").Tensor} */ (maps.get(key))),
    mask: mask?.data ?? null,
    most: 1,
    rows,
    columns,
    sides: { rows: `${key}-rows`, columns: `${key}-columns` },
    label: `${say(`explorer.compare.${left ? "left" : "right"}_short`)}: ${attentionTitle(attention)}, ${say("explorer.head", { number: head + 1 })}`,
    onPick: (row, column) => pick(app, told, left ? { row, column } : shared(told, row, column)),
  }));
}

/**
 * A map with too many tokens to name them along its sides; each is named when it is pointed at.
 * @param {string[]} rows
 * @param {string[]} columns
 * @param {HTMLElement} map
 */
function named(rows, columns, map) {
  map.classList.toggle("dense", Math.max(rows.length, columns.length) > MOST_NAMED);
  return map;
}

/**
 * The cell of the left that a cell of the right belongs to.
 * @param {import("./asked.js").Told} told
 * @param {number} row
 * @param {number} column
 */
function shared({ cells }, row, column) {
  const find = (/** @type {import("./asked.js").Shared} */ { pairs }, /** @type {number} */ at) => pairs.find(([, right]) => right === at)?.[0];
  return { row: find(cells.rows, row), column: find(cells.columns, column) };
}

/**
 * A cell that is looked at stands in the address, and the figure shows where its number comes from.
 * @param {App} app
 * @param {import("./asked.js").Told} told
 * @param {{row: number | undefined, column: number | undefined}} cell
 */
function pick(app, { a }, { row, column }) {
  if (row === undefined || column === undefined) return;
  app.go({ ...placeOf(a.attention), tap: "weights", head: a.head }, { zoom: 5, cell: [row, column] });
}

/**
 * @param {Owner} owner
 * @param {App} app
 * @param {Compared} compared
 * @returns {HTMLElement[]}
 */
function difference(owner, app, { told, maps }) {
  const tensor = maps.get("difference");
  const { rows, columns, largest } = told.cells;
  if (!tensor || !largest) return [h("p", { class: "quiet", id: "no-difference" }, say(`explorer.compare.no_cells.${told.a.text ? "words" : "places"}`))];
  const found = matrix(tensor);
  const most = reach(found.data);
  const name = (/** @type {"rows" | "columns"} */ axis) => told.cells[axis].pairs.map(([i, j]) => [...new Set([told.a[axis][i], told.b[axis][j]])].join(" / "));
  const words = Boolean(told.a.text);
  const called = (/** @type {string | undefined} */ piece = "") => (words || !/^\d+$/.test(piece) ? piece : say("explorer.families.patch", { number: piece })); // a digit is no patch
  const hot = signal(/** @type {{row: number | null, column: number | null}} */ ({ row: null, column: null }));
  const chosen = () => {
    const cell = app.cell.value;
    if (!cell || app.place.value.tap !== "weights") return null;
    const at = [rows.pairs.findIndex(([i]) => i === cell[0]), columns.pairs.findIndex(([i]) => i === cell[1])];
    return at.includes(-1) ? null : /** @type {[number, number]} */ (at);
  };
  const [a, b] = [matrix(/** @type {any} */ (maps.get("a"))), matrix(/** @type {any} */ (maps.get("b")))];
  const sentence = h("p", { class: "sentence", id: "compare-cell", "aria-live": "polite" });
  owner.effect(() => {
    const [row, column] = hot.value.row !== null && hot.value.column !== null ? [hot.value.row, hot.value.column] : (chosen() ?? largest);
    const [i, j] = rows.pairs[row] ?? [0, 0];
    const [k, l] = columns.pairs[column] ?? [0, 0];
    const value = Number(found.data[row * found.columns + column]);
    sentence.dataset["value"] = String(value);
    sentence.textContent = say("explorer.compare.cell", { from: called(name("rows")[row]), to: called(name("columns")[column]), a: number(Number(a.data[i * a.columns + k])), b: number(Number(b.data[j * b.columns + l])), d: `${value > 0 ? "+" : ""}${number(value)}` });
  });
  const how = rows.how === "position" && columns.how === "position" ? "position" : "pieces";
  return [
    h("p", { class: "quiet", "data-how": how }, say(`explorer.compare.cells_by.${how}`)),
    sentence,
    named(name("rows"), name("columns"), heatMap(owner, app, {
      name: "compare.difference",
      matrix: found,
      mask: maps.get("difference.mask")?.data ?? null,
      most,
      rows: name("rows"),
      columns: name("columns"),
      sides: { rows: "d-rows", columns: "d-columns" },
      label: say("explorer.compare.difference"),
      hot,
      cell: chosen,
      onPick: (row, column) => pick(app, told, { row: rows.pairs[row]?.[0], column: columns.pairs[column]?.[0] }),
    })),
    signedLegend(owner, app, most),
  ];
}
