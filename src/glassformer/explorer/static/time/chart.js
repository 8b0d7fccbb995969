// Draws the chart of a run: axes, curves, a line for each checkpoint; and over them what moves.

import { s } from "../dom.js";
import { number, whole } from "../words.js";
import { columnsOf, logRounds, rounds } from "./scale.js";

/**
 * @typedef {import("./scale.js").Scale} Scale
 * @typedef {import("./scale.js").Frame} Frame
 * @typedef {import("./scale.js").Column} Column
 * @typedef {import("./life.js").Point} Point
 */

export const KINDS = /** @type {const} */ (["training", "validation"]);

/**
 * @param {import("./life.js").Life} life
 * @param {Scale} scale
 * @param {Frame} frame
 * @param {{width: number, height: number, log: boolean}} how
 */
export function drawChart(life, scale, frame, { width, height, log }) {
  const columns = Math.floor(frame.right - frame.left);
  const curves = KINDS.map((kind) => {
    const points = life[kind].filter(({ loss }) => !log || loss > 0);
    return { kind, points, found: columnsOf(points, scale, columns), banded: points.length > columns };
  });
  const marks = s("g", { class: "curve-marks" });
  const svg = s(
    "svg",
    { class: "curve-svg", width, height, "aria-hidden": "true", "data-steps": scale.steps.join(","), "data-losses": scale.losses.join(","), "data-frame": [frame.left, frame.right, frame.top, frame.bottom].join(",") },
    axes(scale, frame, log),
    life.checkpoints.map((step) => s("line", { class: "curve-checkpoint", "data-checkpoint": step, x1: scale.x(step), x2: scale.x(step), y1: frame.bottom, y2: frame.bottom - 9 })),
    curves.map(({ kind, found, banded }) => (banded ? s("path", { class: `curve-band ${kind}`, d: band(found, scale) }) : null)),
    curves.map(({ kind, found }) => (found.length === 1 ? dot(found[0], scale, kind) : s("path", { class: `curve-line ${kind}`, "data-curve": kind, d: line(found, scale) }))),
    marks,
  );
  return { svg, marks, banded: curves.some((one) => one.banded) };
}

/** @param {Column | undefined} one @param {Scale} scale @param {string} kind */
const dot = (one, scale, kind) => s("circle", { class: `curve-point ${kind}`, cx: one?.x, cy: scale.y(one?.mean ?? 0), r: 3.5 });

/** @param {Column[]} found @param {Scale} scale */
const line = (found, scale) => found.map(({ x, mean }, i) => `${i ? "L" : "M"}${x.toFixed(2)} ${scale.y(mean).toFixed(2)}`).join("");

/**
 * Down along the lowest, back along the highest.
 * @param {Column[]} found
 * @param {Scale} scale
 */
function band(found, scale) {
  const side = (/** @type {Column[]} */ columns, /** @type {"low" | "high"} */ which) => columns.map((one) => `${one.x.toFixed(2)} ${scale.y(one[which]).toFixed(2)}`);
  return `M${[...side(found, "low"), ...side([...found].reverse(), "high")].join("L")}Z`;
}

/**
 * @param {Scale} scale
 * @param {Frame} frame
 * @param {boolean} log
 */
function axes(scale, frame, log) {
  const losses = log ? logRounds(...scale.losses) : rounds(...scale.losses, 4);
  const steps = rounds(...scale.steps, (frame.right - frame.left) / 70);
  return s(
    "g",
    { class: "curve-axes" },
    losses.flatMap((loss) => [s("line", { x1: frame.left, x2: frame.right, y1: scale.y(loss), y2: scale.y(loss) }), s("text", { x: frame.left - 7, y: scale.y(loss), class: "loss" }, shortly(loss))]),
    steps.map((step) => s("text", { x: scale.x(step), y: frame.bottom + 17, class: "step" }, whole(step))),
  );
}

/** @param {number} loss */
const shortly = (loss) => (loss !== 0 && loss < 0.001 ? number(loss, 1) : String(loss));

/**
 * The present checkpoint, and the points that are read.
 * @param {{scale: Scale, frame: Frame, marks: SVGElement}} chart
 * @param {number | null} step
 * @param {(Point | undefined)[]} read
 */
export function drawMarks({ scale, frame, marks }, step, read) {
  const now = step !== null && step <= scale.steps[1] ? scale.x(step) : null;
  const dots = read.map((point, i) => point && s("circle", { class: `curve-point ${KINDS[i]}`, cx: scale.x(point.step), cy: scale.y(point.loss), r: 4 }));
  marks.replaceChildren(
    ...(now === null ? [] : [s("line", { class: "curve-now", "data-step": step, x1: now, x2: now, y1: frame.top, y2: frame.bottom }), s("circle", { class: "curve-knob", cx: now, cy: frame.bottom, r: 5 })]),
    ...dots.filter((one) => one !== undefined),
  );
}
