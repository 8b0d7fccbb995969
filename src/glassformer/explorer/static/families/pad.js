// A drawing pad of the model's own raster: mouse, finger, or arrow keys and the space bar. It can also be pointed at.

import { h } from "../dom.js";
import { cellAt } from "../heat.js";
import { drawPixels } from "./raster.js";

/**
 * @typedef {"paint" | "erase" | "point"} Tool
 * @typedef {{raster: import("./given.js").Raster, tool: import("../signal.js").Signal<Tool>, label: () => string,
 *   onDraw: (bytes: Uint8Array) => void, onPoint: (x: number, y: number) => void, onHover?: (x: number, y: number) => void}} PadOf
 *   x and y of onHover are 0 … 1
 */

/**
 * How thick a brush is, in pixels: a stroke of a digit is a twelfth of its image, on a canvas of several a pixel and a half.
 * @param {import("./given.js").Raster} raster
 */
const radiusOf = ({ side }) => (side > 28 && side < 112 ? 0.75 : 0.5 + side / 70);

/**
 * @param {import("../signal.js").Owner} owner
 * @param {PadOf} given
 */
export function makePad(owner, { raster, tool, label, onDraw, onPoint, onHover }) {
  const { side, channels, rows } = raster;
  const radius = radiusOf(raster);
  let bytes = new Uint8Array(side * side * channels);
  let [x, y] = [Math.floor(side / 2), Math.floor(side / 2)];
  const canvas = /** @type {HTMLCanvasElement} */ (h("canvas", { class: "raster pad-canvas", id: "pad-canvas" }));
  const cursor = h("span", { class: "pad-cursor", hidden: true });
  const pad = h("div", { class: "pad", id: "pad", "data-needs": "model", tabindex: "0", role: "application", style: { "--patches": rows } }, canvas, h("span", { class: "pad-grid", "aria-hidden": "true" }), cursor);
  const show = () => drawPixels(canvas, { side, channels, data: bytes, most: 255 });
  show();
  owner.effect(() => {
    pad.setAttribute("aria-label", label());
    pad.dataset["tool"] = tool.value;
  });

  /** @param {number} column @param {number} row  in pixels, of the middle of the brush */
  const stamp = (column, row) => {
    const erase = tool.peek() === "erase";
    const reach = Math.ceil(radius + 0.5);
    for (let i = Math.max(0, Math.floor(row) - reach); i <= Math.min(side - 1, Math.floor(row) + reach); i += 1) {
      for (let j = Math.max(0, Math.floor(column) - reach); j <= Math.min(side - 1, Math.floor(column) + reach); j += 1) {
        const ink = Math.round(255 * Math.max(0, Math.min(1, radius + 0.5 - Math.hypot(j + 0.5 - column, i + 0.5 - row))));
        for (let channel = 0; channel < channels; channel += 1) {
          const at = (channel * side + i) * side + j;
          const was = Number(bytes[at]);
          bytes[at] = erase ? Math.min(was, 255 - ink) : Math.max(was, ink);
        }
      }
    }
  };
  /** @param {PointerEvent} event @returns {[number, number]} */
  const under = (event) => {
    const box = canvas.getBoundingClientRect();
    return [((event.clientX - box.left) / box.width) * side, ((event.clientY - box.top) / box.height) * side];
  };
  /** @type {[number, number] | null} */
  let last = null;
  const drawn = () => {
    show();
    onDraw(bytes.slice());
  };
  owner.listen(pad, "pointerdown", (/** @type {PointerEvent} */ event) => {
    if (event.button) return;
    cursor.hidden = true;
    [y, x] = cellAt(event, canvas);
    if (tool.peek() === "point") return onPoint(x, y);
    last = under(event);
    if (event.isTrusted) pad.setPointerCapture(event.pointerId);
    stamp(...last);
    drawn();
  });
  owner.listen(pad, "pointermove", (/** @type {PointerEvent} */ event) => {
    const now = under(event);
    onHover?.(now[0] / side, now[1] / side);
    if (!last) return;
    const steps = Math.max(1, Math.ceil(2 * Math.hypot(now[0] - last[0], now[1] - last[1])));
    for (let i = 1; i <= steps; i += 1) stamp(last[0] + ((now[0] - last[0]) * i) / steps, last[1] + ((now[1] - last[1]) * i) / steps);
    last = now;
    drawn();
  });
  for (const end of ["pointerup", "pointercancel"]) owner.listen(pad, end, () => (last = null));
  owner.listen(pad, "blur", () => (cursor.hidden = true));
  owner.listen(pad, "keydown", (/** @type {KeyboardEvent} */ event) => {
    const move = /** @type {Record<string, [number, number]>} */ ({ ArrowUp: [0, -1], ArrowDown: [0, 1], ArrowLeft: [-1, 0], ArrowRight: [1, 0] })[event.key];
    if (move) {
      x = Math.max(0, Math.min(side - 1, x + move[0]));
      y = Math.max(0, Math.min(side - 1, y + move[1]));
    } else if (event.key === " " || event.key === "Enter") {
      if (tool.peek() === "point") onPoint(x, y);
      else {
        stamp(x + 0.5, y + 0.5);
        drawn();
      }
    } else return;
    event.preventDefault();
    event.stopPropagation();
    cursor.hidden = false;
    for (const [key, value] of Object.entries({ left: x / side, top: y / side, width: 1 / side, height: 1 / side })) cursor.style.setProperty(key, `${100 * value}%`);
  });
  return {
    element: pad,
    /** @param {Uint8Array} next */
    set(next) {
      bytes = next.slice();
      show();
    },
    /** @param {(byte: number) => number} turned  each byte by itself */
    change(turned) {
      bytes = bytes.map(turned);
      drawn();
    },
  };
}
