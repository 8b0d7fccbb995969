// The state of the page in its address: #model=ko-en&text=…&view=steps&at=encoder.0&zoom=3&cell=1,3&lang=ko.
// Whatever is on the screen can be sent to somebody else as a link, and the browser's Back goes back.

import { withSaved } from "./saved/answers.js";
import { batch } from "./signal.js";

/** @typedef {Record<string, import("./signal.js").Signal<string>>} Fields */

/** @returns {Record<string, string>} */
export function readAddress() {
  return withSaved(Object.fromEntries(new URLSearchParams(location.hash.slice(1))));
}

/**
 * @param {Record<string, string>} state
 * @returns {string}
 */
export function writeAddress(state) {
  const kept = Object.entries(state).filter(([, value]) => value !== "");
  // spaces and commas stay readable; what a hash cannot hold is escaped
  return `#${kept.map(([key, value]) => `${key}=${encodeURIComponent(value).replace(/%2C/g, ",").replace(/%20/g, "+")}`).join("&")}`;
}

/**
 * Ties signals to the address, both ways. A change that is a turn is a place to come back to; others replace it.
 * @param {import("./signal.js").Owner} owner
 * @param {Fields} fields
 * @param {(now: Record<string, string>, last: Record<string, string>) => boolean} isTurn
 * @returns {(change: () => void) => void}  changes fields without making a place to come back to
 */
export function keepAddress(owner, fields, isTurn) {
  const state = () => Object.fromEntries(Object.entries(fields).map(([key, field]) => [key, field.value]));
  let last = readAddress();
  let quiet = false;
  const follow = () => {
    const found = readAddress();
    last = found;
    batch(() => {
      for (const [key, field] of Object.entries(fields)) field.value = found[key] ?? "";
    });
  };
  owner.effect(() => {
    const now = state();
    const written = writeAddress(now);
    if (written === writeAddress(onlyKnown(readAddress(), fields))) return;
    const turned = !quiet && isTurn(now, last);
    [last, quiet] = [now, false];
    if (turned) history.pushState(null, "", written);
    else history.replaceState(null, "", written);
  });
  owner.listen(window, "popstate", follow);
  owner.listen(window, "hashchange", follow);
  return (change) => {
    const changing = () => Object.values(fields).map((field) => field.peek());
    const before = changing();
    batch(() => {
      change();
      quiet = changing().some((value, i) => value !== before[i]);
    });
  };
}

/**
 * In the order of the fields, and without what is none of them.
 * @param {Record<string, string>} found
 * @param {Fields} fields
 */
function onlyKnown(found, fields) {
  return Object.fromEntries(Object.keys(fields).map((key) => [key, found[key] ?? ""]));
}
