// A series as a line, its patches as numbered brackets in as many rows as overlap, and the forecast after it.

import { h, s } from "../dom.js";
import { signal } from "../signal.js";
import { number, say } from "../words.js";
import { roving } from "./board.js";
import { nameOf } from "./names.js";

/**
 * @typedef {import("../app.js").App} App
 * @typedef {import("../signal.js").Owner} Owner
 * @typedef {{x: (at: number) => number, y: (value: number) => number, svg: SVGElement}} Paper
 */

const TALL = 150;
const LEFT = 46; // for the numbers of the axis
const RIGHT = 8;
const BRACKET = 18;

/**
 * What a series is, with its patches.
 * @param {Owner} owner
 * @param {App} app
 * @param {{shares?: import("./board.js").Shares | null, plain?: boolean}} [how]
 * @returns {HTMLElement}
 */
export function seriesChart(owner, app, { shares = null, plain = false } = {}) {
  const frame = h("div", { class: "chart series-chart" });
  const width = measured(owner, frame);
  const { about } = /** @type {import("../engine.js").Run} */ (app.run.value);
  const { values, length, stride } = about.input;
  const count = plain ? 0 : (about.tokens.source?.length ?? 0);
  owner.effect((inner) => {
    const rows = Math.max(1, Math.ceil(length / stride));
    const paper = makePaper(values, { width: width.value, last: values.length - 1, below: (plain ? 0 : rows * BRACKET) + 8, label: say("explorer.families.chart", { count: values.length }) });
    const most = Math.max(...Array.from({ length: count }, (_, at) => Number(shares?.values[at] ?? 0)), 1e-9);
    const patches = Array.from({ length: count }, (_, at) => bracket(app, about, paper, { at, first: at * stride, last: at * stride + length - 1, row: at % rows, share: shares ? Number(shares.values[at]) : null, most, name: shares?.name ?? "" }));
    paper.svg.append(...patches.flatMap(({ shade }) => (shade ? [shade] : [])), line(paper, values, 0, "past"));
    if (count) addPatches(inner, app, paper.svg, patches, rows);
    frame.replaceChildren(paper.svg);
  });
  return frame;
}

/**
 * @param {Owner} owner
 * @param {App} app
 * @param {SVGElement} svg
 * @param {{button: SVGElement}[]} patches
 * @param {number} rows
 */
function addPatches(owner, app, svg, patches, rows) {
  const buttons = patches.map(({ button }) => button);
  const group = /** @type {any} */ (s("g", { role: "group", "aria-label": say("explorer.families.patches") }, buttons));
  owner.effect(() => buttons.forEach((button, at) => button.setAttribute("aria-pressed", String(app.rows.value.source === at))));
  roving(owner, group, buttons, rows);
  svg.append(group);
}

/**
 * @param {App} app
 * @param {import("../engine.js").About} about
 * @param {Pick<Paper, "x">} paper
 * @param {{at: number, first: number, last: number, row: number, share: number | null, most: number, name: string}} patch
 */
function bracket(app, about, { x }, { at, first, last, row, share, most, name }) {
  const [from, to] = [x(first), x(last)];
  const y = TALL + 8 + row * BRACKET;
  const part = share === null ? 0 : share / most;
  const says = say("explorer.families.patch_of", { name: nameOf(about, "source", at), first: first + 1, last: last + 1 });
  const label = share === null ? says : `${says}: ${share.toFixed(3)}`;
  const choose = () => app.follow("source", at);
  const button = s(
    "g",
    {
      class: "bracket",
      role: "button",
      tabindex: "-1",
      "data-token": `source:${at}`,
      "data-overlay": share === null ? null : name,
      "data-share": share,
      "aria-label": label,
      onclick: choose,
      onkeydown: (/** @type {KeyboardEvent} */ event) => {
        if (event.key !== "Enter" && event.key !== " ") return;
        event.preventDefault();
        choose();
      },
    },
    s("title", {}, label),
    s("rect", { x: from, y, width: Math.max(1, to - from), height: BRACKET - 3, rx: 3 }),
    s("rect", { class: "bracket-share", x: from, y, width: Math.max(1, to - from), height: BRACKET - 3, rx: 3, "fill-opacity": (0.85 * part).toFixed(3) }),
    to - from > 7 * String(at + 1).length ? s("text", { x: (from + to) / 2, y: y + BRACKET / 2 - 0.5 }, String(at + 1)) : null,
  );
  const shade = share === null ? null : s("rect", { class: "shade", x: from, y: 0, width: Math.max(1, to - from), height: TALL, "fill-opacity": (0.4 * part).toFixed(3) });
  return { button, shade };
}

/**
 * The end of the series, the forecast after it, and what really came where that is known.
 * @param {Owner} owner
 * @param {App} app
 * @returns {HTMLElement}
 */
export function forecastChart(owner, app) {
  const frame = h("div", { class: "chart forecast-chart" });
  const width = measured(owner, frame);
  const { about } = /** @type {import("../engine.js").Run} */ (app.run.value);
  const { values, actual = [] } = about.input;
  const forecast = /** @type {number[]} */ (about.output["numbers"] ?? []);
  const past = values.slice(-Math.max(12, 2 * forecast.length));
  const end = past.length - 1;
  owner.effect(() => {
    const paper = makePaper([...past, ...forecast, ...actual], { width: width.value, last: end + forecast.length, below: 6, label: say("explorer.families.forecast") });
    const join = [past[end], ...forecast];
    paper.svg.append(
      s("rect", { class: "future", x: paper.x(end), y: 0, width: paper.x(end + forecast.length) - paper.x(end), height: TALL }),
      line(paper, past, 0, "past"),
      ...(actual.length ? [line(paper, [past[end], ...actual], end, "actual")] : []),
      line(paper, join, end, "forecast"),
      ...forecast.map((value, i) => s("circle", { class: "forecast-point", cx: paper.x(end + 1 + i), cy: paper.y(value), r: forecast.length > 12 ? 2.5 : 4 }, s("title", {}, `+${i + 1}: ${number(value, 2)}`))),
    );
    frame.replaceChildren(paper.svg);
  });
  const names = [["past", "read"], ["forecast", "forecast"], ...(actual.length ? [["actual", "actual"]] : [])];
  const legend = h("div", { class: "legend" }, names.map(([kind, key]) => h("span", {}, h("i", { class: `legend-line ${kind}` }), say(`explorer.families.${key}`))));
  return h("div", { class: "forecast" }, frame, legend, h("ol", { class: "forecast-values", "aria-label": say("explorer.families.forecast") }, forecast.map((value, i) => nextValue(value, actual[i], i))));
}

/**
 * @param {number} value
 * @param {number | undefined} actual
 * @param {number} i
 */
function nextValue(value, actual, i) {
  return h("li", { "data-forecast": i, "data-value": value, "data-actual": actual ?? null }, h("small", {}, `+${i + 1}`), h("b", {}, number(value, 2)), actual === undefined ? null : h("span", {}, number(actual, 2)));
}

/**
 * @param {number[]} values
 * @param {{width: number, last: number, below: number, label: string}} how
 * @returns {Paper}
 */
function makePaper(values, { width, last, below, label }) {
  const [low, high] = [Math.min(...values), Math.max(...values)];
  const room = (high - low || Math.abs(high) || 1) * 0.06;
  const [bottom, top] = [low - room, high + room];
  const x = (/** @type {number} */ at) => LEFT + (at / Math.max(1, last)) * (width - LEFT - RIGHT);
  const y = (/** @type {number} */ value) => TALL - ((value - bottom) / (top - bottom)) * TALL;
  const digits = Math.max(0, Math.min(3, 2 - Math.floor(Math.log10(high - low || 1))));
  const ticks = [low, (low + high) / 2, high];
  const svg = s(
    "svg",
    { viewBox: `0 0 ${width} ${TALL + below}`, width, height: TALL + below, role: "group", "aria-label": label },
    ticks.map((value) => [s("line", { class: "tick", x1: LEFT, x2: width - RIGHT, y1: y(value), y2: y(value) }), s("text", { class: "tick-label", x: LEFT - 5, y: y(value) }, value.toFixed(digits).replace("-", "−"))]).flat(),
  );
  return { x, y, svg };
}

/**
 * @param {Paper} paper
 * @param {number[]} values
 * @param {number} from
 * @param {string} kind
 */
function line({ x, y }, values, from, kind) {
  const points = values.map((value, i) => `${x(from + i).toFixed(1)},${y(value).toFixed(1)}`).join(" ");
  return s("polyline", { class: `line ${kind}`, points, "data-line": kind });
}

/**
 * How wide an element is now; before it stands in the page a guess, which is mended before anything is painted.
 * @param {Owner} owner
 * @param {HTMLElement} element
 */
function measured(owner, element) {
  const width = signal(480);
  const observer = new ResizeObserver(() => (width.value = Math.round(element.clientWidth) || width.peek()));
  observer.observe(element);
  owner.own(() => observer.disconnect());
  return width;
}
