// The input as the server takes it, read off the address: a text with masked pieces, a drawing, a series, a prompt.
// A drawing is packed into the address as bytes; one that is too large stays in the page, and the address says so.

/**
 * @typedef {import("../app.js").App} App
 * @typedef {import("../engine.js").Model} Model
 * @typedef {{side: number, channels: number, rows: number}} Raster
 */

export const HERE = "here"; // the address of what is only in the page
const LARGEST = 4096; // bytes of a drawing in the address
const LONGEST = 6000; // characters of a series in the address

/**
 * @param {Model} model
 * @returns {Raster}
 */
export function rasterOf(model) {
  const { size = 1, channels = 3, patch = 1, stride } = model.config["input"] ?? {};
  return { side: Number(size), channels: Number(channels), rows: Number(size) / Number(stride ?? patch) };
}

/** @param {Model} model */
export const contextOf = (model) => Number(model.config["input"]?.context ?? 1); // values that it reads

/**
 * @param {App} app
 * @param {Model} model
 * @returns {any}
 */
export function inputOf(app, model) {
  const of = (/** @type {string} */ key) => app.field(key).peek();
  const example = { example: Number(of("example")) || 0 };
  if (model.input === "image") {
    const bytes = drawnBytes(app, model);
    const prompt = readPrompt(of("prompt"));
    return { ...(bytes ? { pixels: rowsOf(bytes, rasterOf(model)) } : example), ...(prompt && model.task === "prompted_objects" ? { prompt } : {}) };
  }
  if (model.input === "series") {
    const values = drawnValues(app, model);
    return values ? { values } : example;
  }
  const [text, target, masked] = [of("text"), of("target"), readMasked(of("masked"))];
  if (masked.length && model.task === "masked_language_model") return { text, masked };
  return target && model.task === "translation" ? { text, target } : { text };
}

/**
 * The bytes of what was drawn, channel by channel, row by row; null: nothing was, or the address does not fit this model.
 * @param {App} app
 * @param {Model} model
 * @returns {Uint8Array | null}
 */
export function drawnBytes(app, model) {
  const written = app.field("drawn").value;
  if (written === HERE) return app.drawn.value?.bytes ?? null;
  const { side, channels } = rasterOf(model);
  const bytes = unpack(written);
  return bytes?.length === side * side * channels ? bytes : null;
}

/**
 * The series of the address; null: there is none, or it is too short for this model.
 * @param {App} app
 * @param {Model} model
 * @returns {number[] | null}
 */
export function drawnValues(app, model) {
  const written = app.field("drawn").value;
  if (written === HERE) return app.drawn.value?.values ?? null;
  const values = written.split(",").map(Number);
  return written && values.every(Number.isFinite) && values.length >= contextOf(model) ? values : null;
}

/**
 * Is there a drawing in the address that cannot be had again?
 * @param {App} app
 * @param {Model} model
 */
export function isLost(app, model) {
  if (!app.field("drawn").value) return false;
  return model.input === "image" ? !drawnBytes(app, model) : model.input === "series" && !drawnValues(app, model);
}

/**
 * @param {App} app
 * @param {Uint8Array} bytes
 */
export function draw(app, bytes) {
  keep(app, bytes.length <= LARGEST ? pack(bytes) : HERE, { bytes });
}

/**
 * @param {App} app
 * @param {number[]} values
 */
export function writeSeries(app, values) {
  const written = values.join(",");
  keep(app, written.length <= LONGEST ? written : HERE, { values });
}

/**
 * @param {App} app
 * @param {string} written
 * @param {{bytes: Uint8Array} | {values: number[]}} drawn
 */
function keep(app, written, drawn) {
  app.drawn.value = written === HERE ? drawn : null;
  app.field("drawn").value = written;
  app.field("example").value = "";
  app.submit();
}

/**
 * @param {App} app
 * @param {number} at
 */
export function pickExample(app, at) {
  app.drawn.value = null;
  app.field("drawn").value = "";
  app.field("example").value = at ? String(at) : "";
  app.submit();
}

/**
 * Rows of numbers from 0 to 1; one such list for each channel if there are several.
 * @param {Uint8Array} bytes
 * @param {Raster} raster
 */
export function rowsOf(bytes, { side, channels }) {
  const planes = Array.from({ length: channels }, (_, channel) =>
    Array.from({ length: side }, (__, row) => {
      const from = (channel * side + row) * side;
      return Array.from(bytes.subarray(from, from + side), (byte) => Number((byte / 255).toFixed(4)));
    }),
  );
  return channels === 1 ? planes[0] : planes;
}

/** @param {Uint8Array} bytes */
export function pack(bytes) {
  const letters = btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(""));
  return letters.replace(/\+/g, "-").replace(/\//g, "_").replace(/=+$/, "");
}

/**
 * @param {string} written
 * @returns {Uint8Array | null}
 */
export function unpack(written) {
  if (!written || /[^\w-]/.test(written)) return null;
  try {
    return Uint8Array.from(atob(written.replace(/-/g, "+").replace(/_/g, "/")), (letter) => letter.charCodeAt(0));
  } catch {
    return null; // not whole
  }
}

/**
 * "12,30" is a point, anything else a word.
 * @param {string} written
 */
export function readPrompt(written) {
  const point = /^(\d+),(\d+)$/.exec(written);
  if (point) return { point: [Number(point[1]), Number(point[2])] };
  return written ? { word: written } : null;
}

/** @param {string} written */
export const readMasked = (written) => written.split(",").filter((part) => /^\d+$/.test(part)).map(Number);

/**
 * Calls `then` once nothing has happened for a moment; the last call counts.
 * @param {import("../signal.js").Owner} owner
 * @param {() => void} then
 * @param {number} [moment]  milliseconds
 */
export function soon(owner, then, moment = 120) {
  let waiting = 0;
  owner.own(() => clearTimeout(waiting));
  return () => {
    clearTimeout(waiting);
    waiting = setTimeout(then, moment);
  };
}
