// Heat maps on a canvas: one pixel for each number, written at once and enlarged by the style sheet.
// Weights (0 … 1) go from paper to ink; signed numbers from one colour through paper to the other.

/** @typedef {{rows: number, columns: number, data: ArrayLike<number>}} Matrix */
/** @typedef {{low: number[], zero: number[], high: number[], none: number[]}} Palette */

/** @type {Record<string, Palette>} */
export const PALETTES = {
  light: { low: [178, 74, 34], zero: [246, 247, 250], high: [28, 76, 172], none: [222, 225, 232] },
  dark: { low: [255, 158, 100], zero: [27, 31, 41], high: [122, 176, 255], none: [52, 57, 70] },
};

/**
 * The colour of a share from −1 to 1.
 * @param {number} share
 * @param {Palette} palette
 * @returns {number[]}
 */
export function colour(share, palette) {
  const towards = share < 0 ? palette.low : palette.high;
  const part = Math.min(1, Math.abs(share));
  return palette.zero.map((from, i) => Math.round(from + (/** @type {number} */ (towards[i]) - from) * part));
}

/**
 * Black or white, whichever is easier to read on a colour.
 * @param {number[]} rgb
 */
export function inkOn(rgb) {
  const [r = 0, g = 0, b = 0] = rgb.map((part) => (part <= 10 ? part / 3295 : ((part / 255 + 0.055) / 1.055) ** 2.4));
  return 0.2126 * r + 0.7152 * g + 0.0722 * b > 0.18 ? "#000" : "#fff";
}

/**
 * The largest size of a number in it: what is drawn in full colour.
 * @param {ArrayLike<number>} data
 */
export function reach(data) {
  let most = 0;
  for (let i = 0; i < data.length; i += 1) most = Math.max(most, Math.abs(/** @type {number} */ (data[i])));
  return most || 1;
}

/**
 * A matrix of at most so many rows and columns: of the numbers that share a cell the largest in size is kept.
 * @param {Matrix} matrix
 * @param {number} most
 * @returns {Matrix}
 */
export function shrunk(matrix, most) {
  if (matrix.rows <= most && matrix.columns <= most) return matrix;
  const [rows, columns] = [Math.min(most, matrix.rows), Math.min(most, matrix.columns)];
  const data = new Float32Array(rows * columns);
  const column = Uint32Array.from({ length: matrix.columns }, (_, at) => Math.floor((at * columns) / matrix.columns));
  for (let row = 0, i = 0; row < matrix.rows; row += 1) {
    const begin = Math.floor((row * rows) / matrix.rows) * columns;
    for (let at = 0; at < matrix.columns; at += 1, i += 1) {
      const into = begin + /** @type {number} */ (column[at]);
      const value = /** @type {number} */ (matrix.data[i]);
      if (Math.abs(value) > Math.abs(/** @type {number} */ (data[into]))) data[into] = value;
    }
  }
  return { rows, columns, data };
}

/**
 * Draws a matrix; where `mask` is 0, nothing may be looked at. `most` is drawn in full colour.
 * @param {HTMLCanvasElement} canvas
 * @param {Matrix} matrix
 * @param {{most?: number, palette: Palette, mask?: ArrayLike<number> | null}} how
 */
export function drawHeat(canvas, { rows, columns, data }, { most = reach(data), palette, mask = null }) {
  canvas.width = columns;
  canvas.height = rows;
  const context = /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d"));
  const image = context.createImageData(columns, rows);
  const pixels = new Uint32Array(image.data.buffer);
  const table = colours(palette);
  const none = packed(palette.none);
  for (let i = 0; i < rows * columns; i += 1) {
    const share = Math.max(-1, Math.min(1, /** @type {number} */ (data[i]) / most));
    pixels[i] = mask && !mask[i] ? none : /** @type {number} */ (table[Math.round(share * 255) + 255]);
  }
  context.putImageData(image, 0, 0);
}

/** @type {WeakMap<Palette, Uint32Array>} */
const tables = new WeakMap();

/**
 * 511 colours from −1 to 1, packed as a canvas wants them.
 * @param {Palette} palette
 */
function colours(palette) {
  let table = tables.get(palette);
  if (!table) {
    table = Uint32Array.from({ length: 511 }, (_, i) => packed(colour((i - 255) / 255, palette)));
    tables.set(palette, table);
  }
  return table;
}

/** @param {number[]} rgb */
const packed = ([r = 0, g = 0, b = 0]) => ((255 << 24) | (b << 16) | (g << 8) | r) >>> 0;

/**
 * Which cell of a map lies under the pointer.
 * @param {PointerEvent | MouseEvent} event
 * @param {HTMLCanvasElement} canvas
 * @returns {[number, number]}
 */
export function cellAt(event, canvas) {
  const box = canvas.getBoundingClientRect();
  const within = (/** @type {number} */ at, /** @type {number} */ most) => Math.max(0, Math.min(most - 1, Math.floor(at)));
  return [
    within(((event.clientY - box.top) / box.height) * canvas.height, canvas.height),
    within(((event.clientX - box.left) / box.width) * canvas.width, canvas.width),
  ];
}
