// The figure: Figure 1 of this very model, at five levels of zoom. Every level has an address; Escape looks from further away.

import { h, isCalm } from "./dom.js";
import { openBox } from "./figure/box.js";
import { drawLayer } from "./figure/layer.js";
import { drawModel } from "./figure/model.js";
import { openNumber } from "./figure/number.js";
import { drawLayers } from "./figure/stack.js";
import { clip, WHOLE, writePlace } from "./place.js";
import { boxAt, planOf } from "./plan.js";
import { signal } from "./signal.js";
import { takeMenu } from "./take/menu.js";
import { say } from "./words.js";

/**
 * @typedef {import("./app.js").App} App
 * @typedef {import("./signal.js").Owner} Owner
 */

const BELOW = 26; // the figure's own edge, and a little of the page
const BAR = 67;

/**
 * @param {Owner} owner
 * @param {App} app
 * @returns {HTMLElement}
 */
export function makeFigure(owner, app) {
  const crumbs = h("nav", { class: "crumbs" });
  const sheet = h("div", { class: "sheet" });
  const figure = h("section", { class: "figure", id: "figure" }, crumbs, takeMenu(owner, app, { id: "take-figure", view: () => "figure", panel: () => sheet }), sheet);
  const width = signal(0);
  const observer = new ResizeObserver(() => (width.value = Math.round(sheet.clientWidth)));
  observer.observe(sheet);
  // it stays in view; one that is taller than the window scrolls with the page until its end is seen
  const staying = new ResizeObserver(() => figure.style.setProperty("--stays", `${Math.min(BAR, window.innerHeight - figure.offsetHeight - 16)}px`));
  staying.observe(figure);
  staying.observe(document.documentElement);
  owner.own(() => [observer, staying].forEach((one) => one.disconnect()));

  owner.effect(() => {
    figure.setAttribute("aria-label", say("explorer.figure"));
    crumbs.setAttribute("aria-label", say("explorer.path"));
    crumbs.replaceChildren(...pathOf(app));
  });
  let [level, at] = [0, ""];
  owner.effect((inner) => {
    const run = app.run.value;
    if (!run) sheet.replaceChildren();
    if (!run || !width.value) return;
    const zoom = app.zoom.value;
    const drawn = draw(inner, app, width.value, roomFor(sheet));
    const focused = sheet.contains(document.activeElement);
    const from = zoom > level ? sheet.querySelector(`[data-at="${writePlace(clip(app.place.peek(), zoom))}"]`)?.getBoundingClientRect() : null;
    const moved = level !== 0 && (zoom !== level || (zoom > 1 && app.at.peek() !== at));
    const sheetBox = sheet.getBoundingClientRect();
    sheet.replaceChildren(drawn);
    if (moved && zoom !== level && !isCalm()) fly(drawn, from ?? null, sheetBox, zoom > level);
    if (focused && zoom !== level) /** @type {HTMLElement | null} */ (crumbs.querySelector("[aria-current]"))?.focus();
    [level, at] = [zoom, app.at.peek()];
  });
  owner.effect(() => {
    if (!app.flows.value || isCalm()) return;
    sheet.classList.remove("flowing");
    void sheet.offsetWidth; // starts the animation anew
    sheet.classList.add("flowing");
  });
  owner.listen(figure, "keydown", (/** @type {KeyboardEvent} */ event) => {
    if (event.key !== "Escape" || app.zoom.peek() <= 1) return;
    event.preventDefault();
    zoomOut(app);
  });
  return figure;
}

/**
 * How tall a drawing may be so that all of it is seen before anybody scrolls; without limit where the views stand below.
 * @param {HTMLElement} sheet
 */
function roomFor(sheet) {
  if (matchMedia("(max-width: 1000px)").matches) return Infinity;
  return window.innerHeight - (sheet.getBoundingClientRect().top + window.scrollY) - BELOW;
}

/** @param {App} app */
export function zoomOut(app) {
  const zoom = app.zoom.peek();
  const place = app.place.peek();
  const nearer = zoom === 5 ? 4 : zoom - 1;
  const outside = zoom === 4 && !place.stack ? 1 : zoom === 4 && place.layer === null ? 2 : nearer;
  app.go(place, { zoom: outside });
}

/**
 * @param {Owner} owner
 * @param {App} app
 * @param {number} width
 * @param {number} room
 * @returns {Element}
 */
function draw(owner, app, width, room) {
  const { about } = /** @type {import("./engine.js").Run} */ (app.run.value);
  const plan = planOf(about);
  const zoom = app.zoom.value;
  const place = app.place.value;
  const stack = plan.stacks.find((one) => one.name === place.stack) ?? plan.stacks[0];
  const layer = stack?.layers.find((one) => one.index === place.layer) ?? stack?.layers[0];
  if (zoom === 5 && app.cell.value) return openNumber(owner, app, about);
  if (zoom >= 4) {
    const box = boxAt(plan, place);
    if (box) return openBox(owner, app, box, about);
  }
  if (zoom >= 3 && stack && layer) return drawLayer(owner, app, stack, layer, about, width, room);
  if (zoom === 2 && stack) return drawLayers(owner, app, stack, width);
  return drawModel(app, plan, about, width, room);
}

/**
 * Where one is, from the model down to the number; each part leads back to it.
 * @param {App} app
 */
function pathOf(app) {
  const place = app.place.value;
  const zoom = app.zoom.value;
  /** @type {[string, import("./place.js").Place, number][]} */
  const parts = [[app.field("model").value, WHOLE, 1]];
  if (place.stack && zoom >= 2) parts.push([say(`explorer.stack.${place.stack}`), clip(place, 2), 2]);
  if (place.layer !== null && zoom >= 3) parts.push([say("explorer.layer", { number: place.layer + 1 }), clip(place, 3), 3]);
  if (place.box && zoom >= 4) parts.push([say(`explorer.box.${place.box}`), { ...place, tap: "", head: null }, 4]);
  if (place.head !== null && zoom >= 4) parts.push([say("explorer.head", { number: place.head + 1 }), { ...place, tap: "" }, 4]);
  const cell = app.cell.value;
  if (cell && zoom === 5) parts.push([`${place.tap} [${cell.join(", ")}]`, place, 5]);
  return parts.flatMap(([name, where, near], i) => {
    const last = i === parts.length - 1;
    const button = h(
      "button",
      { type: "button", class: "crumb", "aria-current": last ? "location" : null, onclick: () => app.go(where, { zoom: near, cell: near === 5 ? cell : null }) },
      name,
    );
    return i ? [h("span", { class: "then", "aria-hidden": "true" }, "›"), button] : [button];
  });
}

/**
 * The new drawing grows out of the box that was clicked, or shrinks into its place.
 * @param {Element} drawn
 * @param {DOMRect | null} from
 * @param {DOMRect} sheet
 * @param {boolean} inwards
 */
function fly(drawn, from, sheet, inwards) {
  const start = from
    ? `translate(${from.left - sheet.left}px, ${from.top - sheet.top}px) scale(${Math.max(0.1, from.width / sheet.width)})`
    : `scale(${inwards ? 0.92 : 1.06})`;
  drawn.animate(
    [
      { transform: start, transformOrigin: from ? "0 0" : "50% 50%", opacity: 0 },
      { transform: "none", transformOrigin: from ? "0 0" : "50% 50%", opacity: 1 },
    ],
    { duration: 320, easing: "cubic-bezier(.2,.7,.2,1)" },
  );
}
