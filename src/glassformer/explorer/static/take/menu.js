// A small menu at a panel that saves it as a picture.

import { h } from "../dom.js";
import { say } from "../words.js";
import { asPng, asSvg, download, fileName } from "./save.js";

/**
 * @typedef {import("../app.js").App} App
 */

/**
 * @param {import("../signal.js").Owner} owner
 * @param {App} app
 * @param {{id: string, view: () => string, panel: () => Element}} of  `view` stands in the name of the file
 */
export function takeMenu(owner, app, { id, view, panel }) {
  const list = h("div", { class: "take-list", id: `${id}-list`, hidden: true });
  const button = h("button", { type: "button", class: "pill take-button", id, "aria-expanded": "false", "aria-controls": `${id}-list`, onclick: () => show(Boolean(list.hidden)) }, h("span", { "aria-hidden": "true" }, "⤓"));
  const whole = h("div", { class: "take" }, button, list);

  /** @param {boolean} open */
  function show(open) {
    list.hidden = !open;
    button.setAttribute("aria-expanded", String(open));
  }
  /** @param {"svg" | "png"} kind */
  async function save(kind) {
    show(false);
    button.focus();
    const cell = app.cell.peek();
    const name = fileName(app.field("model").peek(), view(), app.at.peek(), cell ? cell.join(",") : undefined);
    try {
      download(kind === "svg" ? new Blob([asSvg(panel(), name)], { type: "image/svg+xml" }) : await asPng(panel(), name), `${name}.${kind}`);
    } catch (error) {
      app.error.value = say("explorer.take.failed", { why: /** @type {Error} */ (error).message });
    }
  }
  owner.effect(() => {
    button.setAttribute("aria-label", say("explorer.take.menu"));
    button.title = say("explorer.take.menu");
    list.replaceChildren(...(/** @type {const} */ (["svg", "png"])).map((kind) => h("button", { type: "button", "data-take": kind, onclick: () => save(kind) }, say(`explorer.take.${kind}`))));
  });
  owner.listen(whole, "keydown", (/** @type {KeyboardEvent} */ event) => {
    if (event.key !== "Escape" || list.hidden) return;
    show(false);
    button.focus();
    event.preventDefault();
    event.stopPropagation();
  });
  owner.listen(document, "pointerdown", (event) => {
    if (!whole.contains(event.target)) show(false);
  });
  return whole;
}
