// A colour bar with numbers: what the two colours of a signed difference mean, symmetric around 0.

import { h } from "../dom.js";
import { drawHeat, PALETTES } from "../heat.js";
import { number, say } from "../words.js";

const STEPS = 101;

/**
 * @param {import("../signal.js").Owner} owner
 * @param {import("../app.js").App} app
 * @param {number} most  what has full colour
 * @returns {HTMLElement}
 */
export function signedLegend(owner, app, most) {
  const canvas = /** @type {HTMLCanvasElement} */ (h("canvas", { class: "signed-bar", "aria-hidden": "true" }));
  const data = Array.from({ length: STEPS }, (_, i) => (most * (2 * i)) / (STEPS - 1) - most);
  owner.effect(() => {
    const palette = /** @type {import("../heat.js").Palette} */ (app.dark.value ? PALETTES["dark"] : PALETTES["light"]);
    drawHeat(canvas, { rows: 1, columns: STEPS, data }, { most, palette });
  });
  return h(
    "div",
    { class: "signed-legend", "data-most": most },
    canvas,
    h("span", {}, h("b", {}, number(-most)), h("small", {}, say("explorer.compare.left_more"))),
    h("span", {}, h("b", {}, "0")),
    h("span", {}, h("b", {}, `+${number(most)}`), h("small", {}, say("explorer.compare.right_more"))),
  );
}
