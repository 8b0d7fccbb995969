// Which checkpoint is looked at, and whether what the page shows has come from it already.

/**
 * @typedef {import("../app.js").App} App
 * @typedef {import("./life.js").Life} Life
 */

/**
 * @param {import("../signal.js").Owner} owner
 * @param {App} app
 */
export function makeNow(owner, app) {
  /** Does the present run answer for the checkpoint of the address? */
  const settled = owner.computed(() => {
    const question = app.run.value?.question;
    return question !== undefined && question.model === app.model.value?.name && (question.checkpoint ?? "") === app.checkpoint.value;
  });
  /** Its step; null for the mean of several checkpoints, and as long as nothing is known. */
  const step = owner.computed(() => {
    const named = app.checkpoint.value;
    if (/^\d+$/.test(named)) return Number(named);
    const found = settled.value ? /^step-(\d+)$/.exec(app.run.value?.about.checkpoint ?? "") : null;
    return found ? Number(found[1]) : null;
  });
  return { settled, step, go: (/** @type {number} */ wanted) => (app.checkpoint.value = String(wanted)) };
}

/** @typedef {ReturnType<typeof makeNow>} Now */
