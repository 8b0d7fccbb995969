// What a saved page says about itself, and about every control that it has no model for: those that are marked
// data-needs="model". They are there, cannot be used, and say why.

import { h } from "../dom.js";
import { signal } from "../signal.js";
import { say } from "../words.js";
import { saved } from "./answers.js";

const NEEDING = "[data-needs=model]";
const SHOWN = 4000; // ms that the line stays in sight after somebody tried
const CONTROLS = "button, input, select, textarea, [tabindex]";

/** Why a control cannot be used, in the language of the page. */
export const reason = () => say("explorer.saved.why", { command: saved?.command ?? "" });

/**
 * The line on top of a saved page; null in a page that a server sent.
 * @param {import("../signal.js").Owner} owner
 * @returns {HTMLElement | null}
 */
export function makeNotice(owner) {
  if (!saved) return null;
  const told = signal(0); // how often somebody tried
  const line = h("p", { class: "saved-notice", id: "saved-notice", role: "status" });
  owner.effect(() => line.replaceChildren(...reason().split("`").map((part, at) => (at % 2 ? h("code", {}, part) : part))));
  owner.effect((inner) => {
    line.classList.toggle("told", told.value > 0);
    const rest = setTimeout(() => line.classList.remove("told"), SHOWN);
    inner.own(() => clearTimeout(rest));
  });
  document.documentElement.dataset["saved"] = "yes";
  const mark = () => document.querySelectorAll(NEEDING).forEach((one) => [one, ...one.querySelectorAll(CONTROLS)].forEach(disable));
  const watcher = new MutationObserver(mark);
  watcher.observe(document.body, { childList: true, subtree: true, attributes: true, attributeFilter: ["data-needs"] });
  owner.own(() => watcher.disconnect());
  owner.effect(() => {
    reason(); // the language may have changed
    mark();
  });
  const stop = (/** @type {Event} */ event) => {
    const key = /** @type {KeyboardEvent} */ (event).key;
    if (!(event.target instanceof Element && event.target.closest(NEEDING)) || (key && key !== "Enter" && key !== " ")) return;
    event.preventDefault();
    event.stopImmediatePropagation();
    told.value += 1;
  };
  for (const kind of ["click", "pointerdown", "keydown", "submit", "input", "change"]) owner.listen(window, kind, stop, { capture: true });
  return line;
}

/** @param {Element} one */
function disable(one) {
  if (!one.matches(CONTROLS)) return;
  const why = reason().replaceAll("`", "");
  if (one.getAttribute("title") !== why) one.setAttribute("title", why);
  one.setAttribute("aria-describedby", "saved-notice");
  one.setAttribute("aria-disabled", "true");
  if (one instanceof HTMLInputElement || one instanceof HTMLSelectElement) one.disabled = true;
}
