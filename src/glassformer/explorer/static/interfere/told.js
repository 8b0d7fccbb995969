// A change in words: what is done, in which box, and to which head or tokens.

import { nameOf } from "../families/names.js";
import { sideOf } from "../plan.js";
import { number, say } from "../words.js";

/**
 * @typedef {import("../engine.js").About} About
 * @typedef {import("../engine.js").Edit} Edit
 */

const MAPS = ["forbid", "draw"]; // what is done to cells of attention

/**
 * @param {Edit} edit
 * @param {About | null} about  of the present run; without it, tokens have no names yet
 */
export function told(edit, about) {
  const strength = edit.factor === undefined ? "" : ` × ${number(edit.factor, 2)}`;
  const head = edit.head === undefined ? "" : say("explorer.head", { number: edit.head + 1 });
  return [say(`explorer.interfere.kind.${edit.kind}`) + strength, placed(edit.name), head, cell(edit, about)].filter(Boolean).join(" · ");
}

/**
 * Where an edit acts; what is no box of the figure keeps its name.
 * @param {string} name
 */
function placed(name) {
  const [, stack, layer, box] = /^(encoder|decoder)\.(?:blocks\.(\d+|\*)\.)?(\w+)/.exec(name) ?? [];
  if (!stack) return name;
  const where = layer === undefined ? "" : layer === "*" ? say("explorer.interfere.every_layer") : say("explorer.layer", { number: Number(layer) + 1 });
  return [say(`explorer.stack.${stack}`), where, say(`explorer.box.${box === "positions" ? "position" : box}`)].filter(Boolean).join(" · ");
}

/**
 * The token that asks → the token that is looked at.
 * @param {Edit} edit
 * @param {About | null} about
 */
function cell({ kind, name, row, column }, about) {
  const called = (/** @type {number | undefined} */ at, /** @type {"rows" | "columns"} */ axis) =>
    at === undefined ? "" : about && (axis === "rows" || MAPS.includes(kind)) ? nameOf(about, sideOf(about, name, axis), at) : `[${at}]`;
  return [called(row, "rows"), called(column, "columns")].filter(Boolean).join(" → ");
}
