// Objects on the canvas: what each query or prompt says, in a box of its own colour, and the list of all of them.

import { h, s } from "../dom.js";
import { say } from "../words.js";
import { colourOf, nameOf, percent } from "./names.js";

/**
 * @typedef {import("../app.js").App} App
 * @typedef {{at: number, label: string | null, p: number, box: [number, number, number, number]}} Found
 */

/**
 * Queries each say something; of a prompt only its last token is read.
 * @param {import("../engine.js").About} about
 * @returns {Found[]}
 */
export function objectsOf(about) {
  const all = (about.output["objects"] ?? []).map((/** @type {Omit<Found, "at">} */ one, /** @type {number} */ at) => ({ ...one, at }));
  return about.task === "prompted_objects" ? all.slice(-1) : all;
}

/**
 * @param {App} app
 * @returns {SVGElement}
 */
export function boxesOver(app) {
  const about = app.run.value?.about;
  const side = Number(about?.input["size"] ?? 1);
  return s("svg", { class: "boxes", viewBox: `0 0 ${side} ${side}`, "aria-hidden": "true" }, (about ? objectsOf(about) : []).map((one) => boxOf(one, side, app.rows.value.target === one.at)));
}

/**
 * @param {Found} found
 * @param {number} side
 * @param {boolean} followed
 */
function boxOf({ at, label, p, box: [cx, cy, wide, tall] }, side, followed) {
  const [x, y] = [(cx - wide / 2) * side, (cy - tall / 2) * side];
  const size = side / 18;
  return s(
    "g",
    { class: `object-frame${label === null ? " nothing" : ""}${followed ? " followed" : ""}`, "data-token": `target:${at}` },
    s("rect", { class: "object-box", x, y, width: wide * side, height: tall * side, stroke: colourOf(at), "vector-effect": "non-scaling-stroke" }),
    s("text", { class: "object-label", x: Math.max(0, Math.min(x, side - 5 * size)), y: y > 1.3 * size ? y - 0.3 * size : y + 1.1 * size, "font-size": size, fill: colourOf(at) }, `${label ?? say("explorer.families.no_object")} ${Math.round(100 * p)}%`),
  );
}

/**
 * Highlights the smallest box under the pointer; x and y are 0 … 1.
 * @param {App} app
 * @param {number} x
 * @param {number} y
 */
export function boxAt(app, x, y) {
  const about = app.run.peek()?.about;
  const inside = (about ? objectsOf(about) : []).filter(({ label, box: [cx, cy, w, h_] }) => label !== null && Math.abs(x - cx) < w / 2 && Math.abs(y - cy) < h_ / 2);
  const smallest = inside.sort((one, other) => one.box[2] * one.box[3] - other.box[2] * other.box[3])[0];
  app.hotToken.value = smallest ? `target:${smallest.at}` : "";
}

/**
 * @param {import("../signal.js").Owner} owner
 * @param {App} app
 * @returns {HTMLElement}
 */
export function objectList(owner, app) {
  const about = app.run.value?.about;
  const rows = (about ? objectsOf(about) : []).map(({ at, label, p, box }) =>
    h(
      "button",
      { type: "button", class: `object${label === null ? " nothing" : ""}`, "data-token": `target:${at}`, "data-p": p, "data-box": box.join(" "), onclick: () => app.follow("target", at) },
      h("span", { class: "swatch", style: { background: colourOf(at) } }),
      about?.task === "object_queries" ? h("span", { class: "object-query" }, nameOf(about, "target", at)) : null,
      h("strong", {}, label ?? say("explorer.families.no_object")),
      h("span", { class: "term-value" }, percent(p)),
    ),
  );
  owner.effect(() => rows.forEach((row) => row.setAttribute("aria-pressed", String(row.dataset["token"] === `target:${app.rows.value.target}`))));
  return h("ol", { class: "objects" }, rows.map((row) => h("li", {}, row)));
}
