// The answer of /api/compare, opened: both maps and their difference as tensors, and what is told about them.

import { ask } from "../engine.js";
import { chosenAttention } from "../interfere/paint.js";
import { openSafetensors } from "../safetensors.js";
import { signal } from "../signal.js";
import { bodyOf, rightOf } from "./right.js";

/**
 * @typedef {import("../app.js").App} App
 * @typedef {import("../safetensors.js").Tensor} Tensor
 * @typedef {{model: string, checkpoint: string, position: string, trained_position: string, task: string, text: string, unseen: string[], notes: string[], attentions: string[],
 *   heads: number, attention: string, head: number, rows: string[], columns: string[], encoder: string[], decoder: string[],
 *   answer: {kind: string, text: string}}} Side
 * @typedef {{how: string, pairs: [number, number][]}} Shared
 * @typedef {{name: string, said: string | null, p: number | null}} Row
 * @typedef {{how: string, kind: string, measure: string, moved: number | null, changed: number, total: number,
 *   rows: {a: Row | null, b: Row | null, moved: number | null}[]}} Answers
 * @typedef {{tap: string, why: string, relative: number | null, cosine: number | null, by_row: (number | null)[], rows?: [number, number][]}} Apart
 * @typedef {{identical: boolean, taps: number, first: {tap: string, shape: number[], before: number} | null}} Verdict
 * @typedef {{a: Side, b: Side, cells: {rows: Shared, columns: Shared, largest: [number, number] | null}, answers: Answers,
 *   stream: Apart[], verdict: Verdict | null}} Told
 * @typedef {{told: Told, maps: Map<string, Tensor>}} Compared
 */

/**
 * The comparison of the present run with what is chosen on the right; it is asked again whenever either changes.
 * @param {import("../signal.js").Owner} owner
 * @param {App} app
 */
export function makeCompared(owner, app) {
  const found = signal(/** @type {Compared | null} */ (null));
  const error = signal("");
  const busy = signal(false);
  const body = owner.computed(() => {
    const right = rightOf(app);
    const about = app.run.value?.about;
    return right && about ? JSON.stringify(bodyOf(app, right, chosenAttention(app, about))) : "";
  });
  owner.effect((inner) => {
    const asked = body.value;
    const lang = app.lang.value;
    if (!asked) return;
    const stop = new AbortController();
    inner.own(() => stop.abort());
    busy.value = true;
    ask("/api/compare", { method: "POST", body: JSON.parse(asked), signal: stop.signal, lang })
      .then((answer) => answer.arrayBuffer())
      .then((bytes) => {
        const { metadata, tensors } = openSafetensors(bytes);
        found.value = { told: JSON.parse(metadata["comparison"] ?? "{}"), maps: tensors };
        error.value = "";
        busy.value = false;
      })
      .catch((fault) => {
        if (stop.signal.aborted) return;
        found.value = null;
        error.value = fault.message;
        busy.value = false;
      });
  });
  return { found, error, busy };
}
