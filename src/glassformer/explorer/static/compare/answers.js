// Both answers: in one line each, and row by row with how far each has moved.

import { h } from "../dom.js";
import { number, say } from "../words.js";

/**
 * @typedef {import("./asked.js").Told} Told
 * @typedef {import("./asked.js").Side} Side
 * @typedef {import("./asked.js").Row} Row
 */

/**
 * @param {Told} told
 * @returns {(HTMLElement | false)[]}
 */
export function bothAnswers({ a, b, answers }) {
  const { changed, total, moved, measure, rows } = answers;
  const sides = h("div", { class: "before-after" }, one(a, "left"), one(b, "right"));
  if (!rows.length) return [sides, h("p", { class: "quiet" }, say(a.answer.kind === b.answer.kind ? "explorer.compare.no_answers" : "explorer.compare.other_answers"))];
  const same = changed ? say("compare.answers_differ", { changed, total }) : say("compare.answers_same", { total });
  return [
    sides,
    moved !== null && h("div", { class: "compare-moved" }, h("b", { id: "compare-moved", "data-moved": moved }, number(moved)), h("p", { class: "quiet" }, say("explorer.compare.moved"), h("br"), say(`explorer.interfere.measured.${measure}`))),
    ["tokens", "objects"].includes(answers.kind) && h("p", { class: "quiet", id: "compare-changed", "data-changed": changed }, same),
    table(told(rows), answers.kind),
  ];
}

/**
 * @param {Side} side
 * @param {string} which
 */
function one({ model, checkpoint, position, trained_position: trained, answer, unseen, notes }, which) {
  const kind = (/** @type {string} */ name) => say(`explorer.compare.kind.${name}`);
  return h(
    "section",
    {},
    h("p", { class: "eyebrow" }, `${say(`explorer.compare.${which}_short`)} · ${model} · ${checkpoint} · ${say("explorer.compare.position.other", { kind: kind(position) })}`),
    h("p", { class: "after-text", "data-answer": which }, answer.text || "∅"),
    unseen.length > 0 && h("p", { class: "compare-note" }, say("explorer.compare.unseen", { words: unseen.join(", ") })),
    position !== trained && h("p", { class: "compare-note", "data-position": position }, say("explorer.compare.position.note", { kind: kind(position), trained: kind(trained) })),
    notes.map((note) => h("p", { class: "compare-note" }, note)),
  );
}

/**
 * @param {import("./asked.js").Answers["rows"]} rows
 */
function told(rows) {
  return rows.map(({ a, b, moved }) => {
    const names = [...new Set([a?.name, b?.name].filter((name) => name !== undefined))];
    return { name: names.join(" / "), a, b, moved, changed: a !== null && b !== null && a.said !== b.said };
  });
}

/**
 * @param {ReturnType<typeof told>} rows
 * @param {string} kind
 */
function table(rows, kind) {
  const classes = kind === "classes";
  const heads = [say("explorer.interfere.row"), say("explorer.compare.left_short"), say("explorer.compare.right_short"), ...(classes ? [] : [say("explorer.interfere.moved_row")])];
  const body = rows.map(({ name, a, b, moved, changed }) => h("tr", { class: changed && kind !== "numbers" ? "changed" : "" }, h("th", { scope: "row" }, name), said(a), said(b), !classes && h("td", { class: "moved", "data-moved": moved ?? "" }, moved === null ? "" : number(moved))));
  return h("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": say("explorer.compare.answers") }, h("table", { class: "outcome-table compare-answers" }, h("thead", {}, h("tr", {}, heads.map((head) => h("th", { scope: "col" }, head)))), h("tbody", {}, body)));
}

/** @param {Row | null} row */
function said(row) {
  if (!row) return h("td", { class: "quiet" }, "–");
  const text = row.said?.replace(/^-/, "−");
  return h("td", {}, text && h("span", { class: "said" }, text), row.p !== null && h("span", { class: "p", "data-p": row.p, style: { "--part": row.p } }, number(row.p)));
}
