// A page that was saved as a file has no server: the answers that were saved with it stand in for one.
// Nothing is computed here: a question has an answer in the file, or none.

/**
 * @typedef {{path: string, body: Record<string, any>, block: string, type: string}} Kept  `block`: the id of the element that holds it
 * @typedef {{question: {model: string, checkpoint: string, input: Record<string, any>}, target: string | null, layers: number[] | null,
 *   address: string, command: string, answers: Kept[]}} Saved
 */

const element = document.getElementById("saved");

/** What this file holds; null in a page that a server sent. @type {Saved | null} */
export const saved = element ? JSON.parse(element.textContent ?? "") : null;

const OWN = ["model", "checkpoint", "text", "target", "second", "example", "drawn", "masked", "prompt", "edits"]; // what was run

/**
 * The state of a saved page: whatever its address says, what was run is what was saved. Without an address it begins as saved.
 * @param {Record<string, string>} state
 */
export function withSaved(state) {
  if (!saved) return state;
  const first = Object.fromEntries(new URLSearchParams(saved.address.slice(1)));
  const own = Object.fromEntries(OWN.filter((key) => first[key]).map((key) => [key, first[key] ?? ""]));
  const others = Object.entries(state).filter(([key]) => !OWN.includes(key));
  return others.length ? { ...Object.fromEntries(others), ...own } : first;
}

/**
 * The answer to a question, if it was saved.
 * @param {string} path
 * @param {Record<string, any>} [body]
 * @returns {Promise<Response | null>}
 */
export async function savedAnswer(path, body = {}) {
  const [at = "", query = ""] = path.split("?");
  const asked = { ...Object.fromEntries(new URLSearchParams(query)), ...body };
  if (!saved || !isOwn(saved, asked)) return null;
  if (at === "/api/why") return reasons(saved, asked);
  const found = saved.answers.find((one) => one.path === at && keyOf(one.body) === keyOf(asked));
  return found ? opened(found) : null;
}

/**
 * Is this about what was saved?
 * @param {Saved} page
 * @param {Record<string, any>} asked
 */
function isOwn({ question, target, layers }, { model, checkpoint, input, layers: wanted }) {
  const own = (/** @type {Record<string, any>} */ { target: said, ...rest }) => stable(said === undefined || said === target ? rest : { ...rest, target: said });
  return (
    (!model || model === question.model) &&
    (!checkpoint || checkpoint === question.checkpoint) &&
    (!input || own(input) === own(question.input)) &&
    (!layers || !wanted || wanted.every((/** @type {number} */ one) => layers.includes(one)))
  );
}

/**
 * What a question asks besides model and input. Which tensors it wants makes no difference: a file holds them all.
 * @param {Record<string, any>} asked
 */
function keyOf({ model, checkpoint, input, wanted, layers, rows, ...rest }) {
  return stable(Object.fromEntries(Object.entries(rest).filter(([, value]) => value !== undefined && value !== null && value !== "" && value.length !== 0)));
}

/**
 * JSON in which the order of keys makes no difference.
 * @param {any} value
 */
function stable(value) {
  return JSON.stringify(value, (_, inner) => (inner && typeof inner === "object" && !Array.isArray(inner) ? Object.fromEntries(Object.entries(inner).sort()) : inner));
}

/**
 * @param {Kept} kept
 * @returns {Response}
 */
function opened({ block, type }) {
  const packed = atob(document.getElementById(block)?.textContent ?? "");
  const bytes = Uint8Array.from(packed, (letter) => letter.charCodeAt(0));
  return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip")), { headers: { "content-type": type } });
}

/** @type {Promise<Record<string, any>> | null} */
let known = null;

/**
 * Why a number is what it is: all reasons lie in one block, by the name and the place of their numbers.
 * @param {Saved} page
 * @param {Record<string, any>} asked
 */
async function reasons({ answers }, { name, index }) {
  const kept = answers.find((one) => one.path === "/api/why");
  known ??= kept ? opened(kept).json() : Promise.resolve({});
  const found = (await known)[`${name} ${index.join(",")}`];
  return found ? new Response(JSON.stringify(found)) : null;
}
