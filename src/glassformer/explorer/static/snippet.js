// The present question as Python: what is looked at, with the model, the input and the interference, to be copied.

import { h, put } from "./dom.js";
import { ask } from "./engine.js";
import { boxesOf, planOf, sideOf, tensorName } from "./plan.js";
import { writePlace } from "./place.js";
import { hasHeads } from "./safetensors.js";
import { chosen } from "./views/heads.js";
import { number, say } from "./words.js";

/** @typedef {import("./app.js").App} App */

/**
 * What is looked at, as the server's snippet wants it: a tensor and an index, or a row of the answer.
 * @param {App} app
 * @returns {{name?: string, index?: number[], row?: number}}
 */
export function lookedAt(app) {
  const about = app.run.value?.about;
  const place = app.place.value;
  if (!about) return {};
  const cell = app.zoom.value === 5 ? app.cell.value : null;
  const box = boxesOf(planOf(about)).find((one) => one.at === writePlace({ ...place, tap: "", head: null }) || one.at === writePlace({ ...place, head: null }));
  let name = cell || place.tap ? tensorName(place) : "";
  if (!about.steps.some((step) => step.name === name)) name = box?.kind === "attention" ? `${tensorName({ ...place, tap: "" })}.weights` : "";
  name ||= box && box.kind !== "head" && place.tap !== "choice" ? (box.steps.at(-1)?.name ?? "") : "";
  if (!name && app.view.value === "heads") [name = ""] = chosen(app).split(" ");
  if (!name || (name.startsWith("head.") && !cell)) {
    const followed = app.field("row").value || place.box === "head";
    return followed && about.output["top"] ? { row: app.rows.value[sideOf(about, "head.logits")] } : {};
  }
  const shape = about.steps.find((step) => step.name === name)?.shape ?? [];
  const heads = Number(about.sizes["n_heads"] ?? 1);
  const head = Math.floor(((place.head ?? app.head.value) * Number(shape.at(-3) ?? heads)) / heads);
  const [row, column] = cell ?? [];
  const index = hasHeads(name) ? [head, row, column] : shape.length > 1 ? [row, column] : [column];
  return { name, index: index.filter((one) => one !== undefined) };
}

/**
 * The button and its dialog, which the address opens too.
 * @param {import("./signal.js").Owner} owner
 * @param {App} app
 */
export function snippetButton(owner, app) {
  const field = app.field("aside");
  const button = h("button", { type: "button", class: "pill", id: "python", "data-needs": "model", "aria-haspopup": "dialog", onclick: () => (field.value = "python") });
  const title = h("h2", { id: "python-title" });
  const intro = h("p", { class: "quiet" });
  const code = h("code", {});
  const gives = h("p", { class: "quiet", id: "python-gives" });
  const copy = h("button", { type: "button", class: "pill", id: "python-copy", onclick: () => take() });
  const shut = h("button", { type: "button", class: "pill", id: "python-close", onclick: () => dialog.close() });
  const dialog = /** @type {HTMLDialogElement} */ (h("dialog", { class: "snippet", "aria-labelledby": "python-title", "data-no-terms": true }, h("header", {}, title, copy, shut), intro, h("pre", { tabindex: "0" }, code), gives));
  put(document.body, dialog);
  owner.own(() => dialog.remove());

  async function take() {
    await navigator.clipboard.writeText(code.textContent ?? "");
    copy.textContent = say("explorer.snippet.copied");
  }
  owner.listen(dialog, "close", () => (field.value = ""));
  owner.effect(() => {
    button.textContent = say("explorer.snippet.button");
    title.textContent = say("explorer.snippet.title");
    intro.textContent = say("explorer.snippet.intro");
    shut.textContent = say("explorer.snippet.close");
    const wanted = field.value === "python";
    if (wanted && !dialog.open) dialog.showModal();
    else if (!wanted && dialog.open) dialog.close();
  });
  owner.effect((inner) => {
    copy.textContent = say("explorer.snippet.copy");
    const asked = app.run.value?.question;
    if (field.value !== "python" || !asked) return;
    const stop = new AbortController();
    inner.own(() => stop.abort());
    const { model, checkpoint, input, edits } = asked;
    const body = { model, ...(checkpoint ? { checkpoint } : {}), input, edits: edits ?? [], ...lookedAt(app) };
    ask("/api/snippet", { method: "POST", body, signal: stop.signal, lang: app.lang.value })
      .then((answer) => answer.json())
      .then((found) => {
        code.textContent = found.code;
        gives.dataset["value"] = String(found.value);
        gives.textContent = found.value === null ? say("explorer.snippet.gives_many", { shape: found.shape.join(" × ") }) : say("explorer.snippet.gives", { value: number(found.value, 6) });
      })
      .catch((error) => {
        if (stop.signal.aborted) return;
        code.textContent = "";
        gives.textContent = error.message;
      });
  });
  return button;
}
