// Interference: what is switched off, scaled, forbidden or drawn. It stands in the address, and can be undone and redone.
//   edits=zero~encoder.blocks.0.self_attention.heads~h2!forbid~decoder.blocks.1.cross_attention~h0~r3~c1

import { batch, signal } from "./signal.js";

/**
 * @typedef {import("./engine.js").Edit} Edit
 * @typedef {import("./app.js").App} App
 */

const KINDS = ["zero", "scale", "replace", "forbid", "draw", "skip", "residual"];
/** @type {[string, keyof Edit][]} */
const PARTS = [
  ["h", "head"],
  ["r", "row"],
  ["c", "column"],
  ["x", "factor"],
  ["v", "value"],
];

/** @param {Edit[]} edits */
export function writeEdits(edits) {
  return edits.map((edit) => [edit.kind, edit.name, ...PARTS.filter(([, key]) => edit[key] !== undefined).map(([letter, key]) => `${letter}${edit[key]}`)].join("~")).join("!");
}

/**
 * @param {string} text
 * @returns {Edit[]}
 */
export function readEdits(text) {
  return text
    .split("!")
    .filter(Boolean)
    .map((one) => {
      const [kind = "", name = "", ...rest] = one.split("~");
      const found = rest.map((part) => [PARTS.find(([letter]) => letter === part[0])?.[1] ?? "", Number(part.slice(1))]);
      return { kind, name, ...Object.fromEntries(found.filter(([key, value]) => key && Number.isFinite(value))) };
    })
    .filter(({ kind, name }) => KINDS.includes(kind) && name);
}

/**
 * Do two edits act on the same numbers in the same way? Only how strongly may differ.
 * @param {Edit} one
 * @param {Edit} other
 */
const same = (one, other) => ["kind", "name", "head", "row", "column"].every((key) => one[/** @type {keyof Edit} */ (key)] === other[/** @type {keyof Edit} */ (key)]);

const past = signal(/** @type {Edit[][]} */ ([]));
const future = signal(/** @type {Edit[][]} */ ([]));
export const canUndo = () => past.value.length > 0;
export const canRedo = () => future.value.length > 0;

/**
 * @param {App} app
 * @param {Edit[]} edits
 */
export function change(app, edits) {
  batch(() => {
    past.value = [...past.peek(), app.edits.peek()];
    future.value = [];
    app.edits.value = edits;
  });
}

/**
 * One step back, or forward again.
 * @param {App} app
 * @param {boolean} back
 */
export function turn(app, back) {
  const [from, to] = back ? [past, future] : [future, past];
  const found = from.peek().at(-1);
  if (!found) return;
  batch(() => {
    from.value = from.peek().slice(0, -1);
    to.value = [...to.peek(), app.edits.peek()];
    app.edits.value = found;
  });
}

/**
 * The edit in force on the same numbers, if there is one.
 * @param {App} app
 * @param {Edit} like
 */
export const inForce = (app, like) => app.edits.value.find((edit) => same(edit, like)) ?? null;

/**
 * On becomes off, off becomes on; several edits together are one change.
 * @param {App} app
 * @param {...Edit} edits
 */
export function toggle(app, ...edits) {
  const left = app.edits.peek().filter((one) => !edits.some((edit) => same(one, edit)));
  change(app, left.length < app.edits.peek().length ? left : [...left, ...edits]);
}

/**
 * Puts an edit in the place of the one before on the same numbers; null as `edit` only removes it.
 * @param {App} app
 * @param {Edit} like
 * @param {Edit | null} edit
 */
export function replaceEdit(app, like, edit) {
  const left = app.edits.peek().filter((one) => !same(one, like));
  change(app, edit ? [...left, edit] : left);
}

/**
 * Ties the edits to the address, and runs the model again when they change.
 * @param {import("./signal.js").Owner} owner
 * @param {App} app
 */
export function keepEdits(owner, app) {
  owner.effect(() => {
    const written = app.field("edits").value;
    if (written !== writeEdits(app.edits.peek())) app.edits.value = readEdits(written);
  });
  owner.effect(() => {
    const written = writeEdits(app.edits.value);
    app.field("edits").value = written;
    const asked = app.run.peek()?.question;
    if (asked && writeEdits(asked.edits ?? []) !== written) app.submit();
  });
  owner.listen(window, "keydown", (/** @type {KeyboardEvent} */ event) => {
    const writing = event.target instanceof Element && event.target.matches("input[type=text], textarea");
    if (writing || !(event.ctrlKey || event.metaKey) || event.key.toLowerCase() !== "z") return;
    turn(app, !event.shiftKey);
    event.preventDefault();
  });
}
