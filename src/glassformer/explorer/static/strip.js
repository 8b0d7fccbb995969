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
  const reached = onPick ? { tabindex: "0", role: "slider", "aria-label": note ? `${symbol}, ${note}` : symbol, "aria-valuemin": 0, "aria-valuemax": values.length - 1, "aria-valuenow": 0 } : {};
  const canvas = /** @type {HTMLCanvasElement} */ (h("canvas", { class: "strip-canvas", ...reached }));
  const readout = h("output", { class: "strip-readout" });
  owner.effect(() => {
    const palette = /** @type {import("./heat.js").Palette} */ (app.dark.value ? PALETTES["dark"] : PALETTES["light"]);
    drawHeat(canvas, { rows: 1, columns: values.length, data: values }, { most, palette });
  });
  let chosen = 0;
  const read = (/** @type {number} */ column) => {
    chosen = column;
    readout.textContent = `[${column}] ${number(values[column] ?? NaN)}`;
    if (!onPick) return;
    canvas.setAttribute("aria-valuenow", String(column));
    canvas.setAttribute("aria-valuetext", readout.textContent);
  };
  owner.listen(canvas, "pointermove", (event) => read(cellAt(event, canvas)[1]));
  owner.listen(canvas, "pointerleave", () => (readout.textContent = ""));
  if (onPick) {
    owner.listen(canvas, "click", (event) => onPick(cellAt(event, canvas)[1]));
    owner.listen(canvas, "focus", () => read(chosen));
    owner.listen(canvas, "keydown", (/** @type {KeyboardEvent} */ event) => {
      const last = values.length - 1;
      const wanted = /** @type {Record<string, number>} */ ({ ArrowRight: chosen + 1, ArrowUp: chosen + 1, ArrowLeft: chosen - 1, ArrowDown: chosen - 1, Home: 0, End: last })[event.key];
      if (wanted !== undefined) read(Math.max(0, Math.min(last, wanted)));
      else if (event.key === "Enter" || event.key === " ") onPick(chosen);
      else return;
      event.preventDefault();
      event.stopPropagation();
    });
  }
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
