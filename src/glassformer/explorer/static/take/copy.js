// A drawing of the page as a drawing that stands alone: the styles become attributes, and everything else is left out.

import { plainColour } from "./colour.js";

const KEPT = "d x y x1 y1 x2 y2 cx cy r rx ry width height viewBox transform points preserveAspectRatio pathLength offset".split(" ");
const STYLES = "stroke-width stroke-dasharray stroke-linecap stroke-linejoin opacity font-family font-size font-weight font-style text-anchor dominant-baseline letter-spacing vector-effect".split(" ");
const USUAL = /** @type {Record<string, string>} */ ({ "stroke-dasharray": "none", "stroke-linecap": "butt", "stroke-linejoin": "miter", opacity: "1", "font-style": "normal", "text-anchor": "start", "dominant-baseline": "auto", "letter-spacing": "normal", "vector-effect": "none" });
const SVG = "http://www.w3.org/2000/svg";

/**
 * @param {Element} element
 * @param {(inner: Element) => void} foreign  what to do with HTML inside of the drawing
 * @returns {Element | null}  null if it is not seen
 */
export function copyOf(element, foreign) {
  const tag = element.localName;
  if (["script", "style", "a", "use", "image", "animate", "set"].includes(tag)) return null;
  if (tag === "foreignObject") {
    foreign(element);
    return null;
  }
  const style = getComputedStyle(element);
  if (style.display === "none" || style.visibility === "hidden" || style.opacity === "0") return null;
  const copy = document.createElementNS(SVG, tag);
  for (const name of KEPT) {
    const value = element.getAttribute(name);
    if (value !== null) copy.setAttribute(name, value);
  }
  const text = tag === "text" || tag === "tspan";
  if (["rect", "path", "line", "circle", "ellipse", "polygon", "polyline"].includes(tag) || text) paint(copy, style, text);
  for (const child of element.childNodes) {
    if (child instanceof Text) copy.append(child.data);
    else if (child instanceof Element) copy.append(copyOf(child, foreign) ?? "");
  }
  return copy;
}

/**
 * @param {Element} copy
 * @param {CSSStyleDeclaration} style
 * @param {boolean} text
 */
function paint(copy, style, text) {
  for (const what of /** @type {const} */ (["fill", "stroke"])) {
    const value = style.getPropertyValue(what);
    const { colour, opacity } = value === "none" ? { colour: "none", opacity: 1 } : plainColour(value);
    const whole = opacity * Number(style.getPropertyValue(`${what}-opacity`) || 1);
    if (what === "stroke" && (colour === "none" || whole === 0)) continue;
    copy.setAttribute(what, whole === 0 ? "none" : colour);
    if (whole < 1 && whole > 0) copy.setAttribute(`${what}-opacity`, String(Number(whole.toFixed(3))));
  }
  for (const name of STYLES) {
    const value = style.getPropertyValue(name);
    const ofText = name.startsWith("font") || ["text-anchor", "dominant-baseline", "letter-spacing"].includes(name);
    const ofStroke = name.startsWith("stroke") || name === "vector-effect";
    if (!value || value === USUAL[name] || (ofText && !text) || (ofStroke && !copy.hasAttribute("stroke"))) continue;
    copy.setAttribute(name, name === "font-family" ? value.replace(/"/g, "'") : value.replace(/(\d)px\b/g, "$1"));
  }
}
