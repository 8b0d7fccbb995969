// The sentences of the page, fetched from the server: none of them stands in a script.

import { saved, savedAnswer } from "./saved/answers.js";
import { signal } from "./signal.js";

/** @typedef {Record<string, string>} Sentences */

/** @type {import("./signal.js").Signal<Sentences>} */
const sentences = signal({});
export const lang = signal(/** @type {"ko" | "en"} */ ("en"));

/** @type {Map<string, Promise<Sentences>>} */
const asked = new Map();

/**
 * Changes the language once its words have come.
 * @param {"ko" | "en"} wanted
 */
export async function speak(wanted) {
  let words = asked.get(wanted);
  if (!words) {
    const path = `/api/words/${wanted}`;
    words = (saved ? savedAnswer(path) : fetch(path)).then((answer) => answer?.json());
    asked.set(wanted, words);
  }
  const found = await words;
  lang.value = wanted;
  sentences.value = found;
  document.documentElement.lang = wanted;
}

/**
 * The sentence of a key, with its values filled in. Read inside an effect, it follows the language.
 * @param {string} key
 * @param {Record<string, string | number>} [values]
 */
export function say(key, values = {}) {
  const sentence = sentences.value[key] ?? key;
  return sentence.replace(/\{(\w+)\}/g, (whole, name) => String(values[name] ?? whole));
}

/**
 * Is there such a sentence?
 * @param {string} key
 */
export const knows = (key) => key in sentences.value;

/**
 * A number as printed: as many digits as it deserves, a real minus sign.
 * @param {number} value
 * @param {number} [digits]
 */
export function number(value, digits = 3) {
  if (!Number.isFinite(value)) return value > 0 ? "∞" : value < 0 ? "−∞" : "–";
  const size = Math.abs(value);
  const text = size !== 0 && (size < 0.5 * 10 ** -digits || size >= 1e5) ? value.toExponential(1) : value.toFixed(digits);
  return text.replaceAll("-", "−");
}

/**
 * A whole number with thousands apart.
 * @param {number} value
 */
export const whole = (value) => value.toLocaleString("en");

/**
 * A piece that is written from top to bottom: the mark of a space would look like a vowel beside Hangul.
 * @param {string} piece
 */
export const upright = (piece) => piece.replace(/^▁(?=.)/, "");
