// The loss over the steps, training and validation, with every checkpoint marked; the pointer and the arrow keys read
// points, a click goes to the nearest checkpoint.

import { h } from "../dom.js";
import { setting } from "../lab/ask.js";
import { signal } from "../signal.js";
import { number, say, whole } from "../words.js";
import { drawChart, drawMarks, KINDS } from "./chart.js";
import { nearest } from "./player.js";
import { scaleOf } from "./scale.js";

/**
 * @typedef {import("../app.js").App} App
 * @typedef {import("../signal.js").Owner} Owner
 * @typedef {import("./life.js").Life} Life
 * @typedef {import("./life.js").Point} Point
 * @typedef {import("./now.js").Now} Now
 * @typedef {{scale: import("./scale.js").Scale, frame: import("./scale.js").Frame, marks: SVGElement}} Chart
 */

const HEIGHT = 230;

/**
 * @param {Owner} owner
 * @param {App} app
 * @param {import("../signal.js").Signal<Life>} life
 * @param {Now} now
 * @returns {HTMLElement}
 */
export function makeCurve(owner, app, life, now) {
  const log = setting(owner, app, "log", 0);
  const width = signal(0);
  const read = signal(/** @type {number | null} */ (null)); // the step that is read
  const chart = signal(/** @type {Chart | null} */ (null));
  const title = h("h3", {});
  const button = h("button", { type: "button", class: "pill", id: "time-log", onclick: () => (log.value = log.peek() ? 0 : 1) });
  const legend = h("p", { class: "curve-legend quiet" });
  const place = h("div", { class: "curve", tabindex: "0", role: "group" });
  const readout = h("output", { class: "map-readout", id: "curve-readout", "aria-live": "polite" });
  const watch = new ResizeObserver(([entry]) => (width.value = Math.round(entry?.contentRect.width ?? 0)));
  watch.observe(place);
  owner.own(() => watch.disconnect());

  owner.effect(() => {
    title.textContent = say("explorer.time.loss");
    button.textContent = say("explorer.time.log");
    button.setAttribute("aria-pressed", String(Boolean(log.value)));
    place.setAttribute("aria-label", say("explorer.time.curve"));
    const { training, validation, checkpoints } = life.value;
    if (width.value < 80) return;
    const frame = { left: 46, right: width.value - 22, top: 12, bottom: HEIGHT - 26 };
    const last = Math.max(1, ...[training, validation].map((points) => points.at(-1)?.step ?? 0), checkpoints.at(-1) ?? 0);
    const scale = scaleOf([...training, ...validation], last, frame, Boolean(log.value));
    const { svg, marks, banded } = drawChart(life.value, scale, frame, { width: width.value, height: HEIGHT, log: Boolean(log.value) });
    const names = KINDS.filter((kind) => life.value[kind].length).map((kind) => h("span", { class: `curve-name ${kind}` }, say(`explorer.time.${kind}`)));
    legend.replaceChildren(...names, banded ? h("span", {}, say("explorer.time.band")) : "", names.length ? "" : say("explorer.time.no_points"));
    place.replaceChildren(svg);
    chart.value = { scale, frame, marks };
  });
  owner.effect(() => {
    const [drawn, step] = [chart.value, read.value ?? now.step.value];
    if (!drawn) return;
    const points = KINDS.map((kind) => pointAt(life.value[kind], step));
    drawMarks(drawn, now.step.value, read.value === null ? [] : points);
    readout.replaceChildren(
      ...KINDS.flatMap((kind, i) => {
        const point = points[i];
        return point ? [h("span", {}, `${say(`explorer.time.${kind}`)} ${number(point.loss, 4)} (${whole(point.step)})`)] : [];
      }),
    );
  });

  /** @param {PointerEvent | MouseEvent} event */
  const stepUnder = (event) => {
    const { frame, scale } = /** @type {Chart} */ (chart.peek());
    const share = (event.clientX - place.getBoundingClientRect().left - frame.left) / (frame.right - frame.left);
    return Math.max(0, Math.min(1, share)) * scale.steps[1];
  };
  owner.listen(place, "pointermove", (event) => chart.peek() && (read.value = stepUnder(event)));
  owner.listen(place, "pointerleave", () => (read.value = null));
  owner.listen(place, "blur", () => (read.value = null));
  owner.listen(place, "click", (event) => {
    const steps = life.peek().checkpoints;
    const step = chart.peek() ? steps[nearest(steps, stepUnder(event))] : undefined;
    if (step !== undefined) now.go(step);
  });
  owner.listen(place, "keydown", (/** @type {KeyboardEvent} */ event) => {
    const steps = (life.peek().training.length ? life.peek().training : life.peek().validation).map(({ step }) => step);
    const at = nearest(steps, read.peek() ?? now.step.peek());
    const to = { ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: steps.length - 1 }[event.key];
    if (to === undefined || !steps.length) return;
    read.value = steps[Math.max(0, Math.min(steps.length - 1, to))] ?? null;
    event.preventDefault();
  });
  return h("section", { class: "card time-loss" }, h("header", {}, title, button), legend, place, readout);
}

/**
 * The point nearest to a step; the last for none.
 * @param {Point[]} points
 * @param {number | null} step
 */
function pointAt(points, step) {
  return points[nearest(points.map((one) => one.step), step)];
}
