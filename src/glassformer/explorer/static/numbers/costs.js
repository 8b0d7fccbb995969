// What the sizes cost: parameters, FLOPs and memory, each beside the model as it is; and whether the device can hold it.

import { h } from "../dom.js";
import { say, whole } from "../words.js";
import { bytes, compact, duration, flops, signed } from "./amounts.js";

/**
 * @param {any} now
 * @param {any} was  the model as it is
 */
export function totals(now, was) {
  const facts = [
    fact("parameters", now.total.parameters, was.total.parameters, compact),
    fact("forward", now.flops_total.forward, was.flops_total.forward, flops),
    fact("backward", now.flops_total.backward, was.flops_total.backward, flops),
    fact("memory", now.plan.bytes, was.plan.bytes, bytes),
  ];
  return h("dl", { class: "facts costs" }, facts);
}

/**
 * @param {string} key
 * @param {number} value
 * @param {number} before
 * @param {(value: number) => string} show
 */
function fact(key, value, before, show) {
  const change = value - before;
  const ratio = before ? value / before : 1;
  return h(
    "div",
    { class: "fact", "data-fact": key, "data-value": value, "data-before": before },
    h("dt", {}, say(`explorer.ledger.fact.${key}`)),
    h("dd", { class: "amount" }, h("span", { class: "large" }, show(value)), h("small", { class: "exact" }, whole(value))),
    h("dd", { class: `change ${change > 0 ? "more" : change < 0 ? "less" : ""}` }, change ? `${signed(change, key === "parameters" ? whole : show)} · × ${ratio >= 100 ? whole(Math.round(ratio)) : ratio.toFixed(2)}` : say("explorer.ledger.same")),
  );
}

/**
 * Does it fit, and what takes the room.
 * @param {any} plan
 */
export function fits(plan) {
  const most = Math.max(plan.bytes, plan.available);
  const counted = plan.items.filter((/** @type {any} */ item) => item.counted);
  const verdict = say(plan.fits ? "explorer.ledger.fits" : "explorer.ledger.fits_not", { needed: bytes(plan.bytes), available: bytes(plan.available), device: plan.device });
  return h(
    "div",
    { class: `fits ${plan.fits ? "yes" : "no"}`, "data-fits": String(plan.fits), "data-bytes": plan.bytes },
    h("p", { class: "verdict", role: "status" }, h("span", { "aria-hidden": "true" }, plan.fits ? "✓" : "✕"), verdict),
    h("div", { class: "meter", "aria-hidden": "true" }, h("span", { class: "meter-used", style: { width: `${(100 * plan.bytes) / most}%` } }), plan.fits ? null : h("span", { class: "meter-end", style: { left: `${(100 * plan.available) / most}%` } })),
    h("div", { class: "stacked", "aria-hidden": "true" }, counted.map((/** @type {any} */ item) => h("span", { class: item.name, style: { flex: `${item.bytes} 1 0` } }))),
    h("ul", { class: "items" }, counted.map((/** @type {any} */ item) => h("li", { "data-item": item.name, "data-bytes": item.bytes }, h("span", { class: `swatch ${item.name}` }), h("span", {}, say(`plan.items.${item.name}`)), h("span", { class: "term-value" }, bytes(item.bytes))))),
    plan.remedies.length ? h("p", {}, say("explorer.ledger.remedies"), " ", plan.remedies.map((/** @type {string} */ one, /** @type {number} */ i) => [i ? " · " : "", h("code", {}, one)]).flat()) : null,
    h("p", { class: "quiet" }, say("explorer.ledger.time", { time: duration(plan.seconds), limit: say(`plan.limits.${plan.limit}`) })),
  );
}
