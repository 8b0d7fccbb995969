// Which term a box of the figure is: the one that its label names, or else the one of its kind.

const POSITIONS = /** @type {Record<string, string>} */ ({ learned: "learned_positions", rotary: "rotary", alibi: "alibi", relative: "relative_positions" });

/** @type {Record<string, (sizes: Record<string, any>) => string>} */
const BY_KIND = {
  norm: (sizes) => (sizes["norm"] === "rms" ? "rms_norm" : "layer_norm"),
  add: () => "residual_connection",
  add_norm: () => "residual_connection",
  position: (sizes) => POSITIONS[sizes["position"]] ?? "positional_encoding",
};

/**
 * @param {Element} box
 * @param {import("./find.js").Finder} found
 * @param {import("../app.js").App} app
 * @returns {string | undefined}
 */
export function termOfBox(box, found, app) {
  const kind = [...box.classList].find((one) => BY_KIND[one]);
  return kind ? BY_KIND[kind]?.(app.model.peek()?.sizes ?? {}) : found.find(box.getAttribute("aria-label") ?? "")[0]?.key;
}
