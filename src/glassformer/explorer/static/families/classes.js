// All classes of a classifier with their shares, in the model's own order, so that a bar stays where it is.

import { h } from "../dom.js";
import { percent } from "./names.js";

/**
 * @param {import("../engine.js").About} about
 * @returns {HTMLElement}
 */
export function classBars(about) {
  const classes = /** @type {{label: string, p: number}[]} */ (about.output["classes"] ?? []);
  const best = classes.reduce((one, other, i) => (other.p > Number(classes[one]?.p) ? i : one), 0);
  return h(
    "ol",
    { class: "terms class-bars" },
    classes.map((one, i) =>
      h(
        "li",
        { class: i === best ? "best" : null, "data-class": one.label, "data-p": one.p },
        h("div", {}, h("span", { class: "term-label", title: one.label }, one.label), h("span", { class: "term-bar plus", style: { "--part": one.p } }), h("span", { class: "term-value" }, percent(one.p))),
      ),
    ),
  );
}
