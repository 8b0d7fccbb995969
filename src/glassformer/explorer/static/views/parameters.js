// Parameters: the ledger as a map that can be zoomed, and what other sizes would hold and cost. All of it by formula, from
// the configuration: the server counts, the page only draws.

import { h } from "../dom.js";
import { fits, totals } from "../numbers/costs.js";
import { above, nameOf, partAt, treeOf } from "../numbers/ledger.js";
import { counted as ask, question, setSize, sizeControl, STEPS } from "../numbers/sizes.js";
import { counts, rowsOf } from "../numbers/table.js";
import { treemap } from "../numbers/treemap.js";
import { counted, percent } from "../numbers/amounts.js";
import { signal } from "../signal.js";
import { say } from "../words.js";

/**
 * @typedef {import("../app.js").App} App
 * @typedef {import("../signal.js").Owner} Owner
 * @typedef {import("../numbers/ledger.js").Part} Part
 */

const [LOWEST, HIGHEST, SINGLE] = [260, 430, 110]; // of the map; of one part alone

/**
 * @param {Owner} owner
 * @param {App} app
 * @returns {HTMLElement}
 */
function make(owner, app) {
  const plain = ask(owner, app, () => question(app, true));
  const changed = ask(owner, app, () => question(app));
  const was = owner.computed(() => (plain.value.body?.model === app.model.value?.name ? plain.value.count : null));
  const now = owner.computed(() => (changed.value.body?.model === app.model.value?.name && changed.value.count) || was.value);
  const refused = h("p", { class: "error", role: "alert", id: "refused", hidden: true });
  owner.effect(() => {
    const { refused: line } = changed.value;
    refused.hidden = !line;
    refused.replaceChildren(h("span", { class: "refused-line" }, line), h("small", {}, say("explorer.ledger.stays")));
  });
  const [facts, room] = [h("div", { class: "sums" }), h("div")];
  owner.effect(() => {
    const waits = JSON.stringify(question(app)) !== JSON.stringify(changed.value.body);
    for (const one of [facts, room]) one.setAttribute("aria-busy", String(waits));
  });
  owner.effect(() => {
    if (!now.value || !was.value) return;
    facts.replaceChildren(totals(now.value, was.value));
    room.replaceChildren(fits(now.value.plan));
  });
  return h("div", { class: "parameters-view stage" }, h("section", { class: "card" }, controls(owner, app, was, now), refused, facts, room), ledger(owner, app, now, was));
}

/**
 * The sliders, the device and the way back.
 * @param {Owner} owner
 * @param {App} app
 * @param {import("../signal.js").Signal<any>} was
 * @param {import("../signal.js").Signal<any>} now
 */
function controls(owner, app, was, now) {
  const [title, says, sliders] = [h("h3", {}), h("p", { class: "says" }), h("div", { class: "sliders sizes" })];
  const reset = h("button", { type: "button", class: "pill", id: "as-it-is", onclick: () => (app.field("sizes").value = "") });
  const keys = owner.computed(() => Object.keys(STEPS).filter((key) => (key === "batch" ? was.value : key === "length" ? was.value && app.model.value?.input === "tokens" : was.value?.sizes[key])).join(" "));
  const devices = owner.computed(() => (was.value?.devices ?? []).join(" "));
  owner.effect((inner) => {
    const of = (/** @type {any} */ count, /** @type {string} */ key) => count?.sizes[key] ?? count?.pass[key] ?? 1;
    sliders.replaceChildren(...keys.value.split(" ").filter(Boolean).map((key) => sizeControl(inner, app, key, () => of(was.value, key), () => of(now.value, key))), ...(devices.value ? [devicePicker(inner, app, devices.value.split(" "))] : []));
  });
  owner.effect(() => {
    title.textContent = say("explorer.ledger.change");
    says.textContent = say("explorer.ledger.change_says");
    reset.textContent = say("explorer.ledger.as_it_is");
    reset.toggleAttribute("disabled", !app.field("sizes").value);
  });
  return h("div", {}, h("header", { class: "card-head" }, title, reset), says, sliders);
}

/**
 * @param {Owner} owner
 * @param {App} app
 * @param {string[]} devices
 */
function devicePicker(owner, app, devices) {
  const list = /** @type {HTMLSelectElement} */ (h("select", { id: "device", onchange: () => setSize(app, "device", list.value) }, devices.map((name) => h("option", { value: name }, name))));
  const label = h("span", { class: "slider-name" });
  owner.effect(() => {
    list.value = /(?:^|;)device:([\w-]+)/.exec(app.field("sizes").value)?.[1] ?? "t4";
    label.textContent = say("explorer.ledger.device");
  });
  return h("label", { class: "slider device", for: "device" }, label, list);
}

/**
 * The map with its path, and the rows below it.
 * @param {Owner} owner
 * @param {App} app
 * @param {import("../signal.js").Signal<any>} now
 * @param {import("../signal.js").Signal<any>} was
 */
function ledger(owner, app, now, was) {
  const title = h("h3", {});
  const crumbs = h("nav", { class: "crumbs map-crumbs" });
  const readout = h("output", { class: "map-readout" });
  const sheet = h("div", { class: "treemap-sheet" });
  const table = h("div", { class: "ledger-rows" });
  const width = signal(0);
  const watch = new ResizeObserver(() => (width.value = Math.floor(sheet.clientWidth)));
  watch.observe(sheet);
  owner.own(() => watch.disconnect());
  const open = (/** @type {Part} */ part) => (app.field("part").value = part.path);
  let left = ""; // the part that was looked at before: the focus goes back to it
  owner.effect(() => {
    if (!now.value) return;
    const root = treeOf(now.value);
    const part = partAt(root, app.field("part").value);
    title.textContent = say("explorer.ledger.ledger");
    const trail = [root, ...(part.path ? [...above(part.path), part.path] : []).map((path) => partAt(root, path))].filter((one, i, all) => all.indexOf(one) === i);
    const [onMap, beside] = [sheet, crumbs.parentElement].map((one) => one?.contains(document.activeElement));
    crumbs.setAttribute("aria-label", say("explorer.path"));
    crumbs.replaceChildren(...trail.flatMap((one, i) => [i ? h("span", { class: "then", "aria-hidden": "true" }, "›") : null, h("button", { type: "button", class: "crumb", "aria-current": one === part ? "true" : null, "data-crumb": one.path || "whole", onclick: () => open(one) }, nameOf(one))]).filter((one) => one !== null));
    const base = app.field("sizes").value && was.value ? counts(treeOf(was.value)) : null;
    table.replaceChildren(rowsOf(part, base, open));
    const show = (/** @type {Part | null} */ one) => (readout.textContent = told(one ?? part));
    show(null);
    if (!width.value) return;
    const height = part.children.length ? Math.round(Math.max(LOWEST, Math.min(HIGHEST, width.value * 0.72))) : SINGLE;
    sheet.replaceChildren(treemap({ part, width: width.value, height, from: left, open, out: () => open(trail.at(-2) ?? root), show }));
    const next = onMap ? sheet.querySelector("[tabindex='0']") : beside ? crumbs.querySelector("[aria-current]") : null;
    /** @type {HTMLElement | null} */ (next)?.focus();
    left = part.path;
  });
  return h("section", { class: "card ledger-card" }, h("header", {}, title), crumbs, sheet, readout, table);
}

/**
 * A part in one line.
 * @param {Part} part
 */
const told = (part) => [nameOf(part), part.row?.formula, counted(part.parameters), percent(part.share)].filter(Boolean).join(" · ");

export default { id: "parameters", title: "explorer.views.parameters", make };
