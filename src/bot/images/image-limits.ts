import { inflateSync } from 'node:zlib';

const maxBytes = 10_000_000;
/** What cameras of phones send. Of these, a PNG takes 180 MB while it is read, and one of 16 bits 500 MB. */
const maxPixels = 12_000_000;
const maxBitDepth = 8;
const jpegStart = Buffer.from([0xff, 0xd8, 0xff]);
const pngStart = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);

/**
 * Protection against decompression bombs: the format of an image that is safe to decode, undefined for a file of no format.
 * It reads only the headers, so it runs before a decoder allocates memory for pixels.
 */
export function formatWithinLimits(image: Buffer): 'jpeg' | 'png' | 'too_large' | undefined {
  if (image.length > maxBytes) return 'too_large';
  if (startsWith(image, jpegStart)) return isSmallJpeg(image) ? 'jpeg' : 'too_large';
  return startsWith(image, pngStart) ? checkPng(image) : undefined;
}

const startsWith = (image: Buffer, start: Buffer) => image.subarray(0, start.length).equals(start);

/**
 * Checks everything that looks like a frame header, also inside other segments. So it does not matter which of several
 * headers the decoder uses. A header that is none passes by chance only: the length must match the components.
 */
function isSmallJpeg(image: Buffer): boolean {
  const headerBytes = 10;
  for (
    let at = image.indexOf(0xff);
    at !== -1 && at + headerBytes <= image.length;
    at = image.indexOf(0xff, at + 1)
  ) {
    const marker = image[at + 1]!;
    const isFrame = marker >= 0xc0 && marker <= 0xc2;
    const isHeader = isFrame && image.readUInt16BE(at + 2) === 8 + 3 * image[at + 9]!;
    if (isHeader && image.readUInt16BE(at + 5) * image.readUInt16BE(at + 7) > maxPixels) return false;
  }
  return true;
}

/** The decoder uses the last header it reads and has no limit of its own, so all chunks are checked. */
function checkPng(image: Buffer): 'png' | 'too_large' | undefined {
  const chunks = [...pngChunks(image)];
  const [header, another] = chunks.filter(({ type }) => type === 'IHDR');
  if (!header || another || header.body.length !== 13) return undefined;
  const [width, height] = [header.body.readUInt32BE(0), header.body.readUInt32BE(4)];
  if (width * height > maxPixels || header.body[8]! > maxBitDepth) return 'too_large';
  const isInterlaced = header.body[12] !== 0;
  return !isInterlaced || inflatesWithin(chunks, width, height) ? 'png' : 'too_large';
}

interface PngChunk {
  type: string;
  body: Buffer;
}

function* pngChunks(image: Buffer): Generator<PngChunk> {
  let start = pngStart.length;
  while (start + 8 <= image.length) {
    const bodyStart = start + 8;
    const bodyEnd = bodyStart + image.readUInt32BE(start);
    yield {
      type: image.toString('latin1', start + 4, bodyStart),
      body: image.subarray(bodyStart, bodyEnd),
    };
    const checksumBytes = 4;
    start = bodyEnd + checksumBytes;
  }
}

/** The decoder inflates interlaced images without a limit, so these are inflated here first, with one. */
function inflatesWithin(chunks: PngChunk[], width: number, height: number): boolean {
  const maxBytesPerPixel = 4;
  const filterBytesPerRow = 8;
  const packed = chunks.filter(({ type }) => type === 'IDAT').map(({ body }) => body);
  const maxOutputLength = height * (width * maxBytesPerPixel + filterBytesPerRow);
  try {
    return inflateSync(Buffer.concat(packed), { maxOutputLength }).length > 0;
  } catch {
    return false;
  }
}
