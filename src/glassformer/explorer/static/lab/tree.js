// A beam search as a tree that grows step by step. Pruned branches stay visible, and a click lets one of them live on.

import { h } from "../dom.js";
import { signal } from "../signal.js";
import { number, say } from "../words.js";
import { question, setting, stream, written } from "./ask.js";
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
  const [width, alpha] = [setting(owner, app, "width", 3), setting(owner, app, "alpha", 0.6)];
  const nodes = signal(/** @type {Map<string, TreeNode>} */ (new Map()));
  const best = signal(/** @type {Found[]} */ ([]));
  const shown = setting(owner, app, "tree", Infinity); // how many steps are drawn
  const revived = written(owner, app, "revived"); // the tokens of each revived branch: 12.5.7,12.9
  const error = signal("");
  let revivals = 0;
  let stop = new AbortController(); // of the present search and all that was revived in it

  /**
   * Searches from a node on; "" is the beginning.
   * @param {any} asked
   * @param {string} from
   * @param {AbortSignal} [signal]
   */
  const grow = async (asked, from, signal = stop.signal) => {
    const before = from ? `r${(revivals += 1)}:` : "";
    const body = { ...asked, kind: "beam", width: width.peek(), alpha: alpha.peek(), prefix: tokensTo(nodes.peek(), from) };
    await stream("/api/decode", body, { signal, lang: app.lang.peek() }, (record) => {
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
      if (!signal.aborted) error.value = reason.message;
    });
  };

  owner.effect((inner) => {
    const asked = question(app);
    width.value;
    alpha.value;
    if (!asked) return;
    const mine = (stop = new AbortController());
    inner.own(() => mine.abort());
    nodes.value = new Map();
    best.value = [];
    error.value = "";
    grow(asked, "").then(async () => {
      for (const branch of revived.peek().split(",").filter(Boolean)) {
        const id = [...nodes.peek().keys()].find((one) => tokensTo(nodes.peek(), one).join(".") === branch);
        if (id !== undefined && !mine.signal.aborted) await live(asked, id);
      }
    });
  });
  /**
   * A pruned branch lives on.
   * @param {any} asked
   * @param {string} id
   */
  const live = async (asked, id) => {
    const node = nodes.peek().get(id);
    if (node?.fate !== "pruned") return;
    nodes.value = new Map([...nodes.peek(), [id, { ...node, fate: "kept", revived: true }]]);
    await grow(asked, id);
  };
  const revive = (/** @type {string} */ id) => {
    const asked = question(app);
    if (!asked || nodes.peek().get(id)?.fate !== "pruned") return;
    revived.value = [revived.peek(), tokensTo(nodes.peek(), id).join(".")].filter(Boolean).join(",");
    live(asked, id);
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
    const go = (/** @type {number} */ to) => (shown.value = to >= last ? Infinity : Math.max(1, to));
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
 * @param {string} id
 */
const tokensTo = (nodes, id) => path(nodes, id).map((node) => node.token);

/**
 * @param {Map<string, TreeNode>} nodes
 * @param {Found[]} best
 */
const onPaths = (nodes, best) => best.flatMap((one) => path(nodes, one.node).map((node) => node.id));
