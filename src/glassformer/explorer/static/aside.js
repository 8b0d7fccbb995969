// What stands beside the numbers: the glossary under every term, the cover over what is to be predicted, and what can be
// taken along.

import { keepCovered } from "./guess/cover.js";
import { h } from "./dom.js";
import { snippetButton } from "./snippet.js";
import { takeMenu } from "./take/menu.js";
import { markTerms } from "./terms/mark.js";
import { showNotes } from "./terms/note.js";

/**
 * @param {import("./signal.js").Owner} owner
 * @param {import("./app.js").App} app
 */
export function beside(owner, app) {
  markTerms(owner);
  showNotes(owner, app);
  keepCovered(owner, app);
}

/**
 * Beside the tabs: the present question in Python, and the open view as a picture.
 * @param {import("./signal.js").Owner} owner
 * @param {import("./app.js").App} app
 * @param {Element} panel
 */
export function viewTools(owner, app, panel) {
  const view = () => app.view.peek() || "steps";
  return h("div", { class: "view-tools" }, snippetButton(owner, app), takeMenu(owner, app, { id: "take-view", view, panel: () => panel }));
}
