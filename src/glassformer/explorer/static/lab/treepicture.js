// The picture of a beam tree: a column for each step, a box for each candidate, a line to what it continues.

import { h, s } from "../dom.js";
import { number, say } from "../words.js";

/** @typedef {import("./tree.js").TreeNode} TreeNode */

const [WIDE, HIGH, GAP, BESIDE] = [132, 34, 8, 26];

/**
 * @param {TreeNode[]} nodes
 * @param {Set<string>} best  the path to the best text
 * @param {(id: string) => void} revive
 */
export function drawTree(nodes, best, revive) {
  /** @type {Map<number, TreeNode[]>} */
  const columns = new Map();
  for (const node of nodes) columns.set(node.step, [...(columns.get(node.step) ?? []), node]);
  /** @type {Map<string, {x: number, y: number}>} */
  const places = new Map();
  let [right, bottom] = [0, 0];
  for (const [step, column] of columns) {
    column.forEach((node, row) => {
      const place = { x: (step - 1) * (WIDE + BESIDE), y: row * (HIGH + GAP) };
      places.set(node.id, place);
      [right, bottom] = [Math.max(right, place.x + WIDE), Math.max(bottom, place.y + HIGH)];
    });
  }
  const lines = s("svg", { class: "tree-lines", width: right, height: bottom, "aria-hidden": "true" });
  for (const node of nodes) {
    const [to, from] = [places.get(node.id), places.get(node.parent)];
    if (!to || !from) continue;
    const [x, y] = [from.x + WIDE, from.y + HIGH / 2];
    const middle = (x + to.x) / 2;
    lines.append(s("path", { class: `tree-line ${node.fate}${best.has(node.id) ? " best" : ""}`, d: `M${x} ${y} C${middle} ${y} ${middle} ${to.y + HIGH / 2} ${to.x} ${to.y + HIGH / 2}` }));
  }
  return h("div", { class: "tree", style: { width: `${right}px`, height: `${bottom}px` } }, lines, nodes.map((node) => box(node, best.has(node.id), /** @type {{x: number, y: number}} */ (places.get(node.id)), revive)));
}

/**
 * @param {TreeNode} node
 * @param {boolean} best
 * @param {{x: number, y: number}} place
 * @param {(id: string) => void} revive
 */
function box(node, best, { x, y }, revive) {
  const pruned = node.fate === "pruned";
  return h(
    "button",
    {
      type: "button",
      class: `tree-node ${node.fate}${best ? " best" : ""}${node.revived ? " revived" : ""}`,
      style: { left: `${x}px`, top: `${y}px`, width: `${WIDE}px`, height: `${HIGH}px` },
      "data-node": node.id,
      "data-parent": node.parent,
      "data-step": node.step,
      "data-id": node.token,
      "data-needs": pruned ? "model" : null,
      "data-cumulative": node.cumulative,
      "aria-label": `${node.piece} ${number(node.cumulative, 2)} ${say(`explorer.decoding.${node.fate}_fate`)}`,
      title: say(`explorer.decoding.${node.fate}_fate`),
      "aria-disabled": String(!pruned),
      onclick: () => revive(node.id),
    },
    h("span", { class: "piece" }, node.piece),
    h("small", {}, number(node.cumulative, 2)),
  );
}
