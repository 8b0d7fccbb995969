// A treemap's layout in strips (Bederson, Shneiderman & Wattenberg 2002): areas in proportion, and the order is kept, so
// that layer 2 stands between 1 and 3; as near to squares as that allows.

/** @typedef {{x: number, y: number, width: number, height: number}} Frame */

/**
 * @param {number[]} sizes  each above 0
 * @param {Frame} frame
 * @returns {Frame[]} a rectangle for each size, in the same order
 */
export function strips(sizes, { x, y, width, height }) {
  const scale = (width * height) / sizes.reduce((sum, size) => sum + size, 0);
  /** @type {number[][]} */
  const rows = [];
  for (const size of sizes) {
    const row = rows.at(-1);
    if (row && longish([...row, size * scale], width) <= longish(row, width)) row.push(size * scale);
    else rows.push([size * scale]);
  }
  let top = y;
  return rows.flatMap((row) => {
    const thick = row.reduce((sum, area) => sum + area, 0) / width;
    let left = x;
    const placed = row.map((area) => {
      const one = { x: left, y: top, width: area / thick, height: thick };
      left += one.width;
      return one;
    });
    top += thick;
    return placed;
  });
}

/**
 * How far the rectangles of a strip are from squares, on average over its area.
 * @param {number[]} areas
 * @param {number} width
 */
function longish(areas, width) {
  const sum = areas.reduce((total, area) => total + area, 0);
  const thick = sum / width;
  return areas.reduce((total, area) => total + area * Math.max(area / thick ** 2, thick ** 2 / area), 0) / sum;
}
