// The run without interference: what every change is measured against.

import { run as ask } from "../engine.js";
import { signal } from "../signal.js";

/**
 * @typedef {import("../engine.js").Run} Run
 * @typedef {import("../app.js").App} App
 */

const WANTED = ["head.*", "*.weights"];

/**
 * The present question without its edits, as a key.
 * @param {Run} run
 */
export const plainKey = ({ question: { model, checkpoint, input } }) => JSON.stringify([model, checkpoint ?? "", input]);

/**
 * The same question, asked without edits; null until it has come.
 * @param {import("../signal.js").Owner} owner
 * @param {App} app
 */
export function makeBefore(owner, app) {
  const before = signal(/** @type {Run | null} */ (null));
  let known = "";
  owner.effect(() => {
    const run = app.run.value;
    if (!run) return;
    const key = plainKey(run);
    if (!run.question.edits?.length) {
      known = key;
      before.value = run;
    } else if (key !== known) {
      known = key;
      before.value = null;
      ask({ ...run.question, edits: [], wanted: WANTED }, { lang: app.lang.peek() }).then(
        (found) => {
          if (known === key && !owner.disposed) before.value = found;
        },
        (error) => (app.error.value = error.message),
      );
    }
  });
  return before;
}
