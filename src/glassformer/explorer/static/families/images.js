// The input of images: examples as small pictures, the pad, a file of one's own; for objects their boxes and prompts on it.

import { h } from "../dom.js";
import { signal } from "../signal.js";
import { say } from "../words.js";
import { draw, drawnBytes, isLost, pickExample, rasterOf, soon } from "./given.js";
import { boxAt, boxesOver, objectList } from "./objects.js";
import { makePad } from "./pad.js";
import { promptTools, promptMark } from "./prompt.js";
import { bytesOf, still } from "./raster.js";
import { readFile, Unreadable } from "./upload.js";

/**
 * @typedef {import("../app.js").App} App
 * @typedef {import("../signal.js").Owner} Owner
 */

/**
 * @param {Owner} owner
 * @param {App} app
 * @param {import("../engine.js").Model} model
 * @returns {(Node | null)[]}
 */
export function imagePanel(owner, app, model) {
  const raster = rasterOf(model);
  const prompted = model.task === "prompted_objects";
  const objects = prompted || model.task === "object_queries";
  const tool = signal(/** @type {import("./pad.js").Tool} */ (prompted ? "point" : "paint"));
  const trouble = signal("");
  let drawn = /** @type {Uint8Array} */ (new Uint8Array());
  const run = soon(owner, () => draw(app, drawn));
  const pad = makePad(owner, {
    raster,
    tool,
    label: () => say("explorer.families.pad", { size: raster.side }),
    onDraw: (bytes) => {
      drawn = bytes;
      trouble.value = "";
      run();
    },
    onPoint: (x, y) => {
      app.field("prompt").value = `${x},${y}`;
      app.submit();
    },
    ...(objects ? { onHover: (/** @type {number} */ x, /** @type {number} */ y) => boxAt(app, x, y) } : {}),
  });
  owner.effect(() => {
    const example = Number(app.field("example").value) || 0;
    pad.set(drawnBytes(app, model) ?? bytesOf(model.examples[example], raster));
  });
  if (objects) {
    const boxes = h("div", {});
    pad.element.append(boxes);
    owner.effect(() => boxes.replaceChildren(boxesOver(app)));
  }
  if (prompted) promptMark(owner, app, pad.element, raster);

  const upload = async (/** @type {File | undefined} */ file) => {
    if (!file) return;
    try {
      draw(app, await readFile(file, raster));
      trouble.value = "";
    } catch (error) {
      if (!(error instanceof Unreadable)) throw error;
      trouble.value = error.message;
    }
  };
  const left = h("div", { class: "pad-side" }, pad.element, tools(owner, pad, { tool, prompted, upload }));
  owner.listen(left, "dragover", (event) => event.preventDefault());
  owner.listen(left, "drop", (/** @type {DragEvent} */ event) => {
    event.preventDefault();
    upload(event.dataTransfer?.files[0]);
  });
  return [left, beside(owner, app, model, { raster, trouble, prompted, objects })];
}

/**
 * What stands beside the pad: examples, prompts, notes, and of objects the list.
 * @param {Owner} owner
 * @param {App} app
 * @param {import("../engine.js").Model} model
 * @param {{raster: import("./given.js").Raster, trouble: import("../signal.js").Signal<string>, prompted: boolean, objects: boolean}} given
 */
function beside(owner, app, model, { raster, trouble, prompted, objects }) {
  const examples = model.examples.map((example, at) =>
    h("button", { type: "button", class: "thumbnail", onclick: () => pickExample(app, at) }, still({ ...raster, data: bytesOf(example, raster), most: 255 })),
  );
  const thumbs = h("div", { class: "thumbnails", "data-needs": "model", role: "group" }, examples);
  owner.effect(() => {
    const chosen = app.field("drawn").value ? -1 : Number(app.field("example").value) || 0;
    thumbs.setAttribute("aria-label", say("explorer.examples"));
    examples.forEach((one, at) => {
      one.setAttribute("aria-label", say("explorer.example", { number: at + 1 }));
      one.setAttribute("aria-pressed", String(at === chosen));
    });
  });
  const note = h("p", { class: "quiet", "data-no-terms": true }); // its keys are those of the keyboard
  const error = h("p", { class: "error", role: "alert", id: "input-error" });
  owner.effect(() => {
    const lost = isLost(app, model);
    const key = trouble.value || (lost ? "explorer.families.lost" : "");
    error.hidden = !key;
    error.textContent = key && say(key);
    const local = app.field("drawn").value === "here" && !lost;
    note.textContent = say(local ? "explorer.families.not_in_address" : prompted ? "explorer.families.point_how" : "explorer.families.draw_how");
  });
  const right = h("div", { class: "pad-beside" }, thumbs, prompted ? promptTools(owner, app) : null, note, error);
  if (objects) {
    const list = h("div", {});
    owner.effect((inner) => list.replaceChildren(objectList(inner, app)));
    right.append(list);
  }
  return right;
}

/**
 * @param {Owner} owner
 * @param {ReturnType<typeof makePad>} pad
 * @param {{tool: import("../signal.js").Signal<import("./pad.js").Tool>, prompted: boolean, upload: (file: File | undefined) => void}} given
 */
function tools(owner, pad, { tool, prompted, upload }) {
  const file = /** @type {HTMLInputElement} */ (h("input", { type: "file", accept: "image/*", class: "unseen", tabindex: "-1", id: "upload", "aria-hidden": "true" }));
  file.addEventListener("change", () => {
    upload(file.files?.[0]);
    file.value = ""; // the same file may be chosen again
  });
  const kinds = /** @type {import("./pad.js").Tool[]} */ (prompted ? ["point", "paint", "erase"] : ["paint", "erase"]);
  const pills = kinds.map((one) => h("button", { type: "button", class: "pill", "data-tool": one, onclick: () => (tool.value = one) }));
  const acts = /** @type {[string, () => void][]} */ ([
    ["clear", () => pad.change(() => 0)],
    ["invert", () => pad.change((byte) => 255 - byte)],
    ["file", () => file.click()],
  ]).map(([id, act]) => h("button", { type: "button", class: "pill", id, onclick: act }));
  const row = h("div", { class: "tools", "data-needs": "model", role: "group" }, pills, acts, file);
  owner.effect(() => {
    row.setAttribute("aria-label", say("explorer.families.tools"));
    pills.forEach((pill, i) => {
      pill.textContent = say(`explorer.families.tool.${kinds[i]}`);
      pill.setAttribute("aria-pressed", String(tool.value === kinds[i]));
    });
    acts.forEach((act) => (act.textContent = say(`explorer.families.${act.id}`)));
  });
  return row;
}
