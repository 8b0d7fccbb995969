// The slider over the checkpoints, with keys, and a button that plays them one after the other.

import { h } from "../dom.js";
import { signal } from "../signal.js";
import { say, whole } from "../words.js";

/**
 * @typedef {import("../app.js").App} App
 * @typedef {import("../signal.js").Owner} Owner
 * @typedef {import("./life.js").Life} Life
 * @typedef {import("./now.js").Now} Now
 */

const PACE = 1200; // milliseconds that each checkpoint is shown
const REST = 90; // milliseconds without a movement, after which the model is asked

/**
 * @param {Owner} owner
 * @param {App} app
 * @param {import("../signal.js").Signal<Life>} life
 * @param {Now} now
 * @returns {HTMLElement}
 */
export function makePlayer(owner, app, life, now) {
  const playing = signal(false);
  const steps = owner.computed(() => life.value.checkpoints);
  const wanted = signal(/** @type {number | null} */ (null)); // where the slider stands, before the model is asked
  owner.effect(() => {
    wanted.value = now.step.value;
  });
  const place = owner.computed(() => nearest(steps.value, wanted.value));

  let timer = 0;
  owner.own(() => clearTimeout(timer));
  /** @param {number} index @param {number} [rest] */
  const move = (index, rest = REST) => {
    const step = steps.peek()[Math.max(0, Math.min(steps.peek().length - 1, index))];
    if (step === undefined) return;
    wanted.value = step;
    clearTimeout(timer);
    timer = setTimeout(() => now.go(step), rest);
  };
  /** @param {number} index */
  const byHand = (index) => {
    playing.value = false;
    move(index);
  };

  const play = h("button", { type: "button", class: "round", id: "time-play", onclick: () => start() });
  const back = h("button", { type: "button", class: "round", "data-time": "back", onclick: () => byHand(place.peek() - 1) }, "←");
  const on = h("button", { type: "button", class: "round", "data-time": "on", onclick: () => byHand(place.peek() + 1) }, "→");
  const slider = /** @type {HTMLInputElement} */ (h("input", { type: "range", id: "time-slider", class: "player-slider", min: "0", step: "1", oninput: () => byHand(Number(slider.value)) }));
  const count = h("output", { class: "player-count", for: "time-slider", id: "time-count" });

  function start() {
    if (!playing.peek() && place.peek() >= steps.peek().length - 1) move(0, 0);
    playing.value = !playing.peek();
  }
  owner.effect((inner) => {
    if (!playing.value) return;
    if (app.error.value) playing.value = false;
    if (!now.settled.value || wanted.value !== now.step.value) return;
    if (place.value >= steps.value.length - 1) playing.value = false;
    else {
      const next = setTimeout(() => move(place.peek() + 1, 0), PACE);
      inner.own(() => clearTimeout(next));
    }
  });
  owner.effect(() => {
    const [all, at] = [steps.value, place.value];
    const step = all[at];
    slider.max = String(Math.max(0, all.length - 1));
    slider.value = String(at);
    slider.setAttribute("aria-label", say("explorer.time.slider"));
    const told = wanted.value === null || step === undefined ? say("explorer.time.mean") : say("explorer.time.step", { step: whole(step) });
    slider.setAttribute("aria-valuetext", told);
    count.textContent = wanted.value === null ? told : `${told} · ${at + 1} / ${all.length}`;
    back.setAttribute("aria-label", say("explorer.time.back"));
    on.setAttribute("aria-label", say("explorer.time.on"));
    back.toggleAttribute("disabled", at <= 0);
    on.toggleAttribute("disabled", at >= all.length - 1);
    play.textContent = playing.value ? "❚❚" : "▶";
    play.setAttribute("aria-label", say(playing.value ? "explorer.time.pause" : "explorer.time.play"));
    play.setAttribute("aria-pressed", String(playing.value));
  });
  owner.listen(window, "keydown", (/** @type {KeyboardEvent} */ event) => {
    const taken = event.target instanceof Element && event.target.closest("input, textarea, select, .map-body, .curve, [role=tablist], dialog");
    if (taken || event.altKey || event.ctrlKey || event.metaKey) return;
    const by = event.key === "ArrowRight" ? 1 : event.key === "ArrowLeft" ? -1 : 0;
    if (!by) return;
    byHand(place.peek() + by);
    event.preventDefault();
  });
  return h("div", { class: "player time-player" }, play, back, slider, on, count);
}

/**
 * The place of a step among others, or of the one next to it; the last for none.
 * @param {number[]} steps
 * @param {number | null} wanted
 */
export function nearest(steps, wanted) {
  if (wanted === null) return steps.length - 1;
  let best = 0;
  steps.forEach((step, i) => {
    if (Math.abs(step - wanted) < Math.abs(/** @type {number} */ (steps[best]) - wanted)) best = i;
  });
  return best;
}
