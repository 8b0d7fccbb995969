// The step player asks first too: before the maps of a head, and before the choice.

import { h } from "../dom.js";
import { answerGuess } from "./answer.js";
import { headGuess } from "./head.js";
import { guessSwitch } from "./panel.js";

/** @typedef {import("../steps/scenes.js").Given} Given */

const OF_A_HEAD = ["scores", "mask", "weights"];
const OF_THE_ANSWER = ["logits", "choice"];

/**
 * The parts of a scene behind their question: with the switch, and without what is still covered.
 * @param {Given} given
 * @param {() => (Node | null)[]} parts
 * @returns {(Node | null)[]}
 */
export function askedFirst({ owner, app, about, scene }, parts) {
  const ofHead = OF_A_HEAD.includes(scene.kind);
  if (!ofHead && !(OF_THE_ANSWER.includes(scene.kind) && (about.output["top"] || about.output["classes"]))) return parts();
  const name = (scene.steps[0]?.name ?? "").replace(/scores$/, "weights");
  const { panel, open } = ofHead ? headGuess(owner, app, about, name, app.head.value) : answerGuess(owner, app, about);
  return [h("div", { class: "switches" }, guessSwitch(owner, app)), panel, ...(open ? [] : parts())];
}
