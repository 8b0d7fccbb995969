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

/** @param {string} text */
const read = (text) => new Map(text.split(";").filter(Boolean).map((part) => /** @type {[string, string]} */ (part.split(":", 2))));

/** @param {Map<string, string>} all */
const write = (all) => [...all].map((pair) => pair.join(":")).join(";");

/**
 * A setting of a view as text, kept in the address: #lab=temperature:0.7;top_k:5. Others may change without a word to it.
 * @param {Owner} owner
 * @param {App} app
 * @param {string} key
 * @returns {import("../signal.js").Signal<string>}
 */
export function written(owner, app, key) {
  const field = app.field("lab");
  const now = owner.computed(() => read(field.value).get(key) ?? "");
  return {
    get value() {
      return now.value;
    },
    set value(next) {
      const all = read(field.peek());
      if (next === "") all.delete(key);
      else all.set(key, next);
      field.value = write(all);
    },
    peek: () => read(field.peek()).get(key) ?? "",
  };
}

/**
 * A setting that is a number.
 * @param {Owner} owner
 * @param {App} app
 * @param {string} key
 * @param {number} usual
 * @returns {import("../signal.js").Signal<number>}
 */
export function setting(owner, app, key, usual) {
  const text = written(owner, app, key);
  const valueOf = (/** @type {string} */ one) => (one === "" ? usual : Number(one));
  return {
    get value() {
      return valueOf(text.value);
    },
    set value(next) {
      text.value = next === usual ? "" : String(next);
    },
    peek: () => valueOf(text.peek()),
  };
}

const OF_A_TEXT = ["prefix", "revived", "tree", "lens"];

/**
 * What was chosen for one text says nothing about the next.
 * @param {App} app
 */
export function forgetChosen(app) {
  const field = app.field("lab");
  field.value = write(new Map([...read(field.peek())].filter(([key]) => !OF_A_TEXT.includes(key))));
}
