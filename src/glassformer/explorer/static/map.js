// A heat map that can be read: tokens along its sides, the number under the pointer, a cell chosen by click or keys.

import { h } from "./dom.js";
import { cellAt, drawHeat, PALETTES } from "./heat.js";
import { number, upright } from "./words.js";

/**
 * @typedef {import("./signal.js").Owner} Owner
 * @typedef {import("./app.js").App} App
 * @typedef {{matrix: import("./heat.js").Matrix, mask?: ArrayLike<number> | null, most?: number, name: string, head?: number | null,
 *   rows: string[], columns?: string[] | null, sides: {rows: string, columns?: string}, label: string,
 *   chosenRow?: () => number | null, cell?: () => [number, number] | null, onPick: (row: number, column: number) => void,
 *   onRow?: (row: number) => void, hot?: import("./arcs.js").Hot}} MapOf
 */

const MOST_LABELS = 48;

/**
 * @param {Owner} owner
 * @param {App} app
 * @param {MapOf} given
 * @returns {HTMLElement}
 */
export function heatMap(owner, app, given) {
  const { matrix, rows, columns = null, sides, label } = given;
  const square = columns !== null;
  const canvas = /** @type {HTMLCanvasElement} */ (h("canvas", { class: "map-canvas", "data-map": given.name, "data-head": given.head ?? "" }));
  const rowMark = h("span", { class: "map-row-mark", hidden: true });
  const cellMark = h("span", { class: "map-cell-mark", hidden: true });
  const readout = h("output", { class: "map-readout" });
  const body = h("div", { class: "map-body", tabindex: "0", role: "group", "aria-label": label }, canvas, rowMark, cellMark);

  owner.effect(() => {
    const palette = /** @type {import("./heat.js").Palette} */ (app.dark.value ? PALETTES["dark"] : PALETTES["light"]);
    drawHeat(canvas, matrix, { palette, mask: given.mask ?? null, ...(given.most ? { most: given.most } : {}) });
  });

  /** @param {number} row @param {number} column */
  const place = (row, column) => {
    cellMark.style.setProperty("top", `${(row / matrix.rows) * 100}%`);
    cellMark.style.setProperty("left", `${(column / matrix.columns) * 100}%`);
    cellMark.style.setProperty("height", `${100 / matrix.rows}%`);
    cellMark.style.setProperty("width", `${100 / matrix.columns}%`);
    cellMark.hidden = false;
    const [from, to] = [rows[row] ?? row, columns ? (columns[column] ?? column) : `[${column}]`];
    const hidden = given.mask && !given.mask[row * matrix.columns + column];
    readout.textContent = `${from} → ${to}  ${hidden ? "–" : number(matrix.data[row * matrix.columns + column] ?? NaN)}`;
    app.hotToken.value = `${sides.rows}:${row}`;
    if (given.hot) given.hot.value = { row, column };
  };
  const rest = () => {
    const cell = given.cell?.() ?? null;
    if (cell) place(cell[0], cell[1]);
    else {
      cellMark.hidden = true;
      readout.textContent = "";
    }
    if (given.hot) given.hot.value = { row: null, column: null };
  };
  let [row, column] = [0, 0];
  owner.listen(body, "pointermove", (event) => {
    [row, column] = cellAt(event, canvas);
    place(row, column);
  });
  owner.listen(body, "pointerleave", rest);
  owner.listen(body, "click", (event) => given.onPick(...cellAt(event, canvas)));
  owner.listen(body, "keydown", (/** @type {KeyboardEvent} */ event) => {
    const move = /** @type {Record<string, [number, number]>} */ ({ ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] })[event.key];
    if (event.key === "Enter" || event.key === " ") given.onPick(row, column);
    else if (move) {
      row = Math.max(0, Math.min(matrix.rows - 1, row + move[0]));
      column = Math.max(0, Math.min(matrix.columns - 1, column + move[1]));
      place(row, column);
    } else return;
    event.preventDefault();
    event.stopPropagation();
  });
  owner.effect(() => {
    const chosen = given.chosenRow?.() ?? null;
    rowMark.hidden = chosen === null || chosen >= matrix.rows;
    rowMark.style.setProperty("top", `${((chosen ?? 0) / matrix.rows) * 100}%`);
    rowMark.style.setProperty("height", `${100 / matrix.rows}%`);
    const cell = given.cell?.() ?? null;
    if (cell) [row, column] = cell;
    rest();
  });

  const sideLabels = rows.length <= MOST_LABELS;
  return h(
    "div",
    { class: `map ${square ? "square" : "wide"}`, style: { "--rows": matrix.rows, "--columns": matrix.columns } },
    square && columns.length <= MOST_LABELS
      ? h("div", { class: "map-columns", "aria-hidden": "true" }, columns.map((piece, at) => h("span", { "data-token": `${sides.columns}:${at}` }, upright(piece))))
      : null,
    sideLabels &&
      h(
        "div",
        { class: "map-rows" },
        rows.map((piece, at) =>
          h("button", { type: "button", tabindex: "-1", "data-token": `${sides.rows}:${at}`, onclick: () => (given.onRow ?? (() => given.onPick(at, 0)))(at) }, piece),
        ),
      ),
    body,
    readout,
  );
}
