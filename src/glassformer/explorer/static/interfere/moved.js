// How far an answer has moved, row by row: the measure of /api/sweep (explorer/sweep.py), for the two runs on the screen.

import { matrix } from "../safetensors.js";

/** @typedef {import("../engine.js").Run} Run */

/**
 * @param {Run} before
 * @param {Run} after
 * @returns {number[] | null} one number for each row of the answer; null if it cannot be told
 */
export function movedRows(before, after) {
  const [one, other] = [before.about.output, after.about.output];
  if (one["classes"] && other["classes"]) return [half(one["classes"].map(share), other["classes"].map(share))];
  if (one["scaled"] && other["scaled"]) return one["scaled"].map((/** @type {number} */ value, /** @type {number} */ i) => Math.abs(value - other["scaled"][i]));
  const [logits, others] = [before.tensors.get("head.logits"), after.tensors.get("head.logits")];
  if (!logits || !others || logits.data.length !== others.data.length) return null;
  const boxes = [before.tensors.get("head.boxes"), after.tensors.get("head.boxes")];
  const [a, b] = [matrix(logits), matrix(others)];
  return Array.from({ length: a.rows }, (_, row) => half(softmax(a, row), softmax(b, row)) + (boxes[0] && boxes[1] ? meanApart(matrix(boxes[0]), matrix(boxes[1]), row) : 0));
}

/** @param {{p: number}} one */
const share = ({ p }) => p;

/**
 * ½ Σ |p − p′|: the share of probability that has moved.
 * @param {ArrayLike<number>} one
 * @param {ArrayLike<number>} other
 */
function half(one, other) {
  let sum = 0;
  for (let i = 0; i < one.length; i += 1) sum += Math.abs(Number(one[i]) - Number(other[i]));
  return sum / 2;
}

/**
 * @param {import("../heat.js").Matrix} logits
 * @param {number} row
 */
function softmax({ columns, data }, row) {
  const values = Array.prototype.slice.call(data, row * columns, (row + 1) * columns);
  let [most, sum] = [-Infinity, 0];
  for (const value of values) most = Math.max(most, value);
  const shares = new Float64Array(columns);
  for (let i = 0; i < columns; i += 1) sum += shares[i] = Math.exp(values[i] - most);
  return shares.map((value) => value / sum);
}

/**
 * @param {import("../heat.js").Matrix} one
 * @param {import("../heat.js").Matrix} other
 * @param {number} row
 */
function meanApart(one, other, row) {
  let sum = 0;
  for (let i = row * one.columns; i < (row + 1) * one.columns; i += 1) sum += Math.abs(Number(one.data[i]) - Number(other.data[i]));
  return sum / one.columns;
}
