// The one interface to a model: run(question) → what it is about, and tensors. Behind it stands the server, or in a page
// that was saved as a file the answers that were saved with it; no view notices.

import { openSafetensors } from "./safetensors.js";
import { saved, savedAnswer } from "./saved/answers.js";
import { say } from "./words.js";

/**
 * @typedef {import("./safetensors.js").Tensor} Tensor
 * @typedef {{piece: string, id: number | null, special?: boolean, span: [number, number] | null}} Token
 * @typedef {{key: string, name: string, formula: string, says: string, path: string, layer: number | null,
 *   stack: string | null, shape: number[] | null, source: {file: string, line: number} | null}} Step
 * @typedef {{name: string, kind: string, head?: number, row?: number, column?: number, factor?: number, value?: number}} Edit
 * @typedef {{model: string, checkpoint: string, task: string, family: string, sizes: Record<string, any>,
 *   tokens: {source?: Token[], target?: Token[]}, input: Record<string, any>, steps: Step[], output: Record<string, any>, edits: Edit[],
 *   notes: string[]}} About
 * @typedef {{name: string, task: string, family: string, input: string, sizes: Record<string, any>, parameters: number,
 *   checkpoints: (string | number)[], labels: string[], examples: any[], source_language: string | null,
 *   target_language: string | null, config: Record<string, any>, error?: string}} Model  of one that cannot be opened only `name` and `error`
 * @typedef {{model: string, checkpoint?: string, input: any, edits?: Edit[], wanted?: string[], layers?: number[],
 *   rows?: number[]}} Question
 * @typedef {{about: About, tensors: Map<string, Tensor>, question: Question}} Run
 */

/** What the server refused, in one line that a person reads. */
export class Refused extends Error {
  /**
   * @param {string} line
   * @param {string} kind
   */
  constructor(line, kind) {
    super(line);
    this.kind = kind;
  }
}

/** The questions about a model that were answered, the latest last. @type {Map<string, {path: string, body: any}>} */
const answered = new Map();
const REMEMBERED = 200;

/**
 * What was asked so far about the model and the input of a question: what a saved page will ask again.
 * @param {Question} question
 */
export function answeredFor({ model, checkpoint, input }) {
  const plain = (/** @type {any} */ { target: _, ...rest }) => JSON.stringify(rest);
  const same = (/** @type {any} */ body) => body.model === model && (body.checkpoint ?? "") === (checkpoint ?? "") && (!body.input || plain(body.input) === plain(input));
  return [...answered.values()].filter(({ body }) => same(body)).map(({ path, body: { model: _, checkpoint: __, input: ___, ...body } }) => ({ path, body }));
}

/**
 * @param {string} path
 * @param {{method?: string, body?: any, signal?: AbortSignal, lang?: string}} [options]
 * @returns {Promise<Response>}
 */
export async function ask(path, { method = "GET", body, signal, lang } = {}) {
  if (saved) {
    const kept = await savedAnswer(path, body);
    if (kept) return kept;
    throw new Refused(say("explorer.saved.why", { command: saved.command }).replaceAll("`", ""), "saved");
  }
  const headers = { ...(body ? { "content-type": "application/json" } : {}), ...(lang ? { "accept-language": lang } : {}) };
  const answer = await fetch(path, { method, headers, signal: signal ?? null, body: body ? JSON.stringify(body) : null });
  if (answer.ok) {
    if (body?.model) remember(path, body);
    return answer;
  }
  const { error = `${answer.status}`, kind = "unknown" } = await answer.json().catch(() => ({}));
  throw new Refused(error, kind);
}

/**
 * @param {string} path
 * @param {any} body
 */
function remember(path, body) {
  const key = `${path} ${JSON.stringify(body)}`;
  answered.delete(key);
  answered.set(key, { path, body });
  if (answered.size > REMEMBERED) answered.delete(/** @type {string} */ (answered.keys().next().value));
}

/**
 * One pass of the model.
 * @param {Question} question
 * @param {{signal?: AbortSignal, lang?: string}} [options]
 * @returns {Promise<Run>}
 */
export async function run(question, options = {}) {
  const answer = await ask("/api/trace", { ...options, method: "POST", body: question });
  const { metadata, tensors } = openSafetensors(await answer.arrayBuffer());
  return { about: JSON.parse(metadata["trace"] ?? "{}"), tensors, question };
}

/** @returns {Promise<Model[]>} */
export async function models() {
  return (await (await ask("/api/models")).json()).models;
}
