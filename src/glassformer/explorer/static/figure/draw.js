// The pencils of the figure: boxes that can be clicked and focused, wires along which data flow, pieces of text.

import { s } from "../dom.js";
import { fitted, wide } from "./label.js";

/**
 * @typedef {import("../app.js").App} App
 * @typedef {import("../plan.js").Box} Box
 * @typedef {{x: number, y: number, width: number, height: number}} Frame
 */

const MOST_ROWS = 3; // of chips
const SHARING = ["language_model", "classifier"]; // heads whose numbers become shares

/** One drawing: its SVG, its size, and the order in which data reach its parts. */
export class Drawing {
  /**
   * @param {App} app
   * @param {number} width
   */
  constructor(app, width) {
    this.app = app;
    this.width = width;
    this.order = 0;
    this.svg = s("svg", { class: "figure-svg", width, role: "group" });
    this.frames = s("g", {});
    this.wires = s("g", { class: "wires", "aria-hidden": "true" });
    this.boxes = s("g", {});
    this.svg.append(this.frames, this.wires, this.boxes);
  }

  /**
   * Everything was drawn from y = 0 upwards (to smaller y); the sheet is fitted to it.
   * @param {number} top
   * @param {number} bottom
   */
  fit(top, bottom) {
    this.svg.setAttribute("viewBox", `0 ${top} ${this.width} ${bottom - top}`);
    this.svg.setAttribute("height", String(bottom - top));
    return this.svg;
  }

  /**
   * @param {Frame} frame
   * @param {{at: string, kind: string, label: string, note?: string, zoom: number, anyLayer?: boolean, rx?: number}} how
   */
  box({ x, y, width, height }, { at, kind, label, note = "", zoom, anyLayer = false, rx = 9 }) {
    this.order += 1;
    const group = s(
      "g",
      {
        class: `box ${kind}`,
        role: "button",
        tabindex: "0",
        "aria-label": note ? `${label}, ${note}` : label,
        "data-at": at,
        "data-any-layer": anyLayer,
        "data-zoom": zoom,
        style: { "--order": this.order },
        onclick: () => this.app.go(at, { zoom }),
        onkeydown: (/** @type {KeyboardEvent} */ event) => {
          if (event.key !== "Enter" && event.key !== " ") return;
          event.preventDefault();
          this.app.go(at, { zoom });
        },
      },
      s("rect", { x, y, width, height, rx }),
      label && fitted(label, { x: x + width / 2, y: y + height / 2 - (note ? 6 : -1), width, height: note ? height - 18 : height }),
      note && s("text", { x: x + width / 2, y: y + height / 2 + 11, class: "note" }, note),
    );
    this.boxes.append(group);
    return group;
  }

  /**
   * @param {string} path
   * @param {string} [kind]
   */
  wire(path, kind = "") {
    const order = { style: { "--order": this.order } };
    this.wires.append(s("path", { d: path, class: `wire ${kind}` }), s("path", { d: path, class: "pulse", pathLength: 1, ...order }));
  }

  /**
   * @param {number} x
   * @param {number} y
   * @param {string} text
   * @param {string} [kind]
   */
  text(x, y, text, kind = "") {
    const element = s("text", { x, y, class: `plain ${kind}` }, text);
    this.boxes.append(element);
    return element;
  }

  /**
   * Pieces of text in rows of chips, the lowest row at `bottom`; returns the top.
   * @param {import("../engine.js").Token[]} tokens
   * @param {{x: number, width: number, bottom: number, side: string, kind?: string}} where
   */
  chips(tokens, { x, width, bottom, side, kind = "" }) {
    const room = (/** @type {string} */ text) => Math.ceil(wide(text, 12, 400)) + 12;
    /** @type {{piece: string, at: number, width: number}[][]} */
    const rows = [[]];
    let used = 0;
    tokens.forEach(({ piece: whole }, at) => {
      const piece = room(whole) > width ? `${whole.slice(0, Math.max(1, Math.floor((whole.length * width) / room(whole)) - 2))}…` : whole;
      const needed = room(piece) + 4;
      if (used + needed > width && used) {
        rows.push([]);
        used = 0;
      }
      used += needed;
      /** @type {any} */ (rows.at(-1)).push({ piece, at, width: room(piece) });
    });
    const shown = rows.slice(0, MOST_ROWS);
    const end = rows.length > MOST_ROWS ? shown.at(-1)?.at(-1) : null;
    if (end) end.piece = "…";
    const height = 24;
    const top = bottom - shown.length * (height + 4);
    shown.forEach((row, line) => {
      let left = x + (width - row.reduce((sum, one) => sum + one.width + 4, -4)) / 2;
      for (const chip of row) {
        const y = top + line * (height + 4);
        this.boxes.append(
          s(
            "g",
            { class: `chip ${kind}`, "data-token": `${side}:${chip.at}` },
            s("rect", { x: left, y, width: chip.width, height, rx: 7 }),
            s("text", { x: left + chip.width / 2, y: y + height / 2 + 1 }, chip.piece),
          ),
        );
        left += chip.width + 4;
      }
    });
    return top;
  }
}

/**
 * What a box is called.
 * @param {App} app
 * @param {Box} box
 * @param {boolean} [masked]
 */
export function boxName(app, box, masked = false) {
  if (box.kind === "attention") return app.say(`explorer.box.${masked && box.name === "self_attention" ? "masked_attention" : box.name}`);
  if (box.kind === "norm") return app.say("explorer.box.norm");
  if (box.kind === "head" && !SHARING.includes(app.model.peek()?.sizes["head"])) return app.say("explorer.box.linear");
  return app.say(`explorer.box.${box.kind}`);
}

/**
 * A layer's groups as a column that grows upwards from `bottom`; returns the top, and where each box stands.
 * @param {Drawing} drawing
 * @param {import("../plan.js").Layer} layer
 * @param {{x: number, width: number, bottom: number, height: number, gap: number, bypass: number, zoom: number,
 *   masked: boolean, anyLayer?: boolean, note?: (box: Box) => string}} where  bypass: how far the residual goes aside (signed)
 */
export function drawGroups(drawing, layer, { x, width, bottom, height, gap, bypass, zoom, masked, anyLayer = false, note }) {
  let y = bottom;
  const middle = x + width / 2;
  /** @type {Map<string, Frame>} */
  const places = new Map();
  for (const { boxes, add } of layer.groups) {
    const begin = y - gap * 0.45;
    for (const box of [...boxes, add]) {
      if (!box) continue;
      const small = box.kind === "norm" || box.kind === "add" || box.kind === "add_norm";
      const tall = small ? Math.max(22, height * 0.72) : height;
      drawing.wire(`M${middle} ${y} V${y - gap}`, "up");
      y -= gap + tall;
      const frame = { x, y, width, height: tall };
      drawing.box(frame, { at: box.at, kind: box.kind, label: boxName(drawing.app, box, masked), note: note?.(box) ?? "", zoom, anyLayer });
      places.set(box.at, frame);
      if (box === add) {
        const side = bypass < 0 ? x : x + width;
        const level = y + tall / 2;
        drawing.wire(`M${middle} ${begin} H${side + bypass + Math.sign(-bypass) * 8} Q${side + bypass} ${begin} ${side + bypass} ${begin - 8} V${level + 8} Q${side + bypass} ${level} ${side + bypass + Math.sign(-bypass) * 8} ${level} H${side}`, "residual up");
      }
    }
  }
  return { top: y, places };
}
