// What the page knows: the signals that every view reads, and the few ways to change them.

import { keepAddress, readAddress } from "./address.js";
import { inputOf } from "./families/given.js";
import { models as askModels, run as ask } from "./engine.js";
import { makeMissing } from "./missing.js";
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
const FIELDS = [
  ...["model", "checkpoint", "text", "target", "example", "drawn", "masked", "prompt", "view", "at", "zoom", "cell", "row"],
  ...["lab", "edits", "for", "tool", "sizes", "part", "grad", "guess", "aside", "lang"],
  ...["with", "with_checkpoint", "with_text", "with_example", "with_target", "with_edits", "with_position", "with_at"],
];
const TURNS = ["model", "text", "example", "view", "zoom", "edits", "part"];
export const STAYS = ["view", "lab", "tool", "guess", "aside", "lang"]; // whichever model is looked at
const LIGHT_ENOUGH = 6e6; // bytes: a smaller trace is asked for as a whole
const MAPS_AT_ONCE = 3e7; // bytes: of more maps the first layer comes first
const ALWAYS = ["*embedding*", "*.input", "*coder.output", "head.p*"];
const [MAPS, FIRST_MAPS] = [["*.weights", "head.*"], ["*.blocks.0.*.weights"]];

/**
 * @param {Record<string, string>} now
 * @param {Record<string, string>} last
 */
function isTurn(now, last) {
  const changed = (/** @type {string} */ key) => (now[key] ?? "") !== (last[key] ?? "");
  return TURNS.some(changed) || (now["zoom"] === "5" && (changed("at") || changed("cell"))); // an operand is followed further back
}

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
    model: owner.computed(() => models.value.find((one) => one.name === field("model").value && !one.error) ?? null),
    checkpoint: field("checkpoint"),
    edits: signal(/** @type {Edit[]} */ ([])),
    drawn: signal(/** @type {any} */ (null)), // what is too long for the address: bytes of a drawing, values
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
      if (!found) missed(name);
      return found ?? null;
    },

    /** The input as the server takes it. */
    input() {
      const model = app.model.peek();
      if (saved && !run.peek()) return saved.question.input;
      return model ? inputOf(app, model) : {};
    },

    submit,
    refresh,
    quietly: (/** @type {() => void} */ change) => quietly(change),
    speak: async (/** @type {"ko" | "en"} */ wanted) => {
      await speak(wanted);
      field("lang").value = wanted;
    },
  };

  /** @type {AbortController | null} */
  let running = null;
  let asked = ""; // the latest question, as text
  const missed = makeMissing(run, (line) => (app.error.value = line));

  const question = () => ({
    model: app.field("model").peek(),
    ...(app.checkpoint.peek() ? { checkpoint: app.checkpoint.peek() } : {}),
    input: app.input(),
    edits: app.edits.peek(),
  });

  /** Runs the model again if something about the question has changed. */
  function refresh() {
    if (JSON.stringify(question()) !== asked) submit();
  }

  /** Runs the model on the present input. */
  async function submit() {
    const model = app.model.peek();
    if (!model) return;
    running?.abort();
    const mine = new AbortController();
    running = mine;
    app.busy.value = true;
    const now = question();
    asked = JSON.stringify(now);
    const weight = weightOf(model, now.input);
    const wanted = weight.all < LIGHT_ENOUGH ? {} : { wanted: [...ALWAYS, ...(weight.maps < MAPS_AT_ONCE ? MAPS : FIRST_MAPS)] };
    try {
      const found = await ask({ ...now, ...wanted }, { signal: mine.signal, lang: lang.peek() });
      batch(() => {
        app.error.value = "";
        app.busy.value = false;
        run.value = { ...found, question: now };
        app.flows.value += 1;
      });
    } catch (error) {
      if (mine.signal.aborted) return;
      if (!run.peek() && app.edits.peek().length && !(error instanceof TypeError)) {
        app.edits.value = []; // an address with edits that this model cannot have
        submit();
        return;
      }
      asked = "";
      batch(() => {
        if (run.peek()?.question.model !== now.model) run.value = null; // no numbers of another model under this name
        app.busy.value = false;
        app.error.value = error instanceof TypeError ? say("explorer.unreachable") : /** @type {Error} */ (error).message;
      });
    }
  }

  const quietly = keepAddress(owner, fields, isTurn);
  owner.effect(() => {
    const broken = models.value.find((one) => one.name === field("model").value)?.error;
    if (!broken) return;
    running?.abort();
    batch(() => {
      [run.value, app.busy.value, app.error.value] = [null, false, broken];
    });
  });
  return app;
}

/**
 * Opens the page: words and models first, then the model of the address, or the first one.
 * @param {App} app
 */
export async function open(app) {
  const asked = app.field("lang").peek() || (navigator.language.startsWith("ko") ? "ko" : "en");
  const [found] = await Promise.all([askModels(), app.speak(asked === "ko" ? "ko" : "en")]);
  app.quietly(() => {
    app.models.value = found;
    const wanted = found.find((one) => one.name === app.field("model").peek());
    if (!wanted) app.field("model").value = found[0]?.name ?? "";
    if (!wanted?.checkpoints?.map(String).includes(app.checkpoint.peek())) app.checkpoint.value = "";
  });
}

/**
 * About how many bytes the whole trace of an input has, and all maps of weights in it.
 * @param {Model} model
 * @param {any} input
 */
function weightOf({ sizes }, input) {
  const { d_model: d = 64, d_ff = 256, n_heads: heads = 4, encoder_layers = 0, decoder_layers = 0, max_len = 64 } = sizes;
  const t = typeof input.text === "string" ? input.text.length + 2 : max_len || 64;
  const layers = encoder_layers + 2 * decoder_layers;
  return { all: layers * (4 * heads * t * t + 4 * t * (8 * d + d_ff)), maps: layers * 2 * heads * t * t };
}

/**
 * @param {string} text
 * @returns {[number, number] | null}
 */
function readCell(text) {
  const found = /^(\d+),(\d+)$/.exec(text);
  return found ? [Number(found[1]), Number(found[2])] : null;
}
