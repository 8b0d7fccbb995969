// Attention as lines between two columns of tokens: left those that ask, right those that are looked at.
// Lines of a translation cross where the two languages order their words differently.

import { h, s } from "./dom.js";

/**
 * @typedef {import("./signal.js").Owner} Owner
 * @typedef {import("./signal.js").Signal<{row: number | null, column: number | null}>} Hot
 * @typedef {{left: string[], right: string[], weight: (row: number, column: number) => number, hot: Hot,
 *   onPick: (row: number, column: number) => void, sides: {left: string, right: string}, names: {left: string, right: string}}} ArcsOf
 *   `sides` mark tokens for highlighting everywhere ("source", "target"), `names` are read aloud
 */

const LINE = 32;
const FAINT = 0.015; // lighter lines would only be fog

/**
 * @param {Owner} owner
 * @param {ArcsOf} given
 * @returns {HTMLElement}
 */
export function arcs(owner, { left, right, weight, hot, onPick, sides, names }) {
  const height = Math.max(left.length, right.length) * LINE;
  // the shorter column stands in the middle
  const offset = { left: (height - left.length * LINE) / 2, right: (height - right.length * LINE) / 2 };
  const y = (/** @type {"left" | "right"} */ side, /** @type {number} */ at) => offset[side] + at * LINE + LINE / 2;
  const lines = s("svg", { viewBox: `0 0 200 ${height}`, preserveAspectRatio: "none", class: "arc-lines", "aria-hidden": "true" });
  /** @type {{row: number, column: number, share: number, path: SVGElement}[]} */
  const paths = [];
  left.forEach((_, row) =>
    right.forEach((__, column) => {
      const share = weight(row, column);
      if (share < FAINT) return;
      const path = s("path", {
        d: `M0 ${y("left", row)} C80 ${y("left", row)} 120 ${y("right", column)} 200 ${y("right", column)}`,
        class: "arc",
        "stroke-width": (0.75 + 6 * share).toFixed(2),
        "data-row": row,
        "data-column": column,
        "vector-effect": "non-scaling-stroke",
      });
      paths.push({ row, column, share, path });
      lines.append(path);
    }),
  );
  /** @param {"left" | "right"} side */
  const column = (side) =>
    (side === "left" ? left : right).map((piece, at) =>
      h(
        "button",
        {
          type: "button",
          class: "arc-token",
          "data-at-token": at,
          "data-token": `${sides[side]}:${at}`,
          style: { height: `${LINE}px` },
          onpointerenter: () => (hot.value = side === "left" ? { row: at, column: null } : { row: null, column: at }),
          onfocus: () => (hot.value = side === "left" ? { row: at, column: null } : { row: null, column: at }),
          onclick: () => onPick(side === "left" ? at : -1, side === "left" ? -1 : at),
        },
        h("span", { class: "piece" }, piece),
        h("small", { class: "share" }),
      ),
    );
  const tokens = { left: column("left"), right: column("right") };
  owner.effect(() => {
    const { row, column: at } = hot.value;
    for (const line of paths) {
      const chosen = (row === null || row === line.row) && (at === null || at === line.column);
      line.path.setAttribute("stroke-opacity", String(chosen ? 0.1 + 0.9 * line.share : 0.02));
    }
    mark(tokens.left, row, at === null ? null : (i) => weight(i, at));
    mark(tokens.right, at, row === null ? null : (i) => weight(row, i));
  });
  return h(
    "div",
    { class: "arcs", style: { "--height": `${height}px` }, onpointerleave: () => (hot.value = { row: null, column: null }) },
    h("div", { class: "arc-tokens left", role: "group", "aria-label": names.left }, tokens.left),
    lines,
    h("div", { class: "arc-tokens right", role: "group", "aria-label": names.right }, tokens.right),
  );
}

/**
 * @param {HTMLElement[]} tokens
 * @param {number | null} chosen
 * @param {((at: number) => number) | null} shareOf
 */
function mark(tokens, chosen, shareOf) {
  tokens.forEach((token, at) => {
    const share = shareOf ? shareOf(at) : 0;
    token.setAttribute("aria-pressed", String(chosen === at));
    token.style.setProperty("--share", share.toFixed(3));
    /** @type {HTMLElement} */ (token.lastElementChild).textContent = shareOf && share >= FAINT ? share.toFixed(2) : "";
  });
}
