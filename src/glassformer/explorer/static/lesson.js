// The text of a lesson beside what it explains: easy first, deep for those who want to know.

import { h } from "./dom.js";
import { ask } from "./engine.js";
import { signal } from "./signal.js";
import { lang, say } from "./words.js";

/** @typedef {{name: string, title: string, question: string, easy: string, deep: string}} Lesson  texts are HTML of the server's own */

/** @type {Map<string, Promise<Lesson>>} */
const asked = new Map();
export const depth = signal(/** @type {"easy" | "deep"} */ (localStorage.getItem("depth") === "deep" ? "deep" : "easy"));

/**
 * @param {string} name
 * @param {string} language
 */
function lesson(name, language) {
  const key = `${name} ${language}`;
  let found = asked.get(key);
  if (!found) {
    found = ask(`/api/lesson/${name}?lang=${language}`).then((answer) => answer.json());
    asked.set(key, found);
  }
  return found;
}

/**
 * @param {import("./signal.js").Owner} owner
 * @param {() => string} name
 * @returns {HTMLElement}
 */
export function lessonPanel(owner, name) {
  const text = h("div", { class: "lesson-text" });
  const title = h("h3", {});
  const question = h("p", { class: "lesson-question" });
  const switches = h("div", { class: "switches", role: "group" });
  const own = h("p", { class: "quiet" });
  const panel = h("aside", { class: "lesson" }, h("header", {}, h("span", { class: "eyebrow" }), switches), title, question, text, own);
  owner.effect(() => {
    own.textContent = say("explorer.lesson_own");
    panel.setAttribute("aria-label", say("explorer.lesson"));
    /** @type {HTMLElement} */ (panel.querySelector(".eyebrow")).textContent = say("explorer.lesson");
    switches.setAttribute("aria-label", say("explorer.depth"));
    switches.replaceChildren(
      ...(/** @type {const} */ (["easy", "deep"])).map((one) =>
        h("button", { type: "button", class: "pill", "aria-pressed": String(depth.value === one), "data-depth": one, onclick: () => choose(one) }, say(`explorer.${one}`)),
      ),
    );
  });
  owner.effect((inner) => {
    const wanted = name();
    const chosen = depth.value;
    let late = false;
    inner.own(() => (late = true));
    own.hidden = panel.dataset["lesson"] !== wanted; // the first lesson takes a moment
    panel.setAttribute("aria-busy", String(own.hidden));
    if (own.hidden) title.textContent = "…";
    if (own.hidden) [question, text].forEach((part) => part.replaceChildren());
    lesson(wanted, lang.value).then(
      (found) => {
        if (late) return;
        panel.dataset["lesson"] = wanted;
        own.hidden = false;
        panel.setAttribute("aria-busy", "false");
        title.textContent = found.title;
        question.textContent = found.question;
        text.innerHTML = found[chosen];
      },
      () => late || panel.setAttribute("aria-busy", "false"),
    );
  });
  return panel;
}

/** @param {"easy" | "deep"} wanted */
function choose(wanted) {
  localStorage.setItem("depth", wanted);
  depth.value = wanted;
}
