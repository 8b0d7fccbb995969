// What the page knows: the signals that every view reads, and the few ways to change them.

import { keepAddress, readAddress } from "./address.js";
import { models as askModels, run as ask } from "./engine.js";
import { saved } from "./saved/answers.js";
import { clip, depthOf, readPlace, writePlace } from "./place.js";
import { batch, signal } from "./signal.js";
import { lang, say, speak } from "./words.js";

/**
 * @typedef {import("./engine.js").Model} Model
 * @typedef {import("./engine.js").Run} Run
 * @typedef {import("./engine.js").Edit} Edit
 * @typedef {import("./place.js").Place} Place
 * @typedef {import("./signal.js").Owner} Owner
 * @typedef {ReturnType<typeof makeApp>} App
 */

// what stands in the address, and whose change is a place to come back to
const FIELDS = ["model", "checkpoint", "text", "target", "example", "view", "at", "zoom", "cell", "row", "lab", "edits", "for", "tool", "lang"];
const TURNS = ["model", "text", "view", "zoom", "edits"];
const LIGHT_ENOUGH = 6e6; // bytes: a smaller trace is asked for as a whole
const ALWAYS = ["*.weights", "*embedding*", "*.input", "encoder.output", "decoder.output", "head.*"];

/** @param {Owner} owner */
export function makeApp(owner) {
  const from = readAddress();
  const fields = Object.fromEntries(FIELDS.map((key) => [key, signal(from[key] ?? "")]));
  const field = (/** @type {string} */ key) => /** @type {import("./signal.js").Signal<string>} */ (fields[key]);

  const models = signal(/** @type {Model[]} */ ([]));
  const run = signal(/** @type {Run | null} */ (null));
  const app = {
    owner,
    say,
    lang,
    fields,
    field,
    models,
    run,
    model: owner.computed(() => models.value.find((one) => one.name === field("model").value) ?? null),
    checkpoint: field("checkpoint"),
    edits: signal(/** @type {Edit[]} */ ([])),
    drawn: signal(/** @type {any} */ (null)), // an input that is too long for the address: pixels, values
    busy: signal(false),
    error: signal(""),
    hot: signal(""), // the place under the pointer or the focus
    hotToken: signal(""), // "source:3"
    flows: signal(0), // counts the runs, for whoever moves with the data
    dark: signal(false),
    theme: signal(localStorage.getItem("theme") ?? ""),
    at: owner.computed(() => field("at").value),
    place: owner.computed(() => readPlace(field("at").value)),
    zoom: owner.computed(() => Math.min(5, Math.max(1, Number(field("zoom").value) || 1))),
    cell: owner.computed(() => readCell(field("cell").value)),
    view: field("view"),
    head: signal(readPlace(from["at"] ?? "").head ?? 0), // stays chosen where there are no heads

    /**
     * Looks at a place; without a zoom, as near as now.
     * @param {Place | string} place
     * @param {{zoom?: number, cell?: [number, number] | null}} [how]
     */
    go(place, { zoom, cell = null } = {}) {
      const wanted = typeof place === "string" ? readPlace(place) : place;
      batch(() => {
        if (wanted.head !== null) app.head.value = wanted.head;
        field("at").value = writePlace(wanted);
        field("cell").value = cell ? cell.join(",") : "";
        const near = zoom ?? Math.min(app.zoom.peek(), 4);
        field("zoom").value = near <= 1 ? "" : String(Math.min(near, cell ? 5 : depthOf(wanted)));
        if (zoom !== undefined && zoom < 4) field("at").value = writePlace(clip(wanted, zoom));
      });
    },

    /** The row of each side that is followed. */
    rows: owner.computed(() => {
      const [source = "", target = ""] = field("row").value.split(",");
      return { source: Number(source) || 0, target: Number(target) || 0 };
    }),

    /**
     * @param {"source" | "target"} side
     * @param {number} row
     */
    follow(side, row) {
      const now = { ...app.rows.peek(), [side]: row };
      field("row").value = now.source || now.target ? `${now.source},${now.target}` : "";
    },

    /**
     * A tensor of the present run, or null while it is being fetched.
     * @param {string} name
     */
    tensor(name) {
      const now = run.value;
      if (!now) return null;
      const found = now.tensors.get(name);
      if (!found) fetchLayer(name);
      return found ?? null;
    },

    /** The input as the server takes it. */
    input() {
      const model = app.model.peek();
      if (app.drawn.peek()) return app.drawn.peek();
      if (model?.input === "tokens") {
        const [text, target] = [field("text").peek(), field("target").peek()];
        return target && model.task === "translation" ? { text, target } : { text };
      }
      return { example: Number(field("example").peek()) || 0 };
    },

    submit,
    speak: async (/** @type {"ko" | "en"} */ wanted) => {
      await speak(wanted);
      field("lang").value = wanted;
    },
  };

  /** @type {AbortController | null} */
  let running = null;
  /** @type {Set<string>} */
  let fetched = new Set();

  /** Runs the model on the present input. */
  async function submit() {
    const model = app.model.peek();
    if (!model) return;
    running?.abort();
    const mine = new AbortController();
    running = mine;
    app.busy.value = true;
    const question = {
      model: model.name,
      ...(app.checkpoint.peek() ? { checkpoint: app.checkpoint.peek() } : {}),
      input: saved && !run.peek() ? saved.question.input : app.input(),
      edits: app.edits.peek(),
    };
    const whole = weightOf(model, question.input) < LIGHT_ENOUGH;
    try {
      const found = await ask({ ...question, ...(whole ? {} : { wanted: ALWAYS }) }, { signal: mine.signal, lang: lang.peek() });
      fetched = new Set();
      batch(() => {
        app.error.value = "";
        app.busy.value = false;
        run.value = { ...found, question };
        app.flows.value += 1;
      });
    } catch (error) {
      if (mine.signal.aborted) return;
      batch(() => {
        app.busy.value = false;
        app.error.value = error instanceof TypeError ? say("explorer.unreachable") : /** @type {Error} */ (error).message;
      });
    }
  }

  /**
   * Fetches all tensors of the layer in which one is missing; once for each run.
   * @param {string} name
   */
  async function fetchLayer(name) {
    const now = run.peek();
    const layer = /\.blocks\.(\d+)\./.exec(name)?.[1];
    if (!now || layer === undefined || fetched.has(layer)) return;
    fetched.add(layer);
    try {
      const more = await ask({ ...now.question, layers: [Number(layer)] }, { lang: lang.peek() });
      const still = run.peek();
      if (still?.question === now.question) run.value = { ...still, tensors: new Map([...still.tensors, ...more.tensors]) };
    } catch (error) {
      app.error.value = /** @type {Error} */ (error).message;
    }
  }

  keepAddress(owner, fields, TURNS);
  return app;
}

/**
 * Opens the page: words and models first, then the model of the address, or the first one.
 * @param {App} app
 */
export async function open(app) {
  const asked = app.field("lang").peek() || (navigator.language.startsWith("ko") ? "ko" : "en");
  const [found] = await Promise.all([askModels(), app.speak(asked === "ko" ? "ko" : "en")]);
  batch(() => {
    app.models.value = found;
    const name = app.field("model").peek();
    if (!found.some((one) => one.name === name)) app.field("model").value = found[0]?.name ?? "";
  });
}

/**
 * About how many bytes the whole trace of an input has.
 * @param {Model} model
 * @param {any} input
 */
function weightOf({ sizes }, input) {
  const { d_model: d = 64, d_ff = 256, n_heads: heads = 4, encoder_layers = 0, decoder_layers = 0 } = sizes;
  const t = typeof input.text === "string" ? input.text.length + 2 : 64;
  return (encoder_layers + 2 * decoder_layers) * (4 * heads * t * t + 4 * t * (8 * d + d_ff));
}

/**
 * @param {string} text
 * @returns {[number, number] | null}
 */
function readCell(text) {
  const found = /^(\d+),(\d+)$/.exec(text);
  return found ? [Number(found[1]), Number(found[2])] : null;
}
