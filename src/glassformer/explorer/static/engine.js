// The one interface to a model: run(question) → what it is about, and tensors. Behind it stands the server;
// an engine inside the page could stand there too, and no view would notice.

import { openSafetensors } from "./safetensors.js";

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
 *   target_language: string | null, config: Record<string, any>}} Model
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

/**
 * @param {string} path
 * @param {{method?: string, body?: any, signal?: AbortSignal, lang?: string}} [options]
 * @returns {Promise<Response>}
 */
export async function ask(path, { method = "GET", body, signal, lang } = {}) {
  const headers = { ...(body ? { "content-type": "application/json" } : {}), ...(lang ? { "accept-language": lang } : {}) };
  const answer = await fetch(path, { method, headers, signal: signal ?? null, body: body ? JSON.stringify(body) : null });
  if (answer.ok) return answer;
  const { error = `${answer.status}`, kind = "unknown" } = await answer.json().catch(() => ({}));
  throw new Refused(error, kind);
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
