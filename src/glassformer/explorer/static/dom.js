// Elements of HTML and SVG in one call: h("p", {class: "note"}, "text"), s("rect", {width: 3}).

const SVG = "http://www.w3.org/2000/svg";

/** @typedef {Node | string | number | null | undefined | false} Child */

/**
 * @param {Element} element
 * @param {Record<string, any>} given  names of attributes; a function is a listener ("onclick"); null leaves it out
 * @param {Child[]} children
 */
function fill(element, given, children) {
  for (const [name, value] of Object.entries(given)) {
    if (typeof value === "function") element.addEventListener(name.slice(2), value);
    else if (name === "style" && typeof value === "object") {
      const { style } = /** @type {HTMLElement} */ (element);
      for (const [key, setting] of Object.entries(value)) style.setProperty(key, String(setting));
    } else if (value !== null && value !== undefined && value !== false) {
      element.setAttribute(name, value === true ? "" : String(value));
    }
  }
  put(element, ...children);
}

/**
 * @param {string} tag
 * @param {Record<string, any>} [given]
 * @param {...(Child | Child[])} children
 * @returns {HTMLElement}
 */
export function h(tag, given = {}, ...children) {
  const element = document.createElement(tag);
  fill(element, given, children.flat());
  return element;
}

/**
 * @param {string} tag
 * @param {Record<string, any>} [given]
 * @param {...(Child | Child[])} children
 * @returns {SVGElement}
 */
export function s(tag, given = {}, ...children) {
  const element = /** @type {SVGElement} */ (document.createElementNS(SVG, tag));
  fill(element, given, children.flat());
  return element;
}

/**
 * Appends children; nothing stands for null and false.
 * @param {Element} element
 * @param {...(Child | Child[])} children
 */
export function put(element, ...children) {
  for (const child of children.flat()) {
    if (child !== null && child !== undefined && child !== false) element.append(/** @type {Node} */ (child));
  }
}

/** Does the reader ask for less motion? */
export const isCalm = () => matchMedia("(prefers-reduced-motion: reduce)").matches;
