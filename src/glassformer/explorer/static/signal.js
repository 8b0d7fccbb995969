// Signals: values that know who reads them, and effects that run again when one of them changes.
// Every effect belongs to an owner. Disposing an owner ends its effects, listeners and children, so nothing leaks.

/**
 * @template T
 * @typedef {{value: T, peek: () => T}} Signal
 */

/** @typedef {{run: () => void, sources: Set<Set<Effect>>}} Effect */

/** @type {Effect | null} */
let running = null;
let depth = 0;
/** @type {Set<Effect>} */
const queue = new Set();

/**
 * A value whose readers are told when it changes.
 * @template T
 * @param {T} first
 * @returns {Signal<T>}
 */
export function signal(first) {
  let current = first;
  /** @type {Set<Effect>} */
  const readers = new Set();
  return {
    get value() {
      if (running) {
        readers.add(running);
        running.sources.add(readers);
      }
      return current;
    },
    set value(next) {
      if (Object.is(next, current)) return;
      current = next;
      batch(() => readers.forEach((effect) => queue.add(effect)));
    },
    peek: () => current,
  };
}

/**
 * Several changes, after which each effect runs at most once.
 * @param {() => void} change
 */
export function batch(change) {
  depth += 1;
  try {
    change();
    while (depth === 1 && queue.size) {
      const [effect] = queue;
      queue.delete(/** @type {Effect} */ (effect));
      /** @type {Effect} */ (effect).run();
    }
  } finally {
    depth -= 1;
  }
}

/**
 * What is read inside is not followed.
 * @template T
 * @param {() => T} read
 * @returns {T}
 */
export function untracked(read) {
  const before = running;
  running = null;
  try {
    return read();
  } finally {
    running = before;
  }
}

/** Holds effects, listeners and other owners, and ends them all at once. */
export class Owner {
  /** @type {Set<() => void>} */
  #ends = new Set();
  disposed = false;

  /**
   * To be called when the owner is disposed.
   * @param {() => void} end
   */
  own(end) {
    this.#ends.add(end);
  }

  /** An owner that ends with this one, or earlier. */
  child() {
    const child = new Owner();
    const end = () => child.dispose();
    this.#ends.add(end);
    child.own(() => this.#ends.delete(end));
    return child;
  }

  /**
   * Runs now, and again whenever a signal that it read has changed. What it made through its owner is disposed first.
   * @param {(owner: Owner) => void} body
   */
  effect(body) {
    let inner = this.child();
    /** @type {Effect} */
    const effect = {
      sources: new Set(),
      run: () => {
        inner.dispose();
        leave(effect);
        if (this.disposed) return;
        inner = this.child();
        const before = running;
        running = effect;
        try {
          body(inner);
        } finally {
          running = before;
        }
      },
    };
    this.own(() => {
      leave(effect);
      queue.delete(effect);
    });
    effect.run();
  }

  /**
   * A value computed from signals.
   * @template T
   * @param {() => T} compute
   * @returns {Signal<T>}
   */
  computed(compute) {
    const result = signal(untracked(compute));
    this.effect(() => {
      result.value = compute();
    });
    return result;
  }

  /**
   * @param {EventTarget} target
   * @param {string} kind
   * @param {(event: any) => void} handler
   * @param {AddEventListenerOptions} [options]
   */
  listen(target, kind, handler, options) {
    target.addEventListener(kind, handler, options);
    this.own(() => target.removeEventListener(kind, handler, options));
  }

  dispose() {
    if (this.disposed) return;
    this.disposed = true;
    const ends = [...this.#ends];
    this.#ends.clear();
    ends.forEach((end) => end());
  }
}

/** @param {Effect} effect */
function leave(effect) {
  effect.sources.forEach((readers) => readers.delete(effect));
  effect.sources.clear();
}
