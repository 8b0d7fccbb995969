// The controls of a panel, which the browser draws by itself: sliders, choices, ticks.

import { s } from "../dom.js";
import { inColour } from "./colour.js";
import { round } from "./text.js";

/**
 * @param {{put: (parent: Element, part: Element, box: import("./paint.js").Box) => void}} painting
 * @param {Element} parent
 * @param {Element} element
 * @param {DOMRect} box
 * @returns {boolean}  whether it was one
 */
export function drawControl(painting, parent, element, box) {
  const style = getComputedStyle(element);
  const accent = style.accentColor === "auto" ? style.color : style.accentColor;
  if (element instanceof HTMLSelectElement) {
    written(painting, parent, element.selectedOptions[0]?.textContent ?? "", style, box);
    return true;
  }
  if (!(element instanceof HTMLInputElement)) return false;
  const middle = box.top + box.height / 2;
  if (element.type === "range") {
    const [low, high] = [Number(element.min || 0), Number(element.max || 100)];
    const at = box.left + 8 + ((Number(element.value) - low) / Math.max(1e-9, high - low)) * (box.width - 16);
    painting.put(parent, s("line", { x1: round(box.left), y1: round(middle), x2: round(box.right), y2: round(middle), "stroke-width": 4, "stroke-linecap": "round", "stroke-opacity": 0.3, ...inColour(accent, "stroke") }), box);
    painting.put(parent, s("circle", { cx: round(at), cy: round(middle), r: 8, ...inColour(accent) }), box);
  } else if (element.type === "checkbox" || element.type === "radio") {
    painting.put(parent, s("rect", { x: round(box.left), y: round(box.top), width: round(box.width), height: round(box.height), rx: 3, "stroke-width": 1.5, ...inColour(accent, "stroke"), ...(element.checked ? inColour(accent) : { fill: "none" }) }), box);
  } else written(painting, parent, element.value, style, box);
  return true;
}

/**
 * @param {{put: (parent: Element, part: Element, box: import("./paint.js").Box) => void}} painting
 * @param {Element} parent
 * @param {string} text
 * @param {CSSStyleDeclaration} style
 * @param {DOMRect} box
 */
function written(painting, parent, text, style, box) {
  const place = { x: round(box.left + parseFloat(style.paddingLeft) + 1), y: round(box.top + box.height / 2), "dominant-baseline": "central" };
  painting.put(parent, s("text", { ...place, "font-family": style.fontFamily.replace(/"/g, "'"), "font-size": parseFloat(style.fontSize), "font-weight": style.fontWeight, ...inColour(style.color) }, text), box);
}
