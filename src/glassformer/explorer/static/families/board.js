// The patches of an image, or of a series on its chart: point at one and its token is highlighted everywhere, choose it
// and it is followed. What one row of attention looks at can lie over them.

import { h } from "../dom.js";
import { say } from "../words.js";
import { nameOf, patched, percent } from "./names.js";
import { pixelsOf, still } from "./raster.js";
import { seriesChart } from "./chart.js";

/**
 * @typedef {import("../app.js").App} App
 * @typedef {import("../signal.js").Owner} Owner
 * @typedef {{name: string, values: ArrayLike<number>}} Shares  of every source position, one row of weights
 */

export const HEAT = [255, 106, 0]; // the colour of attention over an image, whatever the theme
const STRONGEST = 217; // of 255: how opaque the largest share is

/**
 * @param {Owner} owner
 * @param {App} app
 * @param {{shares?: Shares | null, small?: boolean, apart?: boolean, plain?: boolean}} [how]
 *   apart: the patches are drawn apart; plain: they are not drawn
 * @returns {HTMLElement | null}
 */
export function board(owner, app, { shares = null, small = false, apart = false, plain = false } = {}) {
  const run = app.run.value;
  if (!run) return null;
  if (patched(run.about) === "series") return seriesChart(owner, app, { shares, plain });
  const pixels = pixelsOf(run);
  if (!pixels) return null;
  if (plain) return h("div", { class: "board" }, h("div", { class: "board-picture" }, still(pixels, { "data-picture": "pixels" })));
  const { grid, class_tokens: first, patch, stride } = run.about.input;
  const [rows, columns] = /** @type {[number, number]} */ (grid);
  const most = Math.max(...Array.from({ length: rows * columns }, (_, i) => Number(shares?.values[first + i] ?? 0)), 1e-9);
  const cells = Array.from({ length: rows * columns }, (_, i) => cell(app, first + i, { row: Math.floor(i / columns), column: i % columns, share: shares?.values[first + i] }));
  const outside = Array.from({ length: first }, (_, at) =>
    h("button", { type: "button", class: "token", "data-token": `source:${at}`, onclick: () => app.follow("source", at) }, run.about.tokens.source?.[at]?.piece ?? "", shares && h("small", { class: "share" }, Number(shares.values[at]).toFixed(2))),
  );
  const all = [...outside, ...cells];
  owner.effect(() => all.forEach((one, at) => one.setAttribute("aria-pressed", String(app.rows.value.source === at))));
  const body = h("div", { class: "board-cells", role: "group", "aria-label": say("explorer.families.patches") }, cells);
  roving(owner, body, cells, columns);
  return h(
    "div",
    { class: `board${small ? " small" : ""}${apart ? " apart" : ""}${patch > stride ? " overlap" : ""}`, style: { "--columns": columns, "--rows": rows, "--reach": (patch - stride) / 2 / stride } },
    h("div", { class: "board-picture" }, still(pixels, { "data-picture": "pixels" }), shares && heat(shares, { rows, columns, first, most }), body),
    h("div", { class: "board-outside" }, outside, shares && h("span", { class: "quiet" }, say("explorer.families.strongest", { share: percent(most) }))),
  );
}

/**
 * @param {App} app
 * @param {number} at
 * @param {{row: number, column: number, share: number | undefined}} where
 */
function cell(app, at, { row, column, share }) {
  const about = /** @type {import("../engine.js").Run} */ (app.run.peek()).about;
  const name = say("explorer.families.patch_at", { name: nameOf(about, "source", at), row: row + 1, column: column + 1 });
  const label = share === undefined ? name : `${name}: ${share.toFixed(3)}`;
  return h("button", { type: "button", class: "board-cell", "data-token": `source:${at}`, "aria-label": label, title: label, onclick: () => app.follow("source", at) });
}

/**
 * One pixel for each patch: the larger its share, the less the image shines through.
 * @param {Shares} shares
 * @param {{rows: number, columns: number, first: number, most: number}} grid
 */
function heat({ name, values }, { rows, columns, first, most }) {
  const canvas = /** @type {HTMLCanvasElement} */ (h("canvas", { class: "board-heat", width: columns, height: rows, "data-overlay": name }));
  const context = /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d"));
  const image = context.createImageData(columns, rows);
  for (let i = 0; i < rows * columns; i += 1) image.data.set([...HEAT, Math.round((STRONGEST * Number(values[first + i])) / most)], 4 * i);
  context.putImageData(image, 0, 0);
  return canvas;
}

/**
 * One of many buttons is reached by Tab, the others by the arrow keys.
 * @param {Owner} owner
 * @param {HTMLElement} body
 * @param {(HTMLElement | SVGElement)[]} cells
 * @param {number} columns
 */
export function roving(owner, body, cells, columns) {
  const reach = (/** @type {number} */ now) => cells.forEach((one, at) => one.setAttribute("tabindex", at === now ? "0" : "-1"));
  reach(Math.max(0, cells.findIndex((one) => one.getAttribute("aria-pressed") === "true")));
  owner.listen(body, "keydown", (/** @type {KeyboardEvent} */ event) => {
    const now = cells.indexOf(/** @type {HTMLElement} */ (document.activeElement));
    const step = { ArrowLeft: -1, ArrowRight: 1, ArrowUp: -columns, ArrowDown: columns }[event.key];
    if (step === undefined || now < 0) return;
    const next = cells[now + step];
    if (next) {
      reach(now + step);
      next.focus();
    }
    event.preventDefault();
    event.stopPropagation(); // the arrow keys of the player
  });
}
