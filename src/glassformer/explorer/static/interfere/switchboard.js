// The switchboard: a row for each layer, a switch for each head, sub-layer, residual and the layer itself. The colour of a
// head is its importance: how far the answer moves when it alone is off.

import { h } from "../dom.js";
import { inForce, toggle } from "../edits.js";
import { colour, inkOn, PALETTES } from "../heat.js";
import { number, say } from "../words.js";
import { attentionsOf } from "./importance.js";

/**
 * @typedef {import("../signal.js").Owner} Owner
 * @typedef {import("../app.js").App} App
 * @typedef {import("../engine.js").Edit} Edit
 * @typedef {ReturnType<typeof import("./importance.js").makeImportance>} Importance
 */

/**
 * @param {Owner} owner
 * @param {App} app
 * @param {import("../engine.js").About} about
 * @param {Importance} importance
 * @returns {HTMLElement}
 */
export function switchboard(owner, app, about, importance) {
  const blocks = [...new Set(attentionsOf(about).map((name) => name.split(".").slice(0, 3).join(".")))];
  const stacks = [...new Set(blocks.map((block) => block.split(".")[0] ?? ""))];
  return h(
    "div",
    { class: "switchboard" },
    stacks.map((stack) => h("section", { class: "switch-stack" }, h("h4", {}, say(`explorer.stack.${stack}`)), places(owner, app, about, stack), blocks.filter((block) => block.startsWith(`${stack}.`)).map((block) => layer(owner, app, about, block, importance)))),
  );
}

/**
 * The positions of a stack: without them the model does not know the order of its tokens.
 * @param {Owner} owner
 * @param {App} app
 * @param {import("../engine.js").About} about
 * @param {string} stack
 */
function places(owner, app, about, stack) {
  const name = `${stack}.positions.encoding`;
  return about.steps.some((step) => step.name === name) || app.run.peek()?.tensors.has(name) ? switchOf(owner, app, { kind: "zero", name }, say("explorer.interfere.positions")) : null;
}

/**
 * @param {Owner} owner
 * @param {App} app
 * @param {import("../engine.js").About} about
 * @param {string} block
 * @param {Importance} importance
 */
function layer(owner, app, about, block, importance) {
  const [stack = "", , index = "0"] = block.split(".");
  const boxes = attentionsOf(about).filter((name) => name.startsWith(`${block}.`));
  const residuals = about.sizes["norm_order"] === "parallel" ? [] : [...boxes.map((name) => `after_${name.split(".")[3]}`), "output"];
  return h(
    "div",
    { class: "switch-layer", role: "group", "aria-label": `${say(`explorer.stack.${stack}`)}, ${say("explorer.layer", { number: Number(index) + 1 })}` },
    switchOf(owner, app, { kind: "skip", name: `${block}.output` }, say("explorer.layer", { number: Number(index) + 1 }), "whole"),
    h("div", { class: "switch-heads" }, boxes.map((name) => heads(owner, app, about, name, importance))),
    h(
      "div",
      { class: "switch-more" },
      switchOf(owner, app, { kind: "zero", name: `${block}.feed_forward.output` }, say("explorer.interfere.feed_forward")),
      residuals.map((tap) => switchOf(owner, app, { kind: "residual", name: `${block}.${tap}` }, say(`explorer.interfere.residual.${tap}`))),
    ),
  );
}

/**
 * @param {Owner} owner
 * @param {App} app
 * @param {import("../engine.js").About} about
 * @param {string} name
 * @param {Importance} importance
 */
function heads(owner, app, about, name, importance) {
  const count = Number(about.sizes["n_heads"] ?? 1);
  const box = name.split(".")[3] ?? "";
  const cells = Array.from({ length: count }, (_, head) => {
    const edit = { kind: "zero", name: `${name}.heads`, head };
    const cell = h("button", { type: "button", class: "switch-head", "data-needs": "model", "data-head-of": name, "data-head": head, "data-at": `${name.replace(".blocks", "")}.head${head}`, onclick: () => toggle(app, edit) });
    owner.effect(() => {
      const off = inForce(app, edit) !== null;
      const moved = importanceOf(app, importance, name, head);
      const palette = /** @type {import("../heat.js").Palette} */ (app.dark.value ? PALETTES["dark"] : PALETTES["light"]);
      const share = moved === null ? 0 : moved / mostOf(app, importance);
      cell.setAttribute("aria-pressed", String(off));
      cell.dataset["moved"] = moved === null ? "" : String(moved);
      const behind = colour(share, palette);
      cell.style.setProperty("background", `rgb(${behind.join(" ")})`);
      cell.style.setProperty("color", inkOn(behind));
      cell.textContent = off ? "✕" : moved === null ? String(head + 1) : brief(moved);
      const told = `${say("explorer.head", { number: head + 1 })}: ${off ? say("explorer.interfere.off") : moved === null ? "" : say("explorer.interfere.moves", { moved: number(moved, 4) })}`;
      cell.setAttribute("aria-label", told);
      cell.title = told;
    });
    return cell;
  });
  return h("div", { class: "switch-attention", role: "group", "aria-label": say(`explorer.interfere.${box}`) }, h("small", { class: "quiet" }, say(`explorer.interfere.${box}`)), h("div", { class: "switch-row" }, cells));
}

/**
 * A share in the room of a small cell; the whole number is in its title.
 * @param {number} share
 */
const brief = (share) => (share < 0.0005 ? "0" : share.toFixed(share < 0.1 ? 3 : 2).replace(/^0\./, "."));

/**
 * @param {App} app
 * @param {Importance} importance
 * @param {string} name
 * @param {number} head
 * @returns {number | null}
 */
function importanceOf(app, importance, name, head) {
  const found = importance.found.value.get(name);
  const row = app.field("for").value;
  return (row === "" ? found?.moved[head] : found?.by_row[head]?.[Number(row)]) ?? null;
}

/**
 * The most important head has full colour.
 * @param {App} app
 * @param {Importance} importance
 */
function mostOf(app, importance) {
  const row = app.field("for").value;
  const all = [...importance.found.value.values()].flatMap(({ moved, by_row }) => (row === "" ? moved : by_row.map((rows) => rows[Number(row)] ?? 0)));
  return Math.max(1e-9, ...all);
}

/**
 * A switch that is on until its edit is in force.
 * @param {Owner} owner
 * @param {App} app
 * @param {Edit} edit
 * @param {string} label
 * @param {string} [kind]
 */
export function switchOf(owner, app, edit, label, kind = "") {
  const button = h("button", { type: "button", role: "switch", class: `switch ${kind}`, "data-needs": "model", "data-edit": `${edit.kind} ${edit.name}`, onclick: () => toggle(app, edit) }, h("span", { class: "knob", "aria-hidden": "true" }), label);
  owner.effect(() => button.setAttribute("aria-checked", String(inForce(app, edit) === null)));
  return button;
}
