// The importance of every head, asked from the server one attention after the other, so that the map fills as it comes.

import { ask } from "../engine.js";
import { batch, signal } from "../signal.js";
import { plainKey } from "./before.js";

/**
 * @typedef {import("../app.js").App} App
 * @typedef {{name: string, moved: number[], by_row: number[][]}} Moved  `moved`: by head; `by_row`: by head and row of the answer
 */

const AT_ONCE = 4e6; // parameters: a smaller model is measured without being asked

/**
 * @param {import("../signal.js").Owner} owner
 * @param {App} app
 */
export function makeImportance(owner, app) {
  const found = signal(/** @type {Map<string, Moved>} */ (new Map()));
  const measure = signal("");
  const busy = signal(false);
  let known = "";
  /** @type {AbortController | null} */
  let asking = null;
  owner.own(() => asking?.abort());

  /** @param {import("../engine.js").Run} run */
  async function start({ question, about }) {
    asking?.abort();
    const mine = new AbortController();
    asking = mine;
    busy.value = true;
    const body = { model: question.model, ...(question.checkpoint ? { checkpoint: question.checkpoint } : {}), input: question.input };
    try {
      for (const attention of attentionsOf(about)) {
        const answer = await (await ask("/api/sweep", { method: "POST", body: { ...body, attention }, signal: mine.signal, lang: app.lang.peek() })).json();
        batch(() => {
          measure.value = answer.measure;
          found.value = new Map([...found.peek(), ...answer.attentions.map((/** @type {Moved} */ one) => [one.name, one])]);
        });
      }
    } catch (error) {
      if (!mine.signal.aborted) app.error.value = /** @type {Error} */ (error).message;
    }
    if (asking === mine) busy.value = false;
  }

  owner.effect(() => {
    const run = app.run.value;
    if (!run || plainKey(run) === known) return;
    known = plainKey(run);
    found.value = new Map();
    if ((app.model.peek()?.parameters ?? 0) < AT_ONCE) start(run);
    else asking?.abort();
  });
  return {
    found,
    measure,
    busy,
    start() {
      const run = app.run.peek();
      if (run) start(run);
    },
  };
}

/**
 * The attentions of a run by their paths, in the order of the pass.
 * @param {import("../engine.js").About} about
 * @returns {string[]}
 */
export function attentionsOf(about) {
  const names = about.steps.filter(({ name }) => name.endsWith(".weights")).map(({ name }) => name.slice(0, -".weights".length));
  return [...new Set(names)];
}
