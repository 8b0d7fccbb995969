// Zoom 4: one box opened: every tensor that it makes, with its formula and shape, and all of its numbers as colours.

import { h } from "../dom.js";
import { heatMap } from "../map.js";
import { ATTENTION_TAPS, placeOf } from "../place.js";
import { sideOf, tokensOf } from "../plan.js";
import { matrix, ofHead } from "../safetensors.js";
import { say } from "../words.js";

/**
 * @typedef {import("../signal.js").Owner} Owner
 * @typedef {import("../app.js").App} App
 * @typedef {import("../engine.js").About} About
 * @typedef {import("../engine.js").Step} Step
 */

/**
 * @param {Owner} owner
 * @param {App} app
 * @param {import("../plan.js").Box} box
 * @param {About} about
 * @returns {HTMLElement}
 */
export function openBox(owner, app, box, about) {
  const attention = box.kind === "attention";
  const seen = new Set();
  const steps = box.steps.filter(({ name }) => !seen.has(name) && seen.add(name));
  return h(
    "div",
    { class: `opened ${box.kind}` },
    attention && headPicker(owner, app, box, about),
    h("div", { class: "cards" }, steps.map((step) => card(owner, app, step, about, attention))),
  );
}

/**
 * @param {Owner} owner
 * @param {App} app
 * @param {import("../plan.js").Box} box
 * @param {About} about
 */
function headPicker(owner, app, box, about) {
  const count = Number(about.sizes["n_heads"] ?? 1);
  const row = h("div", { class: "head-picker", role: "group", "aria-label": say("explorer.heads") });
  for (let head = 0; head < count; head += 1) {
    const button = h(
      "button",
      { type: "button", class: "pill", "data-at": `${box.at}.head${head}`, onclick: () => app.go(`${box.at}.head${head}`, { zoom: 4 }) },
      say("explorer.head", { number: head + 1 }),
    );
    owner.effect(() => button.setAttribute("aria-pressed", String(app.head.value === head)));
    row.append(button);
  }
  return row;
}

/**
 * One tensor.
 * @param {Owner} owner
 * @param {App} app
 * @param {Step} step
 * @param {About} about
 * @param {boolean} attention
 */
function card(owner, app, step, about, attention) {
  const place = placeOf(step.name);
  const headed = attention && ATTENTION_TAPS.includes(place.tap) && place.tap !== "output";
  const key = placeKey(place, headed, app);
  const frame = h(
    "section",
    { class: "card", "data-at": key, "data-tap": place.tap || place.box },
    h("header", {}, h("code", { class: "formula" }, step.formula), h("span", { class: "shape" }, shapeText(step.shape))),
    h("p", { class: "says" }, say(`trace.steps.${step.says}`, { head: app.head.value + 1, layer: (place.layer ?? 0) + 1 })),
  );
  owner.effect((inner) => {
    const tensor = app.tensor(step.name);
    const head = app.head.value;
    if (!tensor) return;
    const map = tensorMap(inner, app, about, step.name, headed ? head : null);
    frame.append(map);
    inner.own(() => map.remove());
  });
  return frame;
}

/**
 * @param {import("../place.js").Place} place
 * @param {boolean} ofHead
 * @param {App} app
 */
function placeKey(place, ofHead, app) {
  const head = ofHead ? `.head${app.head.value}` : "";
  return [place.stack, place.layer ?? "", place.box, place.tap].filter((part) => part !== "").join(".") + head;
}

/**
 * The map of a tensor with its tokens; a click on a number looks at that number.
 * @param {Owner} owner
 * @param {App} app
 * @param {About} about
 * @param {string} name
 * @param {number | null} head
 */
export function tensorMap(owner, app, about, name, head) {
  const tensor = /** @type {import("../safetensors.js").Tensor} */ (app.run.peek()?.tensors.get(name));
  const found = head === null ? matrix(tensor) : ofHead(tensor, head, Number(about.sizes["n_heads"]));
  const place = placeOf(name);
  const isMap = /\.(scores|weights)$/.test(name);
  const side = sideOf(about, name);
  const across = sideOf(about, name, "columns");
  const pieces = (/** @type {"source" | "target"} */ which) => tokensOf(about, which).map(({ piece }) => piece);
  const rows = found.rows === tokensOf(about, side).length ? pieces(side) : Array.from({ length: found.rows }, (_, i) => String(i));
  const masks = app.run.peek()?.tensors.get(`${name}.mask`);
  const target = { ...place, head };
  return heatMap(owner, app, {
    name,
    head,
    matrix: found,
    mask: isMap && masks ? matrix(masks, head ?? 0).data : null,
    ...(name.endsWith(".weights") ? { most: 1 } : {}),
    rows,
    columns: isMap ? pieces(across) : null,
    sides: { rows: side, columns: across },
    label: `${name}${head === null ? "" : `, ${say("explorer.head", { number: head + 1 })}`}`,
    chosenRow: () => app.rows.value[side],
    cell: () => (app.cell.value && app.place.value.tap === place.tap && app.place.value.box === place.box ? app.cell.value : null),
    onPick: (row, column) => app.go(target, { zoom: 5, cell: [row, column] }),
    onRow: (row) => app.follow(side, row),
  });
}

/** @param {number[] | null} shape */
export const shapeText = (shape) => (shape ?? []).join(" × ");
