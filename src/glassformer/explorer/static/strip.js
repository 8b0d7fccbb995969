// A vector as a strip of colours with its first numbers below: what one token is, at one step.

import { h } from "./dom.js";
import { cellAt, drawHeat, PALETTES } from "./heat.js";
import { number } from "./words.js";

const SHOWN = 8;

/**
 * @typedef {{symbol: string, note?: string, values: ArrayLike<number>, most: number, at?: string,
 *   onPick?: ((column: number) => void) | null, data?: string, row?: number, head?: number | undefined}} StripOf
 */

/**
 * @param {import("./signal.js").Owner} owner
 * @param {import("./app.js").App} app
 * @param {StripOf} given
 * @returns {HTMLElement}
 */
export function strip(owner, app, { symbol, note = "", values, most, at, onPick = null, data, row, head }) {
  const canvas = /** @type {HTMLCanvasElement} */ (h("canvas", { class: "strip-canvas" }));
  const readout = h("output", { class: "strip-readout" });
  owner.effect(() => {
    const palette = /** @type {import("./heat.js").Palette} */ (app.dark.value ? PALETTES["dark"] : PALETTES["light"]);
    drawHeat(canvas, { rows: 1, columns: values.length, data: values }, { most, palette });
  });
  owner.listen(canvas, "pointermove", (event) => {
    const [, column] = cellAt(event, canvas);
    readout.textContent = `[${column}] ${number(values[column] ?? NaN)}`;
  });
  owner.listen(canvas, "pointerleave", () => (readout.textContent = ""));
  if (onPick) owner.listen(canvas, "click", (event) => onPick(cellAt(event, canvas)[1]));
  const first = Array.from({ length: Math.min(SHOWN, values.length) }, (_, i) => i);
  return h(
    "div",
    { class: "strip", "data-at": at ?? null, "data-strip": data ?? null, "data-row": row ?? null, "data-head": head ?? null },
    h("div", { class: "strip-head" }, h("b", { class: "symbol" }, symbol), note && h("span", { class: "strip-note" }, note), readout),
    canvas,
    h(
      "div",
      { class: "numbers" },
      first.map((i) =>
        onPick
          ? h("button", { type: "button", class: "number", "data-column": i, onclick: () => onPick(i) }, number(values[i] ?? NaN))
          : h("span", { class: "number" }, number(values[i] ?? NaN)),
      ),
      values.length > SHOWN && h("span", { class: "more", "aria-hidden": "true" }, `… ${values.length}`),
    ),
  );
}
