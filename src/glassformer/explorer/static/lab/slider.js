// A slider with its name and its value beside it.

import { h } from "../dom.js";
import { say } from "../words.js";

/**
 * @param {import("../signal.js").Owner} owner
 * @param {{name: string, key: string, values?: number[] | null, low?: number, high?: number, step?: number, setting: import("../signal.js").Signal<number>,
 *   show?: (value: number) => string}} given  `values`: only these, in order, instead of low, high and step
 * @returns {HTMLElement}
 */
export function slider(owner, { name, key, values = null, low = 0, high = 1, step = 1, setting, show = String }) {
  const id = `set-${name}`;
  const range = /** @type {HTMLInputElement} */ (
    h("input", { type: "range", id, "data-setting": name, "data-needs": "model", min: values ? 0 : low, max: values ? values.length - 1 : high, step: values ? 1 : step })
  );
  const label = h("span", { class: "slider-name" });
  const shown = h("output", { class: "slider-value", for: id });
  owner.listen(range, "input", () => {
    const at = Number(range.value);
    setting.value = values ? /** @type {number} */ (values[at]) : at;
  });
  owner.effect(() => {
    const now = setting.value;
    range.value = String(values ? Math.max(0, values.indexOf(now)) : now);
    label.textContent = say(key);
    shown.textContent = show(now);
    range.setAttribute("aria-valuetext", show(now));
  });
  return h("label", { class: "slider", for: id }, label, range, shown);
}
