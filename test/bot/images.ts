import { crc32, deflateSync } from 'node:zlib';
import jpeg from 'jpeg-js';
import { PNG } from 'pngjs';
import { encode } from 'uqr';

/** The brightness at a point, 0 to 255. */
export type Picture = (x: number, y: number) => number;

/** A code that fills the unit square, on white. */
export function qrPicture(text: string): Picture {
  const { data, size } = encode(text, { border: 0, ecc: 'M' });
  const isInside = (x: number, y: number) => x >= 0 && x < 1 && y >= 0 && y < 1;
  return (x, y) => (isInside(x, y) && data[Math.floor(y * size)]![Math.floor(x * size)] ? 0 : 255);
}

/** Moves the centre to (x, y) and rotates. */
export function place(picture: Picture, x: number, y: number, side: number, degrees = 0): Picture {
  const [cos, sin] = [Math.cos((degrees * Math.PI) / 180), Math.sin((degrees * Math.PI) / 180)];
  return (pointX, pointY) => {
    const dx = pointX - x;
    const dy = pointY - y;
    return picture((dx * cos + dy * sin) / side + 0.5, (dy * cos - dx * sin) / side + 0.5);
  };
}

export function render(picture: Picture, width: number, height: number): PNG {
  const image = new PNG({ width, height });
  for (let y = 0; y < height; y++)
    for (let x = 0; x < width; x++) {
      const bright = picture(x + 0.5, y + 0.5);
      const at = (y * width + x) * 4;
      for (let channel = at; channel < at + 3; channel++) image.data[channel] = bright;
      image.data[at + 3] = 255;
    }
  return image;
}

/** Every pixel becomes the average of those up to `radius` away on each side, first along rows, then along columns. */
export function blur(image: PNG, radius: number): PNG {
  const along = (from: PNG, stepX: number, stepY: number) =>
    render(
      (x, y) => {
        let sum = 0;
        for (let step = -radius; step <= radius; step++) {
          const column = Math.min(from.width - 1, Math.max(0, Math.floor(x) + step * stepX));
          const row = Math.min(from.height - 1, Math.max(0, Math.floor(y) + step * stepY));
          sum += from.data[(row * from.width + column) * 4]!;
        }
        return sum / (2 * radius + 1);
      },
      from.width,
      from.height,
    );
  return along(along(image, 1, 0), 0, 1);
}

export const toJpeg = (image: PNG, quality = 80) => Buffer.from(jpeg.encode(image, quality).data);
export const toPng = (image: PNG) => PNG.sync.write(image);

/** A PNG of the given chunks; those that start and end every PNG are added. */
export const pngOf = (...chunks: Buffer[]) =>
  Buffer.concat([Buffer.from('89504e470d0a1a0a', 'hex'), ...chunks, pngChunk('IEND', Buffer.alloc(0))]);

export function pngChunk(type: string, body: Buffer): Buffer {
  const checked = Buffer.concat([Buffer.from(type), body]);
  const [length, checksum] = [body.length, crc32(checked)].map(number => {
    const bytes = Buffer.alloc(4);
    bytes.writeUInt32BE(number);
    return bytes;
  });
  return Buffer.concat([length!, checked, checksum!]);
}

/** Grey. */
export function pngHeader(width: number, height: number, { isInterlaced = false, bitDepth = 8 } = {}) {
  const body = Buffer.from([0, 0, 0, 0, 0, 0, 0, 0, bitDepth, 0, 0, 0, Number(isInterlaced)]);
  body.writeUInt32BE(width, 0);
  body.writeUInt32BE(height, 4);
  return pngChunk('IHDR', body);
}

/** First pixel and step of each of the seven passes: x, y, step along x, step along y. */
const passes = [
  [0, 0, 8, 8],
  [4, 0, 8, 8],
  [0, 4, 4, 8],
  [2, 0, 4, 4],
  [0, 2, 2, 4],
  [1, 0, 2, 2],
  [0, 1, 1, 2],
] as const;

export function interlacedPng(picture: Picture, side: number): Buffer {
  const bytes: number[] = [];
  for (const [fromX, fromY, stepX, stepY] of passes)
    for (let y = fromY; y < side; y += stepY) {
      const noFilter = 0;
      bytes.push(noFilter);
      for (let x = fromX; x < side; x += stepX) bytes.push(picture(x + 0.5, y + 0.5));
    }
  const data = pngChunk('IDAT', deflateSync(Buffer.from(bytes)));
  return pngOf(pngHeader(side, side, { isInterlaced: true }), data);
}
