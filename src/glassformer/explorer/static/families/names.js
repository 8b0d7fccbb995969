// What patches, queries and steps are called: an image has no words.

import { knows, say } from "../words.js";

/**
 * @typedef {import("../engine.js").About} About
 * @typedef {"source" | "target"} Side
 */

/**
 * Are the positions of the source patches: of an "image" or of a "series"? "" if they are words.
 * @param {About} about
 * @returns {"image" | "series" | ""}
 */
export function patched(about) {
  if (about.input["grid"]) return "image";
  return about.input["stride"] ? "series" : "";
}

/**
 * How a sentence calls a token: “patch 12”, “query 1”, or its piece.
 * @param {About} about
 * @param {Side} side
 * @param {number} at
 */
export function nameOf(about, side, at) {
  const piece = about.tokens[side]?.[at]?.piece ?? String(at);
  if (side === "target" && about.task === "object_queries") return say("explorer.families.query", { number: at + 1 });
  if (side === "source" && patched(about) && /^\d+$/.test(piece)) return say("explorer.families.patch", { number: piece });
  return piece;
}

/**
 * The sentence about a step of the player or an attention, in the words of this family where it has its own.
 * @param {"scene" | "about" | "attention"} what
 * @param {string} kind
 * @param {About} about
 * @param {Side} side
 */
export function wording(what, kind, about, side) {
  const own = `explorer.families.${side === "target" ? about.task : patched(about)}.${what}.${kind}`;
  const { patch = 0, stride = 0 } = about.input;
  const known = [...(patch > stride ? [`${own}_overlap`] : []), own].find(knows);
  return say(known ?? `explorer.${what}.${kind}`, about.input);
}

/** @param {number} at */
export const colourOf = (at) => `hsl(${(205 + at * 137.5) % 360} 85% 62%)`; // neighbours far apart

/** @param {number} share */
export const percent = (share) => `${(100 * share).toFixed(1)} %`;
