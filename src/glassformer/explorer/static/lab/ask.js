// What the views of the laboratory share: questions to the server about the present run, and answers that follow it.

import { Refused, ask } from "../engine.js";
import { signal } from "../signal.js";

/**
 * @typedef {import("../app.js").App} App
 * @typedef {import("../signal.js").Owner} Owner
 * @typedef {{data: any, error: string, of: import("../engine.js").Question | null}} Answer  `of`: the question of the run that it belongs to
 */

/**
 * The model, checkpoint and input of the present run; null before the first.
 * @param {App} app
 */
export function question(app) {
  const asked = app.run.value?.question;
  return asked ? { model: asked.model, ...(asked.checkpoint ? { checkpoint: asked.checkpoint } : {}), input: asked.input } : null;
}

/**
 * The answer to a question about the present run; it is asked again whenever the run or `more` changes.
 * @param {Owner} owner
 * @param {App} app
 * @param {string} path
 * @param {() => any} [more]  further fields; null: do not ask now
 * @returns {import("../signal.js").Signal<Answer>}
 */
export function answered(owner, app, path, more = () => ({})) {
  const answer = signal(/** @type {Answer} */ ({ data: null, error: "", of: null }));
  owner.effect((inner) => {
    const [asked, added] = [question(app), more()];
    if (!asked || !added) return;
    const of = app.run.peek()?.question ?? null;
    const stop = new AbortController();
    inner.own(() => stop.abort());
    ask(path, { method: "POST", body: { ...asked, ...added }, signal: stop.signal, lang: app.lang.value })
      .then((found) => found.json())
      .then((data) => (answer.value = { data, error: "", of }))
      .catch((error) => {
        if (!stop.signal.aborted) answer.value = { ...answer.peek(), error: error.message };
      });
  });
  return answer;
}

/**
 * Asks for records that come one by one, a line of JSON each; what goes wrong on the way is the last of them.
 * @param {string} path
 * @param {any} body
 * @param {{signal: AbortSignal, lang: string}} options
 * @param {(record: any) => void} each
 */
export async function stream(path, body, options, each) {
  const answer = await ask(path, { ...options, method: "POST", body });
  const reader = /** @type {ReadableStream<Uint8Array>} */ (answer.body).getReader();
  const decoder = new TextDecoder();
  let rest = "";
  for (;;) {
    const { done, value } = await reader.read();
    rest += decoder.decode(value, { stream: !done });
    const lines = rest.split("\n");
    rest = lines.pop() ?? "";
    for (const record of lines.filter(Boolean).map((line) => JSON.parse(line))) {
      if (record.error) throw new Refused(record.error, record.kind);
      each(record);
    }
    if (done) return;
  }
}

/**
 * A setting of a view, kept in the address: #lab=temperature:0.7;top_k:5.
 * @param {App} app
 * @param {string} key
 * @param {number} usual
 * @returns {import("../signal.js").Signal<number>}
 */
export function setting(app, key, usual) {
  const read = (/** @type {string} */ text) => new Map(text.split(";").filter(Boolean).map((part) => /** @type {[string, string]} */ (part.split(":", 2))));
  const field = app.field("lab");
  const valueOf = (/** @type {string} */ text) => (read(text).has(key) ? Number(read(text).get(key)) : usual);
  return {
    get value() {
      return valueOf(field.value);
    },
    set value(next) {
      const all = read(field.peek());
      if (next === usual) all.delete(key);
      else all.set(key, String(next));
      field.value = [...all].map((pair) => pair.join(":")).join(";");
    },
    peek: () => valueOf(field.peek()),
  };
}
