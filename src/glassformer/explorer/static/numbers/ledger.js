// The ledger as a tree: stack → layer → part. Its sums come from the server with the rows; nothing is added up here.

import { say, knows } from "../words.js";

/**
 * @typedef {{name: string, kind: string, formula: string, numbers: string, parameters: number, buffers: number, tied: string, share: number}} Row
 * @typedef {{name: string, parameters: number, buffers: number, share: number}} Sum
 * @typedef {{path: string, row: Row | null, own: boolean, parameters: number, buffers: number, share: number, children: Part[]}} Part
 *   a leaf has a row; a group has children, and one of them may be its own row, of the same path
 * @typedef {{parts: Row[], groups: Sum[], total: {parameters: number, buffers: number}}} Ledger
 */

/**
 * @param {Ledger} ledger
 * @returns {Part}
 */
export function treeOf({ parts, groups, total }) {
  /** @type {Part} */
  const root = { path: "", row: null, own: false, parameters: total.parameters, buffers: total.buffers, share: 1, children: [] };
  const known = new Map(groups.map((sum) => [sum.name, /** @type {Part} */ ({ path: sum.name, row: null, own: false, parameters: sum.parameters, buffers: sum.buffers, share: sum.share, children: [] })]));
  /** @type {Set<string>} */
  const placed = new Set();
  for (const row of parts) {
    let within = root;
    for (const path of [...above(row.name), row.name]) {
      const group = known.get(path);
      if (!group) continue;
      if (!placed.has(path)) {
        placed.add(path);
        within.children.push(group);
      }
      within = group;
    }
    within.children.push({ path: row.name, row, own: known.has(row.name), parameters: row.parameters, buffers: row.buffers, share: row.share, children: [] });
  }
  return root;
}

/**
 * encoder.blocks.0.self_attention.qkv → encoder, encoder.blocks.0, encoder.blocks.0.self_attention.
 * @param {string} path
 * @returns {string[]}
 */
export function above(path) {
  const steps = path.split(".");
  return steps.slice(1).flatMap((_, i) => (steps[i] === "blocks" ? [] : [steps.slice(0, i + 1).join(".")]));
}

/**
 * The part at a path; of a path that this model does not have, the nearest part around it.
 * @param {Part} root
 * @param {string} path
 * @returns {Part}
 */
export function partAt(root, path) {
  let found = root;
  for (const step of path ? [...above(path), path] : []) {
    const next = found.children.find((child) => child.path === step && !child.own);
    if (!next) break;
    found = next;
  }
  return found;
}

/**
 * What a part is called.
 * @param {Part} part
 */
export function nameOf({ path, row, own }) {
  if (!path) return say("explorer.ledger.whole");
  const last = path.split(".").at(-1) ?? "";
  if (/^\d+$/.test(last)) return say("explorer.layer", { number: Number(last) + 1 });
  if (knows(`explorer.ledger.part.${last}`) && !own) return say(`explorer.ledger.part.${last}`);
  const name = row && knows(`parts.${row.kind}`) ? say(`parts.${row.kind}`) : last;
  return name.slice(0, 1).toUpperCase() + name.slice(1);
}

/**
 * The colour of a part: that of its box in Figure 1.
 * @param {string} path
 */
export function colourOf(path) {
  const steps = path.split(".");
  const last = steps.at(-1) ?? "";
  if (last.endsWith("norm") && last !== "qk_norm") return "norm";
  if (steps.some((step) => step.endsWith("attention"))) return "attention";
  if (steps.includes("feed_forward")) return "feed";
  if (steps[0] === "head") return "head";
  if (last === "positions") return "place";
  return steps[0]?.endsWith("embedding") || steps[0] === "queries" ? "embed" : "";
}
