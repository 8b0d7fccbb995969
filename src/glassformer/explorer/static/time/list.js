// What every checkpoint answers, one below the other; a click goes to the checkpoint.

import { h } from "../dom.js";
import { result } from "../input.js";
import { say, whole } from "../words.js";

/**
 * @typedef {import("../app.js").App} App
 * @typedef {import("./life.js").Life} Life
 * @typedef {import("./answers.js").Answer} Answer
 */

/**
 * @param {import("../signal.js").Owner} owner
 * @param {App} app
 * @param {import("../signal.js").Signal<Life>} life
 * @param {import("./now.js").Now} now
 * @param {ReturnType<typeof import("./answers.js").makeAnswers>} answers
 * @returns {HTMLElement}
 */
export function makeList(owner, app, life, now, answers) {
  const title = h("h3", {});
  const list = h("ol", { class: "time-list" });
  const start = h("button", { type: "button", class: "pill", id: "time-ask", onclick: () => (answers.allowed.value = true) });
  owner.effect(() => {
    title.textContent = say("explorer.time.answers");
    start.textContent = say("explorer.time.ask");
    start.hidden = answers.allowed.value;
  });
  const steps = owner.computed(() => life.value.checkpoints);
  owner.effect((inner) => {
    const best = life.value.best;
    list.replaceChildren(...steps.value.map((step) => h("li", {}, row(inner, step, step === best))));
  });

  /**
   * @param {import("../signal.js").Owner} inner
   * @param {number} step
   * @param {boolean} best
   */
  function row(inner, step, best) {
    const said = h("span", { class: "time-said", lang: app.model.peek()?.target_language ?? null });
    const name = h("span", { class: "time-step" }, whole(step), best ? h("span", { class: "best", title: say("explorer.time.best") }, "★") : null);
    const button = h("button", { type: "button", class: "time-row", "data-answer": step, onclick: () => now.go(step) }, name, said);
    inner.effect(() => {
      const answer = answers.found.value.answers.get(step);
      said.replaceChildren(...shownAnswer(answer));
      said.classList.toggle("failed", Boolean(answer?.error));
    });
    inner.effect(() => button.setAttribute("aria-current", String(now.step.value === step)));
    return button;
  }
  return h("section", { class: "card" }, h("header", {}, title, start), list);
}

/**
 * @param {Answer | undefined} answer
 * @returns {Node[]}
 */
function shownAnswer(answer) {
  if (!answer) return [h("span", { class: "quiet" }, "…")];
  if (!answer.about) return [document.createTextNode(answer.error)];
  return answerOf(answer.about);
}

/**
 * The answer of a pass, without the arrow before it; an empty text is one, too.
 * @param {import("../engine.js").About} about
 * @returns {Node[]}
 */
export function answerOf(about) {
  if (about.output["text"] === "") return [h("span", { class: "quiet" }, "∅")];
  return result(about).filter((part) => part instanceof HTMLElement && !part.classList.contains("arrow")).map((part) => /** @type {HTMLElement} */ (part));
}
