// The page: a bar with the model and its settings, the input, the figure, and the views beside it.

import { makeApp, open, STAYS } from "./app.js";
import { beside, viewTools } from "./aside.js";
import { h, put } from "./dom.js";
import { keepEdits } from "./edits.js";
import { makeFigure } from "./figure.js";
import { highlight } from "./highlight.js";
import { makeInput } from "./input.js";
import { forgetChosen } from "./lab/ask.js";
import { keepSense } from "./sense.js";
import { saved } from "./saved/answers.js";
import { makeNotice } from "./saved/notice.js";
import { makeSave } from "./saved/save.js";
import { batch, Owner, signal } from "./signal.js";
import { VIEWS } from "./views/index.js";
import { say, whole } from "./words.js";

/** @typedef {import("./app.js").App} App */

/**
 * The bar at the top.
 * @param {Owner} owner
 * @param {App} app
 */
function makeBar(owner, app) {
  const picker = /** @type {HTMLSelectElement} */ (h("select", { id: "model", "data-needs": "model", onchange: () => choose(app, picker.value) }));
  const language = h("button", { type: "button", class: "pill", id: "language", onclick: () => app.speak(app.lang.peek() === "ko" ? "en" : "ko") });
  const theme = h("button", { type: "button", class: "pill", id: "theme", onclick: () => (app.theme.value = app.dark.peek() ? "light" : "dark") });
  const facts = h("span", { class: "model-facts" });
  owner.effect(() => {
    picker.replaceChildren(...app.models.value.map((one) => h("option", { value: one.name }, one.name)));
    picker.value = app.field("model").value;
    picker.setAttribute("aria-label", say("explorer.model"));
    language.textContent = app.lang.value === "ko" ? "English" : "한국어";
    language.setAttribute("lang", app.lang.value === "ko" ? "en" : "ko");
    theme.textContent = app.dark.value ? "☀" : "☾";
    theme.setAttribute("aria-label", say(app.dark.value ? "explorer.to_light" : "explorer.to_dark"));
    const model = app.model.value;
    facts.textContent = model ? `${say(`explorer.task.${model.task}`)} · ${say("explorer.parameters", { count: whole(model.parameters) })}` : "";
  });
  return h("header", { class: "bar" }, h("span", { class: "brand" }, h("img", { src: iconOf(document), alt: "", width: 26, height: 26 }), "Glassformer"), h("label", { class: "model-label" }, picker), facts, h("span", { class: "space" }), makeSave(owner, app), language, theme);
}

/** The icon of the page, wherever it comes from. @param {Document} page */
const iconOf = (page) => page.querySelector("link[rel=icon]")?.getAttribute("href") ?? "";

/**
 * Another model: its own input, from the beginning.
 * @param {App} app
 * @param {string} name
 */
function choose(app, name) {
  batch(() => {
    for (const [key, field] of Object.entries(app.fields)) if (!STAYS.includes(key)) field.value = "";
    app.drawn.value = null;
    app.edits.value = [];
    forgetChosen(app);
    app.field("model").value = name;
  });
}

/**
 * The views as tabs; only the open one exists.
 * @param {Owner} owner
 * @param {App} app
 */
function makeViews(owner, app) {
  const tabs = h("div", { class: "tabs", role: "tablist" });
  const panel = h("div", { class: "view", role: "tabpanel", id: "view", tabindex: "-1" });
  const fitting = () => VIEWS.filter((view) => !view.fits || (app.model.value && view.fits(app.model.value)));
  const usable = (/** @type {import("./views/index.js").View} */ view) => !saved || view.saved === true;
  const opened = owner.computed(() => fitting().find((view) => view.id === app.view.value && usable(view)) ?? VIEWS[0]);
  owner.effect(() => {
    tabs.setAttribute("aria-label", say("explorer.views.all"));
    const focused = tabs.contains(document.activeElement);
    tabs.replaceChildren(
      ...fitting().map((view) => {
        const now = view === opened.value;
        return h("button", { type: "button", role: "tab", id: `tab-${view.id}`, "data-needs": usable(view) ? null : "model", "aria-selected": String(now), "aria-controls": "view", tabindex: now ? "0" : "-1", onclick: () => (app.view.value = view.id) }, say(view.title));
      }),
    );
    panel.setAttribute("aria-labelledby", `tab-${opened.value?.id}`);
    const chosen = /** @type {HTMLElement | null} */ (tabs.querySelector("[aria-selected=true]"));
    if (focused) chosen?.focus();
    queueMicrotask(() => (tabs.scrollLeft = chosen ? chosen.offsetLeft - tabs.offsetLeft - (tabs.clientWidth - chosen.offsetWidth) / 2 : 0));
  });
  owner.listen(tabs, "keydown", (/** @type {KeyboardEvent} */ event) => {
    const step = event.key === "ArrowRight" ? 1 : event.key === "ArrowLeft" ? -1 : 0;
    if (!step) return;
    const all = fitting().filter(usable);
    const next = all[(all.findIndex((view) => view === opened.peek()) + step + all.length) % all.length];
    if (next) app.view.value = next.id;
    event.preventDefault();
    event.stopPropagation();
  });
  const emptied = signal(0); // how often the numbers of a model had to go: none of them may stay under another name
  let full = false;
  owner.effect(() => {
    if (full && !app.run.value) emptied.value = emptied.peek() + 1;
    full = app.run.value !== null;
  });
  owner.effect((inner) => {
    void emptied.value;
    panel.replaceChildren(/** @type {import("./views/index.js").View} */ (opened.value).make(inner.child(), app));
  });
  return h("section", { class: "views" }, h("div", { class: "tabs-row" }, tabs, viewTools(owner, app, panel)), panel);
}

/**
 * Light or dark: as the system, until somebody chooses.
 * @param {Owner} owner
 * @param {App} app
 */
function keepTheme(owner, app) {
  const system = matchMedia("(prefers-color-scheme: dark)");
  const follow = () => (app.dark.value = app.theme.peek() ? app.theme.peek() === "dark" : system.matches);
  owner.listen(system, "change", follow);
  owner.effect(() => {
    if (app.theme.value) localStorage.setItem("theme", app.theme.value);
    follow();
    document.documentElement.dataset["theme"] = app.dark.value ? "dark" : "light";
  });
}

const owner = new Owner();
const app = makeApp(owner);
keepTheme(owner, app);
highlight(owner, app);
keepEdits(owner, app);
keepSense(owner, app);
try {
  await open(app);
  put(document.body, makeBar(owner, app), h("main", { class: "page" }, makeNotice(owner), makeInput(owner, app), h("div", { class: "two" }, makeFigure(owner, app), makeViews(owner, app))));
  beside(owner, app);
  document.documentElement.dataset["ready"] = "yes";
} catch (error) {
  put(document.body, h("p", { class: "error", role: "alert" }, /** @type {Error} */ (error).message));
}
