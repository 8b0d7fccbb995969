// The step player: one token's way from the text to the choice, in the order of the pass. Arrow keys go on and back.

import { h, put } from "../dom.js";
import { board } from "../families/board.js";
import { nameOf, patched, wording } from "../families/names.js";
import { shapeText } from "../figure/box.js";
import { askedFirst } from "../guess/scene.js";
import { lessonPanel } from "../lesson.js";
import { readPlace } from "../place.js";
import { sideOf, tokensOf } from "../plan.js";
import { lessonOf, playlist, sceneAt } from "../steps/playlist.js";
import { SCENES } from "../steps/scenes.js";
import { say } from "../words.js";

/**
 * @typedef {import("../app.js").App} App
 * @typedef {import("../signal.js").Owner} Owner
 * @typedef {import("../steps/playlist.js").Scene} Scene
 */

/**
 * @param {Owner} owner
 * @param {App} app
 * @returns {HTMLElement}
 */
function make(owner, app) {
  const scenes = owner.computed(() => {
    const run = app.run.value;
    return run ? playlist(run.about, (name) => run.tensors.has(`${name}.mask`)) : [];
  });
  const now = owner.computed(() => sceneAt(scenes.value, app.at.value));
  const scene = owner.computed(() => scenes.value[now.value] ?? null);
  const go = (/** @type {number} */ index) => {
    const wanted = scenes.peek()[Math.max(0, Math.min(scenes.peek().length - 1, index))];
    if (wanted) app.go(withHead(wanted, app.head.peek()), app.zoom.peek() >= 4 && !wanted.stack ? { zoom: 1 } : {});
  };

  const controls = h("div", { class: "player" });
  const stage = h("div", { class: "stage", "aria-live": "polite" });
  const view = h("div", { class: "steps-view" }, controls, h("div", { class: "stage-and-lesson" }, stage, lessonPanel(owner, () => (scene.value && app.run.value ? lessonOf(scene.value, app.run.value.about) : "architecture"))));

  const slider = /** @type {HTMLInputElement} */ (h("input", { type: "range", min: "0", step: "1", class: "player-slider", oninput: () => go(Number(slider.value)) }));
  const back = h("button", { type: "button", class: "round", "data-step": "back", onclick: () => go(now.peek() - 1) }, "←");
  const on = h("button", { type: "button", class: "round", "data-step": "on", onclick: () => go(now.peek() + 1) }, "→");
  const count = h("span", { class: "player-count" });
  put(controls, back, slider, on, count);
  owner.effect(() => {
    const all = scenes.value.length;
    slider.max = String(Math.max(0, all - 1));
    slider.value = String(now.value);
    slider.setAttribute("aria-label", say("explorer.step"));
    slider.setAttribute("aria-valuetext", scene.value ? titleOf(app, scene.value) : "");
    back.setAttribute("aria-label", say("explorer.back"));
    on.setAttribute("aria-label", say("explorer.on"));
    back.toggleAttribute("disabled", now.value === 0);
    on.toggleAttribute("disabled", now.value >= all - 1);
    count.textContent = `${now.value + 1} / ${all}`;
  });
  owner.listen(window, "keydown", (/** @type {KeyboardEvent} */ event) => {
    const typing = event.target instanceof Element && event.target.closest("input, textarea, select, .map-body, [role=tablist], dialog");
    if (typing || event.altKey || event.ctrlKey || event.metaKey) return;
    if (event.key === "ArrowRight") go(now.peek() + 1);
    else if (event.key === "ArrowLeft") go(now.peek() - 1);
    else return;
    event.preventDefault();
  });
  owner.effect((inner) => {
    const [run, shown] = [app.run.value, scene.value];
    if (!run || !shown) return;
    stage.dataset["kind"] = shown.kind;
    stage.dataset["scene"] = shown.at;
    const focused = stage.contains(document.activeElement) ? document.activeElement?.getAttribute("data-token") : null;
    stage.replaceChildren();
    const given = { owner: inner, app, about: run.about, scene: shown };
    const parts = askedFirst(given, () => SCENES[shown.kind]?.(given) ?? []);
    put(stage, header(app, shown), tokenPicker(inner, app, shown), h("div", { class: "equation" }, parts.filter((part) => part !== null)));
    if (focused) /** @type {HTMLElement | null} */ (stage.querySelector(`[data-token="${focused}"]`))?.focus();
  });
  return view;
}

/**
 * @param {Scene} scene
 * @param {number} head
 */
function withHead(scene, head) {
  const place = readPlace(scene.at);
  const ofHead = ["qkv", "scores", "mask", "weights", "heads"].includes(scene.kind);
  return { ...place, head: ofHead ? head : null };
}

/** @param {App} app */
const aboutOf = (app) => /** @type {import("../engine.js").Run} */ (app.run.peek()).about;

/**
 * @param {App} app
 * @param {"scene" | "about"} what
 * @param {Scene} scene
 */
const worded = (app, what, scene) => wording(what, scene.kind, aboutOf(app), sideOf(aboutOf(app), scene.steps[0]?.name ?? `${scene.stack}.input`));

/**
 * @param {App} app
 * @param {Scene} scene
 */
function titleOf(app, scene) {
  const where = [scene.stack && say(`explorer.stack.${scene.stack}`), scene.layer !== null && say("explorer.layer", { number: scene.layer + 1 })].filter(Boolean).join(" · ");
  return `${worded(app, "scene", scene)}${where ? `, ${where}` : ""}`;
}

/**
 * @param {App} app
 * @param {Scene} scene
 */
function header(app, scene) {
  const where = [scene.stack && say(`explorer.stack.${scene.stack}`), scene.layer !== null && say("explorer.layer", { number: scene.layer + 1 }), scene.at.includes("cross_attention") && say("explorer.box.cross_attention")].filter(Boolean);
  const ofHead = ["qkv", "scores", "mask", "weights", "heads"].includes(scene.kind);
  return h(
    "header",
    { class: "stage-head" },
    where.length > 0 && h("p", { class: "eyebrow" }, where.join(" · ")),
    h("h2", {}, worded(app, "scene", scene)),
    h("p", { class: "says" }, worded(app, "about", scene)),
    scene.steps.length > 0 &&
      h(
        "div",
        { class: "formulas" },
        scene.steps.map((step) => h("span", { class: "formula-line" }, h("code", { class: "formula" }, scene.kind === "residual" && scene.at.endsWith(".sum") ? (/\(([^)]*)\)/.exec(step.formula)?.[1] ?? step.formula) : step.formula), h("span", { class: "shape" }, shapeText(step.shape)))),
      ),
    ofHead && heads(app),
  );
}

/** @param {App} app */
function heads(app) {
  const count = Number(app.run.peek()?.about.sizes["n_heads"] ?? 1);
  return h(
    "div",
    { class: "head-picker", role: "group", "aria-label": say("explorer.heads") },
    Array.from({ length: count }, (_, head) =>
      h("button", { type: "button", class: "pill", "aria-pressed": String(app.head.value === head), onclick: () => app.go({ ...app.place.peek(), head }) }, say("explorer.head", { number: head + 1 })),
    ),
  );
}

/**
 * The tokens, to choose which one is followed.
 * @param {Owner} owner
 * @param {App} app
 * @param {Scene} scene
 */
function tokenPicker(owner, app, scene) {
  const about = aboutOf(app);
  const side = sideOf(about, scene.steps[0]?.name ?? `${scene.stack}.input`);
  const tokens = tokensOf(about, side);
  const whole = !scene.stack && patched(about) && side === "source"; // the head of a classifier has read them all
  if (["text", "pieces", "pooled"].includes(scene.kind) || whole) return null;
  if (patched(about) && side === "source") return scene.kind === "weights" ? null : board(owner, app, { small: true });
  return h(
    "div",
    { class: "token-picker", role: "group", "aria-label": say("explorer.follow") },
    tokens.map(({ piece }, at) =>
      h("button", { type: "button", class: "token", "data-token": `${side}:${at}`, "aria-pressed": String(app.rows.value[side] === at), onclick: () => app.follow(side, at) }, patched(about) ? nameOf(about, side, at) : piece),
    ),
  );
}

export default { id: "steps", title: "explorer.views.steps", saved: true, make };
