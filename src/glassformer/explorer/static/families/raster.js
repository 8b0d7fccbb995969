// Pixels on a canvas: one for each number, as the model reads them before it scales them.

import { h } from "../dom.js";

/** @typedef {{side: number, channels: number, data: ArrayLike<number>, most: number}} Pixels  `most` is drawn white */

/**
 * @param {HTMLCanvasElement} canvas
 * @param {Pixels} pixels
 */
export function drawPixels(canvas, { side, channels, data, most }) {
  canvas.width = side;
  canvas.height = side;
  const context = /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d"));
  const image = context.createImageData(side, side);
  const plane = side * side;
  for (let i = 0; i < plane; i += 1) {
    for (let colour = 0; colour < 3; colour += 1) {
      const value = Number(data[(channels === 3 ? colour * plane : 0) + i]);
      image.data[4 * i + colour] = Math.round((255 * value) / most);
    }
    image.data[4 * i + 3] = 255;
  }
  context.putImageData(image, 0, 0);
}

/**
 * The image that the present run read.
 * @param {import("../engine.js").Run} run
 * @returns {Pixels | null}
 */
export function pixelsOf(run) {
  const found = run.tensors.get("input.pixels");
  if (!found) return null;
  return { side: Number(found.shape.at(-1)), channels: Number(found.shape.at(-3) ?? 1), data: found.data, most: 1 };
}

/**
 * An example of a model as bytes, channel by channel.
 * @param {any} example
 * @param {import("./given.js").Raster} raster
 * @returns {Uint8Array}
 */
export function bytesOf(example, { side, channels }) {
  const pixels = /** @type {number[]} */ ((example?.pixels ?? []).flat(2));
  const bytes = new Uint8Array(side * side * channels);
  bytes.set(pixels.map((value) => Math.round(255 * value)));
  return bytes;
}

/**
 * A still picture.
 * @param {Pixels} pixels
 * @param {Record<string, any>} [given]
 * @returns {HTMLCanvasElement}
 */
export function still(pixels, given = {}) {
  const canvas = /** @type {HTMLCanvasElement} */ (h("canvas", { class: "raster", ...given }));
  drawPixels(canvas, pixels);
  return canvas;
}
