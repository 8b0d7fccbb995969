// The life of a run: the points of its log and its checkpoints. While it goes on, only what is new is asked for; a page
// that nobody sees, and a view that is closed, ask nothing.

import { ask } from "../engine.js";
import { signal } from "../signal.js";
import { say } from "../words.js";

/**
 * @typedef {import("../app.js").App} App
 * @typedef {{step: number, loss: number}} Point
 * @typedef {{training: Point[], validation: Point[], checkpoints: number[], best: number | null, state: string, error: string}} Life
 */

const EVERY = 2000; // milliseconds between two questions
/** @type {Life} */
const NOTHING = { training: [], validation: [], checkpoints: [], best: null, state: "", error: "" };

/**
 * @param {import("../signal.js").Owner} owner
 * @param {App} app
 */
export function makeLife(owner, app) {
  const life = signal(NOTHING);
  owner.effect((inner) => {
    const name = app.model.value?.name;
    life.value = NOTHING;
    if (!name) return;
    const stop = new AbortController();
    let [next, timer, asking] = [0, 0, false];
    const poll = async () => {
      if (asking) return;
      asking = true;
      try {
        for (let more = true; more; ) {
          const answer = await ask(`/api/runs/${encodeURIComponent(name)}/events?after=${next}`, { signal: stop.signal, lang: app.lang.peek() });
          const found = await answer.json();
          life.value = grown(found.first < next ? NOTHING : life.peek(), found);
          next = found.next;
          more = found.events.length > 0;
        }
        if (life.peek().state === "running" && !document.hidden) timer = setTimeout(poll, EVERY);
      } catch (error) {
        if (!stop.signal.aborted) life.value = { ...life.peek(), state: "", error: error instanceof TypeError ? say("explorer.unreachable") : /** @type {Error} */ (error).message };
      }
      asking = false;
    };
    inner.own(() => {
      stop.abort();
      clearTimeout(timer);
    });
    inner.listen(document, "visibilitychange", () => {
      clearTimeout(timer);
      if (!document.hidden) poll();
    });
    poll();
  });
  return life;
}

/**
 * @param {Life} before
 * @param {{events: any[], checkpoints: number[], best: number | null, state: string}} found
 * @returns {Life}
 */
function grown(before, { events, checkpoints, best, state }) {
  const points = (/** @type {string} */ kind) => events.filter((one) => one.kind === kind && Number.isFinite(one.loss)).map(({ step, loss }) => ({ step, loss }));
  const [training, validation] = [points("train"), points("evaluation")];
  return {
    training: training.length ? [...before.training, ...training] : before.training,
    validation: validation.length ? [...before.validation, ...validation] : before.validation,
    checkpoints: String(checkpoints) === String(before.checkpoints) ? before.checkpoints : checkpoints,
    best,
    state,
    error: "",
  };
}
