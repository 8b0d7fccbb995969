// Large numbers as people say them: 2.03M, 203만, 4.7 GFLOPs, 14.9 GiB, 3.2 h. The exact number stands beside them.

import { lang, say, whole } from "../words.js";

const DIGITS = 3;

/**
 * In thousands and millions, or 만 and 억.
 * @param {number} value
 */
export const compact = (value) => new Intl.NumberFormat(lang.value, { notation: "compact", maximumSignificantDigits: DIGITS }).format(value);

/**
 * Exact, with the unit beside it where that is shorter.
 * @param {number} value
 */
export const counted = (value) => (value < 1000 ? whole(value) : `${whole(value)} · ${compact(value)}`);

/**
 * @param {number} value
 * @param {number} base
 * @param {string[]} units
 */
function inUnits(value, base, units) {
  const power = value > 0 ? Math.max(0, Math.min(units.length - 1, Math.floor(Math.log(value) / Math.log(base) + 1e-9))) : 0;
  return `${new Intl.NumberFormat("en", { maximumSignificantDigits: DIGITS }).format(value / base ** power)} ${units[power]}`;
}

/** @param {number} value */
export const flops = (value) => inUnits(value, 1000, ["FLOPs", "kFLOPs", "MFLOPs", "GFLOPs", "TFLOPs", "PFLOPs", "EFLOPs"]);

/** @param {number} value */
export const bytes = (value) => inUnits(value, 1024, ["B", "KiB", "MiB", "GiB", "TiB", "PiB"]);

/**
 * In the largest unit that gives a number of at least 1.
 * @param {number} seconds
 */
export function duration(seconds) {
  const units = /** @type {[string, number][]} */ ([["days", 86400], ["hours", 3600], ["minutes", 60], ["seconds", 1], ["milliseconds", 0.001]]);
  const [name, size] = units.find(([, one]) => seconds >= one) ?? ["milliseconds", 0.001];
  return say(`plan.${name}`, { n: (seconds / size).toFixed(1) });
}

/**
 * With its sign; nothing for 0.
 * @param {number} change
 * @param {(value: number) => string} show
 */
export const signed = (change, show) => (change === 0 ? "" : `${change > 0 ? "+" : "−"}${show(Math.abs(change))}`);

/** @param {number} share */
export const percent = (share) => `${(share * 100).toFixed(1)} %`;
