import { runInNewContext } from 'node:vm';
import jsqr from 'jsqr';
import { decodeImage, type Pixels } from './decode.ts';

/**
 * A photo is a stranger's file: a small one can be made to keep a decoder busy for hours. An honest one of the largest
 * size takes a few seconds.
 */
const maxMs = 8_000;

/**
 * Longest sides to try before the photo as it is, the cheapest first. The scanner looks at small neighbourhoods, so
 * averaging brings out the code in a noisy photo, while one that is a small part of the photo is lost by it.
 */
const smallerSides = [400, 800];

/** The text of the QR code in a JPEG or PNG; undefined if there is none, or no image, or too much of one. */
export function readQrPhoto(image: Buffer): string | undefined {
  try {
    return runInNewContext('read()', { read: () => readText(image) }, { timeout: maxMs });
  } catch {
    return undefined;
  }
}

function readText(image: Buffer): string | undefined {
  const pixels = decodeImage(image);
  if (!pixels) return undefined;
  const photo = onWhite(pixels);
  for (const side of sidesOf(photo)) {
    const text = scan(shrinkTo(photo, side));
    if (text) return text;
  }
  return undefined;
}

/** None twice, and none larger than the photo is. */
function sidesOf({ width, height }: Pixels): Set<number> {
  const longest = Math.max(width, height);
  return new Set([...smallerSides.map(side => Math.min(side, longest)), longest]);
}

/** An empty text is what the scanner makes of a pattern that only looks like a code; it is not one. */
const scan = ({ width, height, data }: Pixels) =>
  jsqr.default(new Uint8ClampedArray(data.buffer, data.byteOffset, data.length), width, height)?.data;

/** The scanner does not look at opacity, and a code without a background would be black on black to it. */
function onWhite({ width, height, data }: Pixels): Pixels {
  const flat = new Uint8Array(data.length);
  for (let at = 0; at < data.length; at += 4) {
    const opacity = data[at + 3]! / 255;
    for (let channel = at; channel < at + 3; channel++)
      flat[channel] = 255 + (data[channel]! - 255) * opacity;
    flat[at + 3] = 255;
  }
  return { width, height, data: flat };
}

function shrinkTo(photo: Pixels, side: number): Pixels {
  const shrinkage = Math.max(photo.width, photo.height) / side;
  if (shrinkage === 1) return photo;
  const width = Math.max(1, Math.round(photo.width / shrinkage));
  const height = Math.max(1, Math.round(photo.height / shrinkage));
  const small = { width, height, data: new Uint8Array(width * height * 4) };
  for (let pixel = 0; pixel < width * height; pixel++) {
    const [x, y] = [pixel % width, Math.floor(pixel / width)];
    const grey = averageGrey(photo, x * shrinkage, y * shrinkage, shrinkage);
    small.data.fill(grey, pixel * 4, pixel * 4 + 4);
  }
  return small;
}

function averageGrey(photo: Pixels, left: number, top: number, side: number): number {
  const [fromX, toX] = [Math.floor(left), Math.min(photo.width, Math.ceil(left + side))];
  const [fromY, toY] = [Math.floor(top), Math.min(photo.height, Math.ceil(top + side))];
  let sum = 0;
  for (let y = fromY; y < toY; y++)
    for (let x = fromX; x < toX; x++) {
      const at = (y * photo.width + x) * 4;
      sum += photo.data[at]! + photo.data[at + 1]! + photo.data[at + 2]!;
    }
  return sum / ((toX - fromX) * (toY - fromY) * 3);
}
