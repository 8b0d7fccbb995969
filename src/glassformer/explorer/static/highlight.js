// Whatever is under the pointer or has the focus is highlighted everywhere: in the figure, in the views, at every zoom.
// What it lies in is `hot`, and beside the figure what lies in it is `within`: the heads of a layer, of a box.
// Elements only say where they belong (data-at, data-token); one pair of listeners does the rest.

import { lies, readPlace } from "./place.js";

/**
 * @param {import("./signal.js").Owner} owner
 * @param {import("./app.js").App} app
 */
export function highlight(owner, app) {
  let everyLayer = false; // one layer stands for all in the whole model
  const tell = (/** @type {Event} */ event) => {
    const target = event.target instanceof Element ? event.target : null;
    const place = target?.closest("[data-at]");
    everyLayer = place?.hasAttribute("data-any-layer") ?? false;
    app.hot.value = place?.getAttribute("data-at") ?? "";
    app.hotToken.value = target?.closest("[data-token]")?.getAttribute("data-token") ?? "";
  };
  owner.listen(document, "pointerover", tell);
  owner.listen(document, "focusin", tell);
  owner.effect(() => {
    const hot = app.hot.value;
    const at = app.at.value;
    void app.run.value;
    void app.zoom.value;
    queueMicrotask(() => mark(hot, at, everyLayer));
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
 * @param {boolean} everyLayer
 */
function mark(hot, at, everyLayer) {
  const [pointed, looked] = [readPlace(hot), readPlace(at)];
  const around = everyLayer ? { ...pointed, layer: null } : pointed;
  for (const element of document.querySelectorAll("[data-at]")) {
    const own = readPlace(element.getAttribute("data-at") ?? "");
    // in the whole model the boxes of one layer answer to every layer
    const seen = (/** @type {import("./place.js").Place} */ place) => (element.hasAttribute("data-any-layer") ? { ...place, layer: place.layer === null ? null : own.layer } : place);
    element.classList.toggle("hot", hot !== "" && lies(seen(pointed), own));
    element.classList.toggle("within", hot !== "" && around.stack !== "" && lies(own, around) && !element.closest(".figure"));
    element.classList.toggle("now", at !== "" && lies(seen(looked), own));
  }
}
