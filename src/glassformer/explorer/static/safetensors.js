// Reads a safetensors file, the form in which traces travel: a header in JSON, then the bytes of every tensor.
// Maps are float16; a browser without Float16Array decodes them by a table of all 65,536 values.

/**
 * @typedef {{name: string, shape: number[], data: Float32Array | Uint8Array | Int32Array}} Tensor
 * @typedef {{metadata: Record<string, string>, tensors: Map<string, Tensor>}} Opened
 */

/** @type {Float32Array | null} */
let halves = null;

/** The value of every float16, by its bits. */
function halfTable() {
  const table = new Float32Array(65536);
  for (let bits = 0; bits < 65536; bits += 1) {
    const exponent = (bits >> 10) & 31;
    const fraction = bits & 1023;
    const sign = bits & 0x8000 ? -1 : 1;
    if (exponent === 0) table[bits] = sign * fraction * 2 ** -24;
    else if (exponent === 31) table[bits] = fraction ? NaN : sign * Infinity;
    else table[bits] = sign * (1 + fraction / 1024) * 2 ** (exponent - 15);
  }
  return table;
}

/**
 * @param {ArrayBuffer} bytes
 * @returns {Float32Array}
 */
export function fromFloat16(bytes) {
  const Native = /** @type {any} */ (globalThis).Float16Array;
  if (Native) return Float32Array.from(new Native(bytes));
  halves ??= halfTable();
  const bits = new Uint16Array(bytes);
  const values = new Float32Array(bits.length);
  for (let i = 0; i < bits.length; i += 1) values[i] = /** @type {number} */ (halves[/** @type {number} */ (bits[i])]);
  return values;
}

/** @type {Record<string, (bytes: ArrayBuffer) => Float32Array | Uint8Array | Int32Array>} */
const READERS = {
  F16: fromFloat16,
  F32: (bytes) => new Float32Array(bytes),
  F64: (bytes) => Float32Array.from(new Float64Array(bytes)),
  I32: (bytes) => new Int32Array(bytes),
  I64: (bytes) => Int32Array.from(new BigInt64Array(bytes), Number),
  U8: (bytes) => new Uint8Array(bytes),
  BOOL: (bytes) => new Uint8Array(bytes),
};

/**
 * @param {ArrayBuffer} file
 * @returns {Opened}
 */
export function openSafetensors(file) {
  const length = Number(new DataView(file).getBigUint64(0, true));
  const header = JSON.parse(new TextDecoder().decode(new Uint8Array(file, 8, length)));
  const { __metadata__: metadata = {}, ...entries } = header;
  /** @type {Map<string, Tensor>} */
  const tensors = new Map();
  for (const [name, { dtype, shape, data_offsets: [from, to] }] of Object.entries(entries)) {
    const read = READERS[dtype];
    if (!read) throw new TypeError(dtype);
    // a slice: the bytes of a tensor need not begin where its type could be read in place
    tensors.set(name, { name, shape, data: read(file.slice(8 + length + from, 8 + length + to)) });
  }
  return { metadata, tensors };
}

/**
 * One matrix of a tensor whose last two sizes are rows and columns; the sizes before them are chosen by `index`.
 * @param {Tensor} tensor
 * @param {...number} index
 * @returns {{rows: number, columns: number, data: Float32Array | Uint8Array | Int32Array}}
 */
export function matrix(tensor, ...index) {
  const shape = tensor.shape.length >= 2 ? tensor.shape : [1, tensor.data.length];
  const rows = /** @type {number} */ (shape.at(-2));
  const columns = /** @type {number} */ (shape.at(-1));
  const outer = shape.slice(0, -2);
  const skipped = outer.length - index.length; // a batch of one in front
  let at = 0;
  outer.forEach((size, axis) => {
    at = at * size + (axis < skipped ? 0 : Math.min(size - 1, /** @type {number} */ (index[axis - skipped])));
  });
  const begin = at * rows * columns;
  return { rows, columns, data: tensor.data.subarray(begin, begin + rows * columns) };
}

/**
 * Does a tensor have a matrix for each head?
 * @param {string} name
 */
export const hasHeads = (name) => /attention\.(q|k|v|scores|weights|heads)(\.mask)?$/.test(name);

/**
 * Is a tensor a map of attention, whose numbers travel in float16?
 * @param {string} name
 */
export const isMap = (name) => /\.(scores|weights)$/.test(name);

/**
 * The matrix of one of `heads` heads; keys and values may be shared by several of them.
 * @param {Tensor} tensor
 * @param {number} head
 * @param {number} heads
 */
export function ofHead(tensor, head, heads) {
  const own = tensor.shape.length > 2 ? (tensor.shape.at(-3) ?? 1) : 1;
  return matrix(tensor, Math.floor((head * own) / Math.max(1, heads)));
}
