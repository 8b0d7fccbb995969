// What has been predicted: each question with what was chosen, for as long as the tab is open.

import { signal } from "../signal.js";

/**
 * @typedef {import("../app.js").App} App
 * @typedef {{question: string, row: number, picked: number, best: number, options: number, right: boolean}} Guess
 *   `question` names the run and the head; `picked` and `best` are places among the options, `options` their number
 */

const KEPT = "guesses";
const guesses = signal(/** @type {Guess[]} */ (JSON.parse(sessionStorage.getItem(KEPT) ?? "[]")));

/** @param {App} app */
export const guessing = (app) => app.field("guess").value === "1";

/**
 * A question about the present run: what of it is asked.
 * @param {App} app
 * @param {...(string | number)} about
 */
export function questionOf(app, ...about) {
  const run = app.run.value?.question;
  return [shortened(JSON.stringify([run?.model, run?.checkpoint, run?.input, run?.edits ?? []])), ...about].join("|");
}

/**
 * What was said to a question; null as long as it is open.
 * @param {string} question
 */
export const said = (question) => guesses.value.find((one) => one.question === question) ?? null;

/** @param {Guess} guess */
export function tell(guess) {
  keep([...guesses.peek(), guess]);
}

export const forget = () => keep([]);

/** How many were asked and right, and how many would be right by chance. */
export function tally() {
  const all = guesses.value;
  return { asked: all.length, right: all.filter((one) => one.right).length, chance: all.reduce((sum, one) => sum + 1 / one.options, 0) };
}

/** @param {Guess[]} all */
function keep(all) {
  sessionStorage.setItem(KEPT, JSON.stringify(all));
  guesses.value = all;
}

/**
 * A long text as a short number: pixels need not be kept twice.
 * @param {string} text
 */
function shortened(text) {
  let number = 5381;
  for (let i = 0; i < text.length; i += 1) number = (number * 33 + text.charCodeAt(i)) >>> 0;
  return number.toString(36);
}
