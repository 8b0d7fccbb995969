// Tensors that a light answer left out are fetched when somebody looks at them: all maps of weights that are missed at
// once in one request, everything else of a layer in another. One request after the other, so that few wait at the server.

import { run as ask } from "./engine.js";
import { lang } from "./words.js";

/**
 * @typedef {import("./engine.js").Run} Run
 * @typedef {{wanted?: string[], layers?: number[]}} Part
 */

/**
 * @param {import("./signal.js").Signal<Run | null>} run
 * @param {(line: string) => void} fail
 * @returns {(name: string) => void}  to be called with the name of a tensor that is missed
 */
export function makeMissing(run, fail) {
  /** @type {Set<string>} */
  let asked = new Set();
  /** @type {import("./engine.js").Question | null} */
  let of = null;
  /** @type {Set<number>} */
  let maps = new Set();
  let going = Promise.resolve();

  /** @param {() => Part} part  what is still missed when its turn comes */
  const fetch = (part) => {
    const question = run.peek()?.question;
    going = going.then(async () => {
      if (!question || run.peek()?.question !== question) return;
      try {
        const more = await ask({ ...question, ...part() }, { lang: lang.peek() });
        const now = run.peek();
        if (now?.question === question) run.value = { ...now, tensors: new Map([...now.tensors, ...more.tensors]) };
      } catch (error) {
        fail(/** @type {Error} */ (error).message);
      }
    });
  };
  const mapsNow = () => {
    const layers = [...maps];
    maps = new Set();
    return { wanted: ["*.weights"], layers };
  };
  return (name) => {
    const question = run.peek()?.question;
    if (!question) return;
    if (of !== question) [of, asked, maps] = [question, new Set(), new Set()];
    const layer = /\.blocks\.(\d+)\./.exec(name)?.[1];
    const map = layer !== undefined && name.endsWith(".weights");
    const key = map ? `maps ${layer}` : (layer ?? name);
    if (asked.has(key) || !run.peek()?.about.steps.some((step) => step.name === name)) return;
    asked.add(key);
    if (!map) fetch(() => (layer === undefined ? { wanted: [name] } : { layers: [Number(layer)] }));
    else {
      if (!maps.size) queueMicrotask(() => fetch(mapsNow));
      maps.add(Number(layer));
    }
  };
}
