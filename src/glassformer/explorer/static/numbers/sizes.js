// The sizes that can be moved: kept in the address (#sizes=d_model:256;layers:6), counted by the server, one question at
// a time. What does not fit together is said in the library's own words, and the last count stays.

import { ask } from "../engine.js";
import { h } from "../dom.js";
import { signal } from "../signal.js";
import { say, whole } from "../words.js";

/**
 * @typedef {import("../app.js").App} App
 * @typedef {import("../signal.js").Owner} Owner
 * @typedef {{count: any, refused: string, body: any}} Counted
 */

const AROUND = ["batch", "length", "device"]; // of the pass, not of the model
/** @param {number} most */
const doubled = (most) => Array.from({ length: Math.log2(most) + 1 }, (_, i) => 2 ** i);
const WIDTHS = [16, 32, 48, 64, 96, 128, 160, 192, 256, 320, 384, 512, 640, 768, 1024, 1280, 1536, 2048, 2560, 3072, 4096, 5120, 6144, 8192];
const HEADS = [1, 2, 3, 4, 5, 6, 8, 10, 12, 16, 20, 24, 32, 40, 48, 64];
/** @type {Record<string, number[]>} */
export const STEPS = {
  layers: [1, 2, 3, 4, 5, 6, 8, 10, 12, 16, 20, 24, 32, 40, 48, 64, 80, 96],
  d_model: WIDTHS,
  n_heads: HEADS,
  n_kv_heads: HEADS,
  d_ff: [...WIDTHS, 10240, 12288, 16384, 20480, 24576, 28672],
  vocab_size: [100, 200, 500, 1000, 2000, 5000, 8000, 10000, 16000, 20000, 32000, 50000, 64000, 100000, 128000, 200000, 256000],
  target_vocab_size: [100, 200, 500, 1000, 2000, 5000, 8000, 10000, 16000, 20000, 32000, 50000, 64000, 100000, 128000, 200000, 256000],
  max_len: doubled(1 << 17).slice(4),
  batch: doubled(4096),
  length: doubled(1 << 15),
};

const MOST = 2 ** 20; // that the server takes
const MOST_LAYERS = 256;

/**
 * The sizes of an address; what is none is left out.
 * @param {string} text
 */
function read(text) {
  const pairs = text.split(";").map((part) => /** @type {[string, string]} */ (part.split(":", 2)));
  return new Map(pairs.filter(([key, value = ""]) => (key === "device" ? /^[\w-]+$/.test(value) : key in STEPS && /^[1-9]\d{0,6}$/.test(value))));
}

/**
 * @param {App} app
 * @param {string} key
 * @param {string} value  "": as it is
 */
export function setSize(app, key, value) {
  const all = read(app.field("sizes").peek());
  if (value) all.set(key, value);
  else all.delete(key);
  app.field("sizes").value = [...all].map((pair) => pair.join(":")).join(";");
}

/**
 * The question of the present sizes; `plain`: of the model as it is, on the same device.
 * @param {App} app
 * @param {boolean} [plain]
 */
export function question(app, plain = false) {
  const model = app.model.value;
  if (!model) return null;
  const all = read(app.field("sizes").value);
  const device = all.get("device");
  const number = (/** @type {string} */ key) => (all.has(key) && !plain ? { [key]: Number(all.get(key)) } : {});
  const set = Object.fromEntries([...all].filter(([key]) => !AROUND.includes(key)).map(([key, value]) => [key, Number(value)]));
  return { model: model.name, ...(app.checkpoint.value ? { checkpoint: app.checkpoint.value } : {}), set: plain ? {} : set, ...number("batch"), ...number("length"), ...(device ? { device } : {}) };
}

/**
 * The count of a question; while one is being answered, only the newest waits.
 * @param {Owner} owner
 * @param {App} app
 * @param {() => any} body
 * @returns {import("../signal.js").Signal<Counted>}
 */
export function counted(owner, app, body) {
  const answer = signal(/** @type {Counted} */ ({ count: null, refused: "", body: null }));
  const stop = new AbortController();
  owner.own(() => stop.abort());
  /** @type {any} */
  let next = null;
  let busy = false;
  const pump = async () => {
    if (busy || !next) return;
    busy = true;
    const asked = next;
    next = null;
    const kept = answer.peek().body?.model === asked.model ? answer.peek().count : null;
    try {
      const found = await (await ask("/api/count", { method: "POST", body: asked, signal: stop.signal, lang: app.lang.peek() })).json();
      answer.value = found.refused ? { count: kept, refused: found.refused, body: asked } : { count: found, refused: "", body: asked };
    } catch (error) {
      if (stop.signal.aborted) return;
      answer.value = { count: kept, refused: /** @type {Error} */ (error).message, body: asked };
    }
    busy = false;
    pump();
  };
  const written = owner.computed(() => JSON.stringify(body())); // the same question is not asked twice
  owner.effect(() => {
    void app.lang.value;
    next = JSON.parse(written.value);
    pump();
  });
  return answer;
}

/**
 * One size: a slider over the usual values, and a box for any other.
 * @param {Owner} owner
 * @param {App} app
 * @param {string} key
 * @param {() => number} usual  as the model has it
 * @param {() => number} shown  as it follows from the sizes that are set
 */
export function sizeControl(owner, app, key, usual, shown) {
  const id = `size-${key}`;
  const range = /** @type {HTMLInputElement} */ (h("input", { type: "range", id, "data-size": key, min: 0, step: 1 }));
  const box = /** @type {HTMLInputElement} */ (h("input", { type: "number", class: "size-box", "data-size-box": key, min: 1, inputmode: "numeric" }));
  const now = () => Number(read(app.field("sizes").value).get(key) ?? shown());
  const values = () => [...new Set([.../** @type {number[]} */ (STEPS[key]), usual(), now()])].sort((a, b) => a - b);
  const put = (/** @type {number} */ value) => setSize(app, key, value === usual() && key !== "n_kv_heads" ? "" : String(value)); // heads of keys follow n_heads until they are set
  owner.listen(range, "input", () => put(/** @type {number} */ (values()[Number(range.value)])));
  owner.listen(box, "change", () => {
    const value = Math.min(Math.round(Number(box.value)), key === "layers" ? MOST_LAYERS : MOST);
    if (value >= 1) put(value);
    box.value = String(now());
  });
  const label = h("label", { class: "slider-name", for: id });
  let written = "";
  owner.effect(() => {
    const all = values();
    range.max = String(all.length - 1);
    range.value = String(all.indexOf(now()));
    if (written !== String(now())) box.value = written = String(now()); // what is being typed stays
    const changed = now() !== usual();
    const name = say(`explorer.ledger.size.${key}`);
    label.replaceChildren(h("code", {}, key), h("span", { class: "quiet" }, name));
    range.setAttribute("aria-valuetext", whole(now()));
    box.setAttribute("aria-label", `${key}: ${name}`);
    for (const one of [range, box]) one.classList.toggle("changed", changed);
  });
  return h("div", { class: "slider size" }, label, box, range);
}
