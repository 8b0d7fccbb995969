// What an address may ask for. A view, a place, a token or a number that this model does not have gives way quietly to
// the nearest that it has, and the address then says so: whoever copies it copies what is shown.

import { clip, readPlace, WHOLE, writePlace } from "./place.js";
import { boxAt, planOf, tensorName, tokensOf } from "./plan.js";
import { hasHeads, matrix } from "./safetensors.js";
import { playlist } from "./steps/playlist.js";
import { VIEWS } from "./views/index.js";

/**
 * @typedef {import("./app.js").App} App
 * @typedef {import("./engine.js").Run} Run
 * @typedef {import("./place.js").Place} Place
 */

/**
 * @param {import("./signal.js").Owner} owner
 * @param {App} app
 */
export function keepSense(owner, app) {
  owner.effect(() => {
    const all = app.models.value;
    const [model, wanted] = [app.field("model").value, app.field("lang").value];
    if (!all.length) return;
    if (!all.some((one) => one.name === model)) app.quietly(() => (app.field("model").value = all[0]?.name ?? ""));
    if (wanted !== app.lang.peek()) app.speak(wanted === "ko" ? "ko" : "en");
  });
  owner.effect(() => {
    const [model, view, example] = [app.model.value, app.view.value, app.field("example").value];
    if (!model) return;
    app.quietly(() => {
      if (!VIEWS.some(({ id, fits }) => id === view && (!fits || fits(model)))) app.view.value = "";
      if (example && !(Number(example) < (model.examples?.length ?? 0))) app.field("example").value = "";
    });
  });
  owner.effect(() => {
    const run = app.run.value;
    const [at = "", zoom = "", cell = "", row = ""] = ["at", "zoom", "cell", "row"].map((key) => app.field(key).value);
    if (!run || run.question.model !== app.field("model").value) return;
    const asked = /^[1-5]$/.test(zoom) ? Number(zoom) : 1;
    const place = nearest(run, readPlace(at), asked);
    const kept = asked === 5 && isCell(run, place, cell);
    const level = kept ? 5 : levelOf(run, place, asked);
    app.quietly(() => {
      app.field("at").value = writePlace(place);
      app.field("zoom").value = level === 1 ? "" : String(level);
      app.field("cell").value = kept ? cell : "";
      app.field("row").value = rowsOf(run, row);
    });
  });
}

/**
 * The place itself if the model has it, else what lies around it.
 * @param {Run} run
 * @param {Place} place
 * @param {number} zoom
 * @returns {Place}
 */
function nearest({ about, tensors }, place, zoom) {
  const head = place.head !== null && place.head < Number(about.sizes["n_heads"] ?? 1) ? place.head : null;
  const within = (/** @type {string} */ text, /** @type {string} */ begin) => text === begin || text.startsWith(`${begin}.`) || text.startsWith(`${begin}#`);
  const known = (/** @type {Place} */ one) => {
    const [name, written] = [tensorName(one), writePlace({ ...one, head: null })];
    return (
      about.steps.some((step) => within(step.name, name)) ||
      [...tensors.keys()].some((text) => within(text, name)) ||
      playlist(about, (text) => tensors.has(`${text}.mask`)).some((scene) => within(scene.at, written))
    );
  };
  const outwards = [{ ...place, head }, { ...place, tap: "", head }, clip(place, 3), clip(place, 2)];
  const found = outwards.find((one) => (one.box || one.stack) && known(one));
  return found ?? { ...WHOLE, stack: zoom >= 2 ? (planOf(about).stacks[0]?.name ?? "") : "" };
}

/**
 * How near one can look at a place, at most as near as asked.
 * @param {Run} run
 * @param {Place} place
 * @param {number} asked
 */
function levelOf({ about }, place, asked) {
  if (asked >= 4 && place.box && boxAt(planOf(about), place)) return 4;
  if (asked >= 3 && place.layer !== null) return 3;
  return asked >= 2 && place.stack ? 2 : 1;
}

/**
 * Is there a number in this cell? A tensor that has not been fetched yet is given the benefit of the doubt.
 * @param {Run} run
 * @param {Place} place
 * @param {string} cell
 */
function isCell({ about, tensors }, place, cell) {
  const found = /^(\d+),(\d+)$/.exec(cell);
  const name = tensorName(place);
  const step = about.steps.some((one) => one.name === name) || tensors.has(name);
  if (!found || !step) return false;
  const tensor = tensors.get(name);
  if (!tensor) return true;
  const { rows, columns } = matrix(tensor, ...(hasHeads(name) ? [0] : []));
  return Number(found[1]) < rows && Number(found[2]) < columns;
}

/**
 * The followed rows of both sides, without those that are no tokens.
 * @param {Run} run
 * @param {string} row
 */
function rowsOf({ about }, row) {
  const [source = 0, target = 0] = row.split(",").map((text, i) => {
    const count = tokensOf(about, i ? "target" : "source").length;
    const at = /^\d+$/.test(text) ? Number(text) : 0;
    return at < count ? at : 0;
  });
  return source || target ? `${source},${target}` : "";
}

