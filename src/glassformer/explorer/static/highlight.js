// Whatever is under the pointer or has the focus is highlighted everywhere: in the figure, in the views, at every zoom.
// Elements only say where they belong (data-at, data-token); one pair of listeners does the rest.

import { lies, readPlace } from "./place.js";

/**
 * @param {import("./signal.js").Owner} owner
 * @param {import("./app.js").App} app
 */
export function highlight(owner, app) {
  const tell = (/** @type {Event} */ event) => {
    const target = event.target instanceof Element ? event.target : null;
    app.hot.value = target?.closest("[data-at]")?.getAttribute("data-at") ?? "";
    app.hotToken.value = target?.closest("[data-token]")?.getAttribute("data-token") ?? "";
  };
  owner.listen(document, "pointerover", tell);
  owner.listen(document, "focusin", tell);
  owner.effect(() => {
    const hot = app.hot.value;
    const at = app.at.value;
    void app.run.value;
    void app.zoom.value;
    queueMicrotask(() => mark(hot, at));
  });
  owner.effect(() => {
    const token = app.hotToken.value;
    for (const element of document.querySelectorAll("[data-token]")) {
      element.classList.toggle("hot-token", token !== "" && element.getAttribute("data-token") === token);
    }
  });
}

/**
 * @param {string} hot
 * @param {string} at
 */
function mark(hot, at) {
  const [pointed, looked] = [readPlace(hot), readPlace(at)];
  for (const element of document.querySelectorAll("[data-at]")) {
    const own = readPlace(element.getAttribute("data-at") ?? "");
    // one layer stands for all in the whole model: its boxes answer to every layer
    const seen = (/** @type {import("./place.js").Place} */ place) => (element.hasAttribute("data-any-layer") ? { ...place, layer: place.layer === null ? null : own.layer } : place);
    element.classList.toggle("hot", hot !== "" && lies(seen(pointed), own));
    element.classList.toggle("now", at !== "" && lies(seen(looked), own));
  }
}
