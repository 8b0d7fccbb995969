// A beam search as a tree that grows step by step. Pruned branches stay visible, and a click lets one of them live on.

import { h } from "../dom.js";
import { signal } from "../signal.js";
import { number, say } from "../words.js";
import { question, setting, stream } from "./ask.js";
import { slider } from "./slider.js";
import { drawTree } from "./treepicture.js";

/**
 * @typedef {{id: string, token: number, piece: string, parent: string, step: number, log_probability: number, cumulative: number, score: number, fate: string, revived: boolean}} TreeNode
 * @typedef {{text: string, score: number, log_probability: number, finished: boolean, node: string, revived: boolean}} Found
 */

/**
 * @param {import("../signal.js").Owner} owner
 * @param {import("../app.js").App} app
 * @returns {HTMLElement}
 */
export function makeTree(owner, app) {
  const [width, alpha] = [setting(app, "width", 3), setting(app, "alpha", 0.6)];
  const nodes = signal(/** @type {Map<string, TreeNode>} */ (new Map()));
  const best = signal(/** @type {Found[]} */ ([]));
  const shown = signal(Infinity); // how many steps are drawn
  const error = signal("");
  let revivals = 0;

  /**
   * Searches from a node on; "" is the beginning.
   * @param {any} asked
   * @param {string} from
   * @param {AbortSignal} stop
   */
  const grow = async (asked, from, stop) => {
    const before = from ? `r${(revivals += 1)}:` : "";
    const body = { ...asked, kind: "beam", width: width.peek(), alpha: alpha.peek(), prefix: path(nodes.peek(), from).map((node) => node.token) };
    await stream("/api/decode", body, { signal: stop, lang: app.lang.peek() }, (record) => {
      if (record.kind === "end") {
        const found = record.best.map((/** @type {any} */ one) => ({ ...one, node: before + one.node, revived: Boolean(from) }));
        best.value = [...best.peek(), ...found].sort((a, b) => b.score - a.score);
        return;
      }
      const more = record.nodes.map((/** @type {any} */ node) => {
        const parent = node.parent < 0 ? from : before + node.parent;
        return [before + node.number, { ...node, id: before + node.number, parent, step: record.step, revived: Boolean(from) }];
      });
      nodes.value = new Map([...nodes.peek(), ...more]);
    }).catch((reason) => {
      if (!stop.aborted) error.value = reason.message;
    });
  };

  owner.effect((inner) => {
    const asked = question(app);
    width.value;
    alpha.value;
    if (!asked) return;
    const stop = new AbortController();
    inner.own(() => stop.abort());
    nodes.value = new Map();
    best.value = [];
    error.value = "";
    shown.value = Infinity;
    grow(asked, "", stop.signal);
  });
  const revive = (/** @type {string} */ id) => {
    const node = nodes.peek().get(id);
    const asked = question(app);
    if (!node || !asked || node.fate !== "pruned") return;
    nodes.value = new Map([...nodes.peek(), [id, { ...node, fate: "kept", revived: true }]]);
    const stop = new AbortController();
    owner.own(() => stop.abort());
    grow(asked, id, stop.signal);
  };

  const picture = h("div", { class: "scroll tree-picture" });
  const list = h("ol", { class: "samples" });
  const [title, says] = [h("h3", {}), h("p", { class: "says" })];
  const steps = h("div", { class: "player" });
  owner.effect(() => {
    title.textContent = say("explorer.decoding.tree");
    says.textContent = error.value || say("explorer.decoding.tree_says");
    const last = Math.max(0, ...[...nodes.value.values()].map((node) => node.step));
    const now = Math.min(shown.value, last);
    const go = (/** @type {number} */ to) => (shown.value = Math.max(1, Math.min(last, to)));
    picture.replaceChildren(drawTree([...nodes.value.values()].filter((node) => node.step <= now), new Set(now === last ? onPaths(nodes.value, best.value.slice(0, 1)) : []), revive));
    steps.replaceChildren(
      h("button", { type: "button", class: "round", "aria-label": say("explorer.back"), disabled: now <= 1, onclick: () => go(now - 1) }, "←"),
      h("button", { type: "button", class: "round", "aria-label": say("explorer.on"), disabled: now >= last, onclick: () => go(now + 1) }, "→"),
      h("span", { class: "player-count" }, `${now} / ${last}`),
    );
    list.replaceChildren(
      ...(now === last ? best.value : []).slice(0, 6).map((one) =>
        h("li", { class: `sample${one.revived ? " revived" : ""}`, "data-score": one.score }, h("span", { class: "sample-text" }, one.text || "∅", one.revived ? h("small", {}, ` ${say("explorer.decoding.revived")}`) : null), h("span", { class: "term-value" }, number(one.score), h("small", {}, `log p ${number(one.log_probability, 2)}`))),
      ),
    );
  });
  const controls = h(
    "div",
    { class: "sliders" },
    slider(owner, { name: "width", key: "explorer.decoding.width", low: 1, high: 8, setting: width }),
    slider(owner, { name: "alpha", key: "explorer.decoding.alpha", low: 0, high: 3, step: 0.1, setting: alpha }),
  );
  return h("section", { class: "card lab-tree" }, h("header", {}, title), says, controls, steps, picture, list);
}

/**
 * The nodes from the beginning to this one.
 * @param {Map<string, TreeNode>} nodes
 * @param {string} id
 */
function path(nodes, id) {
  const found = [];
  for (let node = nodes.get(id); node; node = nodes.get(node.parent)) found.unshift(node);
  return found;
}

/**
 * @param {Map<string, TreeNode>} nodes
 * @param {Found[]} best
 */
const onPaths = (nodes, best) => best.flatMap((one) => path(nodes, one.node).map((node) => node.id));
