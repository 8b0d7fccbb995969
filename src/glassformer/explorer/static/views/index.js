// The views beside the figure. Each is one file that exports {id, title, make}; to add one, write it and list it here.
//
//   id     what the address calls it: #view=steps
//   title  the key of its name in words/*/explorer.toml
//   make   (owner, app) → element. It is called when the view is opened; everything it starts (effects, listeners)
//          goes through `owner`, which ends them when another view is opened.
//
// A view reads the signals of `app` (see app.js): run (what was computed: about and tensors), at and place (what is
// looked at), rows (the followed tokens), head, edits. `app.tensor(name)` gives a tensor and fetches its layer if need be;
// `app.go(place, {zoom, cell})` looks elsewhere, and the figure follows. An element with data-at="encoder.0.self_attention"
// or data-token="source:3" is highlighted whenever that place or token is pointed at anywhere; nothing more is needed.

import compare from "./compare.js";
import decoding from "./decoding.js";
import gradients from "./gradients.js";
import heads from "./heads.js";
import lens from "./lens.js";
import interfere from "./interfere.js";
import parameters from "./parameters.js";
import steps from "./steps.js";
import time from "./time.js";

/**
 * @typedef {{id: string, title: string, fits?: (model: import("../engine.js").Model) => boolean, saved?: boolean,
 *   make: (owner: import("../signal.js").Owner, app: import("../app.js").App) => HTMLElement}} View
 *   `fits`: is there anything to show for this model? Without it: always
 *   `saved`: can it be opened in a page that was saved without its model? What needs the model there has data-needs="model"
 */

/** @type {View[]} */
// in the order of a first visit
export const VIEWS = [steps, heads, interfere, lens, decoding, gradients, compare, time, parameters];
