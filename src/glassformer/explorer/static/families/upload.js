// A file → the bytes of the model's own raster: decoded and scaled in the page, never sent as a file.

const LARGEST_FILE = 20_000_000; // bytes
const MOST_PIXELS = 50_000_000;

/** Why a file cannot be read; its message is the key of a sentence. */
export class Unreadable extends Error {}

/**
 * The middle square of an image, scaled to the raster.
 * @param {File} file
 * @param {import("./given.js").Raster} raster
 * @returns {Promise<Uint8Array>}
 */
export async function readFile(file, { side, channels }) {
  if (file.size > LARGEST_FILE) throw new Unreadable("explorer.families.file_large");
  const image = await createImageBitmap(file).catch(() => {
    throw new Unreadable("explorer.families.no_image");
  });
  if (image.width * image.height > MOST_PIXELS) throw new Unreadable("explorer.families.file_large");
  const canvas = new OffscreenCanvas(side, side);
  const context = /** @type {OffscreenCanvasRenderingContext2D} */ (canvas.getContext("2d"));
  const square = Math.min(image.width, image.height);
  context.imageSmoothingQuality = "high";
  context.drawImage(image, (image.width - square) / 2, (image.height - square) / 2, square, square, 0, 0, side, side);
  image.close();
  return planes(context.getImageData(0, 0, side, side).data, side * side, channels);
}

/**
 * @param {Uint8ClampedArray} colours  red, green, blue, opacity, pixel by pixel
 * @param {number} count
 * @param {number} channels
 */
function planes(colours, count, channels) {
  const bytes = new Uint8Array(count * channels);
  for (let i = 0; i < count; i += 1) {
    const opacity = Number(colours[4 * i + 3]) / 255;
    const [red = 0, green = 0, blue = 0] = [0, 1, 2].map((colour) => Number(colours[4 * i + colour]) * opacity);
    const grey = 0.299 * red + 0.587 * green + 0.114 * blue; // as PIL converts to "L"
    const values = channels === 3 ? [red, green, blue] : [grey];
    values.forEach((value, channel) => (bytes[channel * count + i] = Math.round(value)));
  }
  return bytes;
}
