// Marks the first occurrence of each term in each panel, wherever sentences of the page stand; texts stay as they are.

import { h } from "../dom.js";
import { ask } from "../engine.js";
import { lang } from "../words.js";
import { finder } from "./find.js";

/**
 * @typedef {import("./find.js").Finder} Finder
 * @typedef {import("../signal.js").Owner} Owner
 */

const PANELS = ".lesson, .card, .stage-head, .figure, .view, .input, dialog";
const SENTENCES = "h2, h3, h4, p, dt, legend, li, figcaption";
const NEVER =
  "a, button, code, pre, svg, math, output, select, label, [data-token], [data-no-terms], [role=alert], .answer, .said-text, .sentence, .filled, .piece, .term, .terms, .term-note, .numbers, .before-text, .after-text, [data-kind=text] .equation";

/** @type {Map<string, Promise<Finder>>} */
const asked = new Map();

/**
 * The terms of a language; asked for once.
 * @param {"ko" | "en"} language
 */
export function glossary(language) {
  let found = asked.get(language);
  if (!found) {
    found = ask(`/api/glossary?lang=${language}`)
      .then((answer) => answer.json())
      .then(({ terms }) => finder(terms, language));
    asked.set(language, found);
  }
  return found;
}

/** @param {Owner} owner */
export function markTerms(owner) {
  /** @type {Set<Element>} */
  const changed = new Set();
  let waiting = 0;
  const observer = new MutationObserver((mutations) => {
    for (const { target } of mutations) note(target instanceof Element ? target : target.parentElement);
  });
  const watch = () => observer.observe(document.body, { childList: true, characterData: true, subtree: true });
  /** @param {Element | null} target */
  const note = (target) => {
    if (!target?.isConnected || target.closest(".term-note")) return;
    const panel = target.closest(PANELS);
    if (panel) changed.add(panel);
    target.querySelectorAll(PANELS).forEach((inside) => changed.add(inside));
    if (changed.size && !waiting) waiting = window.setTimeout(run, 60);
  };
  const run = async () => {
    const language = lang.peek();
    const found = await glossary(language).catch(() => null);
    waiting = 0;
    if (!found || language !== lang.peek()) return;
    const panels = [...changed].filter((panel) => panel.isConnected);
    changed.clear();
    observer.disconnect(); // what is marked here is no change
    for (const panel of panels) markPanel(panel, found);
    watch();
  };
  watch();
  note(document.body);
  owner.own(() => {
    observer.disconnect();
    clearTimeout(waiting);
  });
}

/**
 * @param {Element} panel
 * @param {Finder} found
 */
function markPanel(panel, found) {
  const own = (/** @type {Element} */ element) => element.closest(PANELS) === panel;
  const seen = new Set([...panel.querySelectorAll(".term")].filter(own).map((term) => term.getAttribute("data-term") ?? ""));
  const named = new Set(found.find(panel.textContent ?? "").map(({ key }) => key));
  for (const text of textsOf(panel, own)) {
    let rest = text;
    let cut = 0;
    for (const { start, end, key } of found.find(text.data)) {
      const beside = found.terms.get(key)?.beside;
      if (seen.has(key) || (beside && !named.has(beside))) continue;
      seen.add(key);
      const word = rest.splitText(start - cut);
      rest = word.splitText(end - start);
      cut = end;
      const mark = h("span", { class: "term", role: "button", tabindex: "0", "data-term": key, "aria-expanded": "false" });
      word.replaceWith(mark);
      mark.append(word);
    }
  }
}

/**
 * The texts of a panel in which terms may be marked, in their order.
 * @param {Element} panel
 * @param {(element: Element) => boolean} own
 * @returns {Text[]}
 */
function textsOf(panel, own) {
  const language = document.documentElement.lang;
  const walker = document.createTreeWalker(panel, NodeFilter.SHOW_TEXT, (node) => {
    const parent = node.parentElement;
    const wanted = parent && own(parent) && parent.closest(SENTENCES) && !parent.closest(NEVER);
    return wanted && (parent.closest("[lang]")?.getAttribute("lang") ?? language) === language ? NodeFilter.FILTER_ACCEPT : NodeFilter.FILTER_SKIP;
  });
  /** @type {Text[]} */
  const found = [];
  while (walker.nextNode()) found.push(/** @type {Text} */ (walker.currentNode));
  return found;
}
