// The note that says what a term means: under the pointer, with the focus, at a touch. Escape closes it.

import { h, put } from "../dom.js";
import { lang } from "../words.js";
import { termOfBox } from "./boxes.js";
import { glossary } from "./mark.js";

/** @typedef {import("../app.js").App} App */

const PATIENCE = 350; // ms that the pointer rests; boxes of the figure are crossed on the way to others
const LONG = 550; // ms of a touch that asks and does not choose

/**
 * @param {import("../signal.js").Owner} owner
 * @param {App} app
 */
export function showNotes(owner, app) {
  const note = h("div", { class: "term-note", role: "tooltip", id: "term-note", hidden: true });
  put(document.body, note);
  /** @type {Element | null} */
  let anchor = null;
  let waiting = 0;

  const close = () => {
    clearTimeout(waiting);
    anchor?.removeAttribute("aria-describedby");
    if (anchor?.hasAttribute("aria-expanded")) anchor.setAttribute("aria-expanded", "false");
    anchor = null;
    note.hidden = true;
  };
  /** @param {Element} element */
  const open = async (element) => {
    clearTimeout(waiting);
    const language = lang.peek();
    const found = await glossary(language).catch(() => null);
    const term = found?.terms.get(element.getAttribute("data-term") ?? termOfBox(element, found, app) ?? "");
    if (!term || !element.isConnected) return;
    close();
    anchor = element;
    anchor.setAttribute("aria-describedby", note.id);
    if (anchor.hasAttribute("aria-expanded")) anchor.setAttribute("aria-expanded", "true");
    const meaning = h("p", {});
    meaning.innerHTML = term.meaning;
    note.replaceChildren(h("p", { class: "term-names" }, h("b", {}, term.term), h("span", { lang: language === "ko" ? "en" : "ko" }, term.other)), meaning);
    note.dataset["key"] = term.key;
    note.hidden = false;
    place(note, anchor);
  };
  /** @param {Element} element @param {number} after */
  const later = (element, after) => {
    clearTimeout(waiting);
    waiting = window.setTimeout(() => open(element), after);
  };
  const asking = (/** @type {Event} */ event) => (event.target instanceof Element ? event.target.closest(".term, .figure-svg .box") : null);

  owner.listen(document, "pointerover", (/** @type {PointerEvent} */ event) => {
    if (event.pointerType === "touch") return;
    const element = asking(event);
    if (element && element !== anchor) later(element, element.matches(".term") ? 120 : PATIENCE);
    else if (!element && event.target instanceof Element && !event.target.closest(".term-note") && anchor !== document.activeElement) {
      clearTimeout(waiting);
      waiting = window.setTimeout(close, 200); // time to reach the note itself
    } else if (event.target instanceof Element && event.target.closest(".term-note")) clearTimeout(waiting);
  });
  owner.listen(document, "focusin", (event) => {
    const element = asking(event);
    if (element?.matches(":focus-visible")) later(element, element.matches(".term") ? 0 : PATIENCE);
    else if (!element) close();
  });
  owner.listen(document, "pointerdown", (/** @type {PointerEvent} */ event) => {
    const element = asking(event);
    if (element?.matches(".box") && event.pointerType === "touch") later(element, LONG);
    else if (!element && !(event.target instanceof Element && event.target.closest(".term-note"))) close();
  });
  owner.listen(document, "pointerup", (/** @type {PointerEvent} */ event) => {
    if (event.pointerType === "touch" && asking(event)?.matches(".box")) clearTimeout(waiting);
  });
  owner.listen(document, "click", (event) => {
    const element = asking(event);
    if (element?.matches(".term")) open(element);
    else if (element) close();
  });
  owner.listen(
    document,
    "keydown",
    (/** @type {KeyboardEvent} */ event) => {
      const element = asking(event);
      if (event.key === "Escape" && anchor) close();
      else if (element?.matches(".term") && (event.key === "Enter" || event.key === " ")) open(element);
      else return;
      event.preventDefault();
      event.stopPropagation();
    },
    { capture: true },
  );
  const follow = () => {
    if (anchor?.isConnected) place(note, anchor);
    else if (anchor) close();
  };
  owner.listen(window, "scroll", follow, { capture: true, passive: true });
  owner.listen(window, "resize", follow);
  owner.effect(() => {
    void app.run.value;
    void app.at.value;
    void app.view.value;
    void lang.value;
    close();
  });
  owner.own(() => note.remove());
}

/**
 * Below its term, or above where there is no room; never outside of the window.
 * @param {HTMLElement} note
 * @param {Element} anchor
 */
function place(note, anchor) {
  const from = anchor.getClientRects()[0] ?? anchor.getBoundingClientRect();
  const [width, height] = [note.offsetWidth, note.offsetHeight];
  const below = from.bottom + 8 + height < innerHeight || from.top - 8 - height < 0;
  note.style.left = `${Math.max(8, Math.min(innerWidth - width - 8, from.left + from.width / 2 - width / 2))}px`;
  note.style.top = `${Math.max(8, Math.min(innerHeight - height - 8, below ? from.bottom + 8 : from.top - 8 - height))}px`;
}
