// The button that saves what is on the screen as one file, which opens without a server.

import { answeredFor, ask } from "../engine.js";
import { h } from "../dom.js";
import { lang, say } from "../words.js";
import { saved } from "./answers.js";

/**
 * @param {import("../signal.js").Owner} owner
 * @param {import("../app.js").App} app
 * @returns {HTMLElement | null}
 */
export function makeSave(owner, app) {
  if (saved) return null;
  const button = h("button", { type: "button", class: "pill", id: "save", onclick: () => save(app, button) }, "⤓");
  owner.effect(() => {
    button.title = say("explorer.saved.save");
    button.setAttribute("aria-label", button.title);
    button.toggleAttribute("disabled", !app.run.value);
  });
  return button;
}

/**
 * @param {import("../app.js").App} app
 * @param {HTMLElement} button
 */
async function save(app, button) {
  const run = app.run.peek();
  if (!run) return;
  const { model, checkpoint, input, edits } = run.question;
  const { source, target } = app.rows.peek();
  const body = { model, ...(checkpoint ? { checkpoint } : {}), input, edits: edits ?? [], follow: [source, target], address: location.hash, asked: answeredFor(run.question) };
  button.setAttribute("aria-busy", "true");
  try {
    const page = await (await ask("/api/export", { method: "POST", body, lang: lang.peek() })).blob();
    const link = h("a", { href: URL.createObjectURL(page), download: `${model}.html` });
    link.click();
    URL.revokeObjectURL(/** @type {HTMLAnchorElement} */ (link).href);
    app.error.value = "";
  } catch (error) {
    app.error.value = /** @type {Error} */ (error).message;
  }
  button.removeAttribute("aria-busy");
}
