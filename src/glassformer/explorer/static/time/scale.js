// The scales of a chart: steps from left to right, losses from bottom to top; round numbers for its axes; and a long
// curve as what it is: of every column of pixels the lowest, the highest and the mean, nothing smoothed.

/**
 * @typedef {import("./life.js").Point} Point
 * @typedef {{x: number, low: number, high: number, mean: number}} Column
 * @typedef {{left: number, right: number, top: number, bottom: number}} Frame  of the plot, in pixels
 * @typedef {{x: (step: number) => number, y: (loss: number) => number, steps: [number, number], losses: [number, number]}} Scale
 */

/**
 * @param {Point[]} points
 * @param {number} last  step
 * @param {Frame} frame
 * @param {boolean} log
 * @returns {Scale}
 */
export function scaleOf(points, last, { left, right, top, bottom }, log) {
  const positive = points.filter(({ loss }) => !log || loss > 0);
  let [low, high] = [log ? Infinity : 0, 0];
  for (const { loss } of positive) {
    low = Math.min(low, loss);
    high = Math.max(high, loss);
  }
  if (!(high > low)) [low, high] = log ? [0.1, 1] : [0, Math.max(1, high)];
  const size = log ? Math.log : Number;
  const [from, to] = [size(low), size(high)];
  return {
    x: (step) => left + ((right - left) * step) / Math.max(1, last),
    y: (loss) => bottom - ((bottom - top) * (size(loss) - from)) / (to - from),
    steps: [0, last],
    losses: [low, high],
  };
}

/**
 * At most `count` round numbers between two others.
 * @param {number} low
 * @param {number} high
 * @param {number} count
 */
export function rounds(low, high, count) {
  const rough = (high - low) / Math.max(1, count);
  const ten = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((times) => times * ten).find((one) => one >= rough * 0.999) ?? rough;
  const first = Math.ceil(low / step - 1e-9);
  return Array.from({ length: Math.floor(high / step + 1e-9) - first + 1 }, (_, i) => Number(((first + i) * step).toPrecision(12)));
}

/**
 * 1, 2, 5 times the powers of ten between two numbers; fewer if there are many.
 * @param {number} low
 * @param {number} high
 */
export function logRounds(low, high) {
  const found = [];
  for (let power = Math.floor(Math.log10(low)); power <= Math.log10(high); power += 1) {
    for (const times of [1, 2, 5]) found.push(Number((times * 10 ** power).toPrecision(12)));
  }
  const within = found.filter((one) => one >= low * 0.999 && one <= high * 1.001);
  return within.length > 7 ? within.filter((one) => Number.isInteger(Math.log10(one))) : within;
}

/**
 * The points as they are, or, if there are more than columns of pixels, every column's lowest, highest and mean.
 * @param {Point[]} points
 * @param {Scale} scale
 * @param {number} columns
 * @returns {Column[]}
 */
export function columnsOf(points, scale, columns) {
  if (points.length <= columns) return points.map(({ step, loss }) => ({ x: scale.x(step), low: loss, high: loss, mean: loss }));
  /** @type {Map<number, {low: number, high: number, sum: number, count: number}>} */
  const found = new Map();
  for (const { step, loss } of points) {
    const x = Math.round(scale.x(step));
    const one = found.get(x);
    if (!one) found.set(x, { low: loss, high: loss, sum: loss, count: 1 });
    else {
      one.low = Math.min(one.low, loss);
      one.high = Math.max(one.high, loss);
      one.sum += loss;
      one.count += 1;
    }
  }
  return [...found].map(([x, { low, high, sum, count }]) => ({ x, low, high, mean: sum / count }));
}
