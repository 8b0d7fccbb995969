// A drawing as a file: SVG as it is, or its pixels as PNG. Files are named after the model, the view and the place.

import { paint } from "./paint.js";

const FINE = 2; // pixels of a PNG for one of the page
const MOST = 40e6; // pixels that a browser draws at once

/**
 * @param {Element} panel
 * @param {string} title
 * @returns {string}
 */
export function asSvg(panel, title) {
  const written = new XMLSerializer().serializeToString(paint(panel, title).svg);
  return `<?xml version="1.0" encoding="UTF-8"?>\n${written}\n`;
}

/**
 * @param {Element} panel
 * @param {string} title
 * @returns {Promise<Blob>}
 */
export async function asPng(panel, title) {
  const { svg, width, height } = paint(panel, title);
  const fine = Math.min(FINE, Math.sqrt(MOST / (width * height)));
  const address = URL.createObjectURL(new Blob([new XMLSerializer().serializeToString(svg)], { type: "image/svg+xml" }));
  try {
    const image = new Image();
    image.src = address;
    await image.decode();
    const canvas = document.createElement("canvas");
    [canvas.width, canvas.height] = [Math.round(width * fine), Math.round(height * fine)];
    /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d")).drawImage(image, 0, 0, canvas.width, canvas.height);
    return await new Promise((done, failed) => canvas.toBlob((blob) => (blob ? done(blob) : failed(new Error(`${canvas.width} × ${canvas.height}`))), "image/png"));
  } finally {
    URL.revokeObjectURL(address);
  }
}

/**
 * @param {Blob} content
 * @param {string} name
 */
export function download(content, name) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(content);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}

/**
 * @param {...(string | undefined)} parts
 */
export const fileName = (...parts) =>
  parts
    .filter(Boolean)
    .map((part) => String(part).replace(/[^\p{L}\p{N}.,_-]+/gu, "-"))
    .join("-");
