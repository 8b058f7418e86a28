import { inflateSync } from 'node:zlib';
import jpeg from 'jpeg-js';
import { PNG } from 'pngjs';

/** Rows from the top, four bytes a pixel: red, green, blue and opacity. */
export interface Pixels {
  width: number;
  height: number;
  data: Uint8Array;
}

const maxBytes = 10_000_000;
const maxMegapixels = 25;
const jpegStart = Buffer.from([0xff, 0xd8, 0xff]);
const pngStart = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);

/** Throws or gives undefined for what is not an image of a bearable size; its pixels are then never made room for. */
export function decodeImage(image: Buffer): Pixels | undefined {
  if (image.length > maxBytes) return undefined;
  if (startsWith(image, jpegStart)) return decodeJpeg(image);
  if (startsWith(image, pngStart) && isBearablePng(image)) return PNG.sync.read(image);
  return undefined;
}

const startsWith = (image: Buffer, start: Buffer) => image.subarray(0, start.length).equals(start);

/** The decoder itself compares every frame header with the limit before it makes room for the frame. */
const decodeJpeg = (image: Buffer): Pixels =>
  jpeg.decode(image, { useTArray: true, maxResolutionInMP: maxMegapixels });

/** The decoder believes the last header it meets and sets no limit of its own, so all of it is looked at beforehand. */
function isBearablePng(image: Buffer): boolean {
  const chunks = [...pngChunks(image)];
  const [header, another] = chunks.filter(({ type }) => type === 'IHDR');
  if (!header || another || header.body.length !== 13) return false;
  const [width, height] = [header.body.readUInt32BE(0), header.body.readUInt32BE(4)];
  if (width * height > maxMegapixels * 1_000_000) return false;
  const isInterlaced = header.body[12] !== 0;
  return !isInterlaced || inflatesWithin(chunks, width, height);
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

/** Only for interlaced images does the decoder inflate without end, so for these it is tried here, with an end. */
function inflatesWithin(chunks: PngChunk[], width: number, height: number): boolean {
  const mostBytesPerPixel = 8;
  const filterBytesPerRow = 8;
  const packed = chunks.filter(({ type }) => type === 'IDAT').map(({ body }) => body);
  const maxOutputLength = height * (width * mostBytesPerPixel + filterBytesPerRow);
  return inflateSync(Buffer.concat(packed), { maxOutputLength }).length > 0;
}
