// Colours as every program reads them: #rrggbb and an opacity, whatever the style sheet computed.

/** @type {Map<string, {colour: string, opacity: number}>} */
const known = new Map();
const context = /** @type {CanvasRenderingContext2D} */ (document.createElement("canvas").getContext("2d", { willReadFrequently: true }));

/**
 * @param {string} computed
 * @returns {{colour: string, opacity: number}}
 */
export function plainColour(computed) {
  let found = known.get(computed);
  if (!found) {
    context.clearRect(0, 0, 1, 1);
    context.fillStyle = "#000";
    context.fillStyle = computed;
    context.fillRect(0, 0, 1, 1);
    const [r = 0, g = 0, b = 0, a = 0] = context.getImageData(0, 0, 1, 1).data;
    found = { colour: `#${[r, g, b].map((part) => part.toString(16).padStart(2, "0")).join("")}`, opacity: Number((a / 255).toFixed(3)) };
    known.set(computed, found);
  }
  return found;
}

/**
 * The attributes of an area in this colour; null if nothing is to be seen.
 * @param {string} computed
 * @param {"fill" | "stroke"} [what]
 * @returns {Record<string, string | number> | null}
 */
export function inColour(computed, what = "fill") {
  const { colour, opacity } = plainColour(computed);
  return opacity === 0 ? null : { [what]: colour, ...(opacity < 1 ? { [`${what}-opacity`]: opacity } : {}) };
}
