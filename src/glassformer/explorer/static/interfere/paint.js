// One head, large: forbid a cell of its attention, or draw a weight into it; hide a token from everybody; scale the head.

import { h } from "../dom.js";
import { inForce, replaceEdit, toggle } from "../edits.js";
import { nameOf } from "../families/names.js";
import { heatMap } from "../map.js";
import { placeOf, writePlace } from "../place.js";
import { sideOf, tokensOf } from "../plan.js";
import { matrix } from "../safetensors.js";
import { number, say } from "../words.js";
import { attentionsOf } from "./importance.js";

/**
 * @typedef {import("../signal.js").Owner} Owner
 * @typedef {import("../app.js").App} App
 * @typedef {import("../engine.js").About} About
 */

const TOOLS = ["forbid", "draw"];

/**
 * @param {Owner} owner
 * @param {App} app
 * @param {About} about
 * @returns {HTMLElement}
 */
export function paint(owner, app, about) {
  const name = chosenAttention(app, about);
  const head = Math.min(app.head.value, Number(about.sizes["n_heads"] ?? 1) - 1);
  return h("div", { class: "paint" }, pickers(app, about, name, head), scale(app, `${name}.heads`, head), tools(app), h("div", { "data-needs": "model" }, cells(owner, app, about, name, head)), hidden(owner, app, about));
}

/**
 * The attention that is looked at; where none is, the last between the stacks, else the first.
 * @param {App} app
 * @param {About} about
 */
export function chosenAttention(app, about) {
  const all = attentionsOf(about);
  const { stack, layer, box } = app.place.value;
  const near = all.filter((name) => placeOf(name).stack === stack && placeOf(name).layer === layer);
  return near.find((name) => placeOf(name).box === box) ?? near[0] ?? all.filter((name) => name.endsWith("cross_attention")).at(-1) ?? all[0] ?? "";
}

/**
 * @param {string} name
 */
export function attentionTitle(name) {
  const { stack, layer, box } = placeOf(name);
  return `${say(`explorer.stack.${stack}`)} ${(layer ?? 0) + 1} · ${say(`explorer.interfere.${box}`)}`;
}

/**
 * Which attention, and which head of it.
 * @param {App} app
 * @param {About} about
 * @param {string} name
 * @param {number} head
 */
export function pickers(app, about, name, head) {
  const go = (/** @type {string} */ wanted, /** @type {number} */ which) => app.go(writePlace({ ...placeOf(wanted), tap: "", head: which }), { zoom: app.zoom.peek() });
  const list = /** @type {HTMLSelectElement} */ (h("select", { class: "attention-picker", "aria-label": say("explorer.interfere.which"), onchange: () => go(list.value, head) }, attentionsOf(about).map((one) => h("option", { value: one, selected: one === name }, attentionTitle(one)))));
  const pills = Array.from({ length: Number(about.sizes["n_heads"] ?? 1) }, (_, one) => h("button", { type: "button", class: "pill", "data-pick-head": one, "aria-pressed": String(one === head), onclick: () => go(name, one) }, say("explorer.head", { number: one + 1 })));
  return h("div", { class: "pickers" }, list, h("div", { class: "head-picker", role: "group", "aria-label": say("explorer.heads") }, pills));
}

/**
 * What the head adds, times a factor.
 * @param {App} app
 * @param {string} name
 * @param {number} head
 */
function scale(app, name, head) {
  const like = { kind: "scale", name, head };
  const now = inForce(app, like)?.factor ?? 1;
  const slider = /** @type {HTMLInputElement} */ (h("input", { type: "range", min: "-2", max: "4", step: "0.25", value: now, id: "scale" }));
  const shown = h("output", { for: "scale" }, `× ${number(now, 2)}`);
  slider.addEventListener("input", () => (shown.textContent = `× ${number(Number(slider.value), 2)}`));
  slider.addEventListener("change", () => replaceEdit(app, like, Number(slider.value) === 1 ? null : { ...like, factor: Number(slider.value) }));
  return h("label", { class: "scale", "data-needs": "model" }, say("explorer.interfere.scale"), slider, shown);
}

/** @param {App} app */
function tools(app) {
  const now = app.field("tool").value || "forbid";
  return h("div", { class: "switches", "data-needs": "model", role: "group", "aria-label": say("explorer.interfere.tool") }, TOOLS.map((tool) => h("button", { type: "button", class: "pill", "data-tool": tool, "aria-pressed": String(tool === now), onclick: () => (app.field("tool").value = tool === "forbid" ? "" : tool) }, say(`explorer.interfere.${tool}`))));
}

/**
 * @param {Owner} owner
 * @param {App} app
 * @param {About} about
 * @param {string} name
 * @param {number} head
 */
function cells(owner, app, about, name, head) {
  const weights = `${name}.weights`;
  const tensor = app.tensor(weights);
  if (!tensor) return null;
  const [side, across] = [sideOf(about, weights), sideOf(about, weights, "columns")];
  const pieces = (/** @type {"source" | "target"} */ which) => tokensOf(about, which).map(({ piece }) => piece);
  const mask = app.run.peek()?.tensors.get(`${weights}.mask`);
  return heatMap(owner, app, {
    name: weights,
    head,
    matrix: matrix(tensor, head),
    mask: mask ? matrix(mask, head).data : null,
    most: 1,
    rows: pieces(side),
    columns: pieces(across),
    sides: { rows: side, columns: across },
    label: `${attentionTitle(name)}, ${say("explorer.head", { number: head + 1 })}`,
    onPick: (row, column) => toggle(app, app.field("tool").peek() === "draw" ? { kind: "draw", name: weights, head, row, column, value: 1 } : { kind: "forbid", name, head, row, column }),
    onRow: (row) => toggle(app, { kind: "zero", name: `${name}.heads`, head, row }),
  });
}

/**
 * The tokens: one that is hidden is looked at by nobody, in any layer.
 * @param {Owner} owner
 * @param {App} app
 * @param {About} about
 */
function hidden(owner, app, about) {
  const sides = /** @type {("source" | "target")[]} */ (["source", "target"]).filter((side) => tokensOf(about, side).length > 0);
  return h(
    "div",
    { class: "hide-tokens", "data-needs": "model" },
    sides.map((side) => {
      const names = patternsOf(about, side);
      return h(
        "div",
        { class: "token-picker", role: "group", "aria-label": say("explorer.interfere.hide") },
        h("span", { class: "quiet" }, say(`explorer.interfere.hide_${sides.length > 1 ? side : "input"}`)),
        tokensOf(about, side).map((_, column) => {
          const edits = names.map((name) => ({ kind: "forbid", name, column }));
          const button = h("button", { type: "button", class: "token", "data-token": `${side}:${column}`, onclick: () => toggle(app, ...edits) }, nameOf(about, side, column));
          owner.effect(() => button.setAttribute("aria-pressed", String(edits.some((edit) => inForce(app, edit)))));
          return button;
        }),
      );
    }),
  );
}

/**
 * The attentions that look at the tokens of a side.
 * @param {About} about
 * @param {"source" | "target"} side
 */
function patternsOf(about, side) {
  const all = attentionsOf(about).filter((name) => sideOf(about, `${name}.weights`, "columns") === side);
  return [...new Set(all.map((name) => name.replace(/\.\d+\./, ".*.")))];
}
