// The time machine: a slider over the checkpoints of a run. What each of them answers, where one of its heads looks, and
// the loss curves, live while the run goes on.

import { h } from "../dom.js";
import { say, whole } from "../words.js";
import { makeAnswers } from "../time/answers.js";
import { makeCurve } from "../time/curve.js";
import { makeLife } from "../time/life.js";
import { answerOf, makeList } from "../time/list.js";
import { makeMultiples } from "../time/multiples.js";
import { makeNow } from "../time/now.js";
import { makePlayer } from "../time/player.js";

/**
 * @typedef {import("../signal.js").Owner} Owner
 * @typedef {import("../app.js").App} App
 */

/**
 * @param {Owner} owner
 * @param {App} app
 * @returns {HTMLElement}
 */
function make(owner, app) {
  const life = makeLife(owner, app);
  const now = makeNow(owner, app);
  const answers = makeAnswers(owner, app, life);
  return h(
    "div",
    { class: "time-view stage" },
    present(owner, app, life, now),
    makeCurve(owner, app, life, now),
    makeList(owner, app, life, now, answers),
    makeMultiples(owner, app, life, now, answers),
  );
}

/**
 * How the run stands, the slider, and the answer of the present checkpoint.
 * @param {Owner} owner
 * @param {App} app
 * @param {import("../signal.js").Signal<import("../time/life.js").Life>} life
 * @param {import("../time/now.js").Now} now
 */
function present(owner, app, life, now) {
  const state = h("p", { class: "time-state quiet", role: "status" });
  const wrong = h("p", { class: "error", role: "alert", id: "time-error" });
  const answer = h("p", { class: "time-answer", id: "time-answer", "aria-live": "polite" });
  owner.effect(() => {
    const { state: how, training, checkpoints, error } = life.value;
    const step = Math.max(training.at(-1)?.step ?? 0, checkpoints.at(-1) ?? 0);
    state.dataset["state"] = how;
    state.textContent = how ? say(`explorer.time.state.${how}`, { step: whole(step) }) : say("explorer.time.kept", { count: checkpoints.length });
    state.hidden = Boolean(error) || (!how && !checkpoints.length);
    wrong.textContent = error;
    wrong.hidden = !error;
  });
  owner.effect(() => {
    const run = app.run.value;
    answer.lang = app.model.value?.target_language ?? "";
    const parts = run && now.settled.value ? answerOf(run.about) : [h("span", { class: "quiet" }, app.error.value ? "–" : "…")];
    answer.replaceChildren(h("span", { class: "arrow", "aria-hidden": "true" }, "→"), ...parts);
    answer.dataset["step"] = String((now.settled.value && now.step.value) ?? "");
  });
  return h("section", { class: "card time-present" }, state, wrong, makePlayer(owner, app, life, now), answer);
}

export default {
  id: "time",
  title: "explorer.views.time",
  /** @param {import("../engine.js").Model} model */
  fits: (model) => (model.checkpoints ?? []).filter((one) => /^\d+$/.test(String(one))).length > 1,
  make,
};
