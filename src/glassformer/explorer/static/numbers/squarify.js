// A treemap's layout (Bruls, Huizing & van Wijk 2000): areas in proportion, rectangles as near to squares as they can be.

/** @typedef {{x: number, y: number, width: number, height: number}} Frame */

/**
 * @param {number[]} sizes  largest first is not needed; each above 0
 * @param {Frame} frame
 * @returns {Frame[]} a rectangle for each size, in the same order
 */
export function squarify(sizes, frame) {
  const scale = (frame.width * frame.height) / sizes.reduce((sum, size) => sum + size, 0);
  const order = sizes.map((_, i) => i).sort((a, b) => (sizes[b] ?? 0) - (sizes[a] ?? 0) || a - b);
  /** @type {Frame[]} */
  const found = new Array(sizes.length);
  let { x, y, width, height } = frame;
  /** @type {number[]} */
  let row = [];
  const areas = (/** @type {number[]} */ some) => some.map((i) => (sizes[i] ?? 0) * scale);
  const place = () => {
    const sum = areas(row).reduce((a, b) => a + b, 0);
    const across = width >= height; // a column at the left, else a row at the top
    const thick = sum / (across ? height : width);
    let at = across ? y : x;
    row.forEach((i, n) => {
      const long = /** @type {number} */ (areas(row)[n]) / thick;
      found[i] = across ? { x, y: at, width: thick, height: long } : { x: at, y, width: long, height: thick };
      at += long;
    });
    if (across) [x, width] = [x + thick, width - thick];
    else [y, height] = [y + thick, height - thick];
    row = [];
  };
  for (const i of order) {
    const side = Math.min(width, height);
    if (row.length && worst(areas([...row, i]), side) > worst(areas(row), side)) place();
    row.push(i);
  }
  if (row.length) place();
  return found;
}

/**
 * The worst proportion of a row's rectangles.
 * @param {number[]} areas
 * @param {number} side
 */
function worst(areas, side) {
  const sum = areas.reduce((a, b) => a + b, 0);
  return Math.max(...areas.map((area) => Math.max((side * side * area) / (sum * sum), (sum * sum) / (side * side * area))));
}
