import { deflateSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { createMutex } from '../../src/base/mutex.ts';
import { formatWithinLimits } from '../../src/bot/images/image-limits.ts';
import { readQrPhoto } from '../../src/bot/images/qr-photo.ts';
import { createQrReader } from '../../src/bot/images/qr-reader.ts';
import { manualClock } from '../helpers/clock.ts';
import { createRandom } from '../helpers/random.ts';
import {
  blur,
  interlacedPng,
  type Picture,
  place,
  pngChunk,
  pngHeader,
  pngOf,
  qrPicture,
  render,
  toJpeg,
  toPng,
} from './images.ts';

const link =
  'https://qr.nspk.ru/AD10004MV5CJ3D638358RO81129CE63P?type=02&bank=100000000004&sum=30510&cur=RUB&crc=B754';
const code = qrPicture(link);
const white: Picture = () => 255;
const smallCode = place(code, 150, 150, 240);
/** The text of the code, or why there is none. */
async function textIn(image: Buffer): Promise<string | undefined> {
  const reading = await readQrPhoto(image);
  return reading.outcome === 'read' ? reading.text : reading.outcome;
}
const photo = (picture: Picture) => render(picture, 480, 640);

const random = createRandom(1);
const clean = place(code, 240, 320, 300, 8);
const grainy: Picture = (x, y) => 60 + 0.5 * clean(x, y) + random.between(-50, 50);

function withoutBackground(): Buffer {
  const image = render(smallCode, 300, 300);
  for (let at = 0; at < image.data.length; at += 4) image.data.set([0, 0, 0, 255 - image.data[at]!], at);
  return toPng(image);
}

describe('photos with a code', () => {
  test.each<[string, () => Buffer]>([
    ['upright', () => toJpeg(photo(place(code, 240, 320, 260)))],
    ['turned by 17 degrees', () => toJpeg(photo(place(code, 240, 320, 260, 17)))],
    ['turned by 90 degrees', () => toJpeg(photo(place(code, 240, 320, 260, 90)))],
    ['in a corner, with wide margins', () => toJpeg(photo(place(code, 125, 500, 130, 8)), 60)],
    ['blurred', () => toJpeg(blur(photo(place(code, 240, 320, 350, 5)), 3))],
    ['grey and grainy', () => toJpeg(photo(grainy))],
    ['light on dark', () => toPng(render((x, y) => 255 - smallCode(x, y), 300, 300))],
    ['a PNG without a background', withoutBackground],
    ['an interlaced PNG', () => interlacedPng(smallCode, 300)],
  ])('%s', async (_what, draw) => {
    expect(await textIn(draw())).toBe(link);
  });
});

describe('what has no code to read', () => {
  const jpeg = toJpeg(render(smallCode, 300, 300));
  const png = toPng(render(smallCode, 300, 300));

  test('a white picture', async () => {
    expect(await textIn(toJpeg(photo(white)))).toBeUndefined();
    expect(await textIn(toPng(render(white, 1, 1)))).toBeUndefined();
  });

  test.each([
    ['nothing', Buffer.alloc(0)],
    ['text', Buffer.from('not an image')],
    ['the start of a JPEG', jpeg.subarray(0, 3)],
    ['the header of a JPEG', jpeg.subarray(0, 700)],
    ['the start of a PNG', png.subarray(0, 8)],
    ['half of a PNG', png.subarray(0, png.length / 2)],
    ['a PNG with a broken stream', pngOf(pngHeader(300, 300), pngChunk('IDAT', Buffer.alloc(900, 7)))],
    ['a PNG without pixels', pngOf(pngHeader(0, 0), pngChunk('IDAT', deflateSync(Buffer.alloc(9))))],
  ])('%s', async (_what, image) => {
    expect(await textIn(image)).toBeUndefined();
  });

  test('images with bytes changed at random are read or not, and never throw', async () => {
    const random = createRandom(2);
    for (let round = 0; round < 30; round++) {
      const damaged = Buffer.from(random.pick([jpeg, png]));
      for (let hit = 0; hit < 5; hit++)
        damaged[random.between(3, damaged.length - 1)] = random.between(0, 255);
      expect([link, 'too_large', undefined]).toContain(await textIn(damaged));
    }
  });
});

describe('too much of an image is not decoded', () => {
  const data = pngChunk('IDAT', deflateSync(Buffer.alloc(100)));
  const bomb = pngChunk('IDAT', deflateSync(Buffer.alloc(5_000_000)));
  const padding = pngChunk('tEXt', Buffer.alloc(10_000_000));
  const whole = toPng(render(smallCode, 300, 300));
  const deep = pngHeader(100, 100, { bitDepth: 16 });
  const interlaced = pngHeader(100, 100, { isInterlaced: true });
  const hugeHeader = pngOf(pngHeader(9, 9), pngHeader(60_000, 60_000), data);

  test.each([
    ['more than ten megabytes', pngOf(whole.subarray(8, -12), padding), 'too_large'],
    ['a PNG that says it is huge', pngOf(pngHeader(4_001, 3_000), data), 'too_large'],
    ['a PNG that says it is huge in a second header', hugeHeader, undefined],
    ['what a camera sends is not too much', pngOf(pngHeader(4_000, 3_000), data), 'png'],
    ['16 bits a channel: they would take eight bytes a pixel', pngOf(deep, data), 'too_large'],
    ['an interlaced PNG that unpacks into more than it says', pngOf(interlaced, bomb), 'too_large'],
  ])('%s', (_what, image, expected) => {
    expect(formatWithinLimits(image)).toBe(expected);
  });

  test('a JPEG that says it is huge', async () => {
    const jpeg = toJpeg(render(smallCode, 300, 300));
    const frameHeader = jpeg.indexOf(Buffer.from([0xff, 0xc0]));
    jpeg.writeUInt16BE(60_000, frameHeader + 5);
    jpeg.writeUInt16BE(60_000, frameHeader + 7);
    expect(formatWithinLimits(jpeg)).toBe('too_large');
    expect(await textIn(jpeg)).toBe('too_large');
  });
});

const aCode = toPng(render(place(qrPicture('a code'), 150, 150, 240), 300, 300));

const clock = manualClock();
const newReader = (acquireImageLock = createMutex()) => createQrReader({ clock, acquireImageLock });

test('photos are loaded one at a time, and none for a reader that is busy', async () => {
  const reader = newReader();
  const { promise: telegramAnswers, resolve } = Promise.withResolvers<void>();
  let loaded = 0;
  const load = async () => {
    loaded += 1;
    await telegramAnswers;
    return undefined;
  };
  const readings = Array.from({ length: 10 }, (_, index) => reader.read(BigInt(index), load));
  expect(await reader.read(10n, load)).toEqual({ outcome: 'busy' });
  expect(loaded).toBe(1);
  resolve();
  for (const reading of readings) expect(await reading).toEqual({ outcome: 'read', text: undefined });
  expect(loaded).toBe(10);
});

test('the photos of one user leave places to the others, and the next may come when one is read', async () => {
  const reader = newReader();
  const { promise: telegramAnswers, resolve } = Promise.withResolvers<undefined>();
  const flood = Array.from({ length: 20 }, () => reader.read(1n, () => telegramAnswers));
  const other = reader.read(2n, async () => undefined);
  resolve(undefined);
  const [first, ...rest] = await Promise.all(flood);
  const read = { outcome: 'read', text: undefined };
  expect([first, await other]).toEqual([read, read]);
  expect(rest).toEqual(Array(19).fill({ outcome: 'busy' }));
  expect(await reader.read(1n, async () => undefined)).toEqual(read);
});

test('a photo that cannot be loaded keeps nobody else from being read', async () => {
  const reader = newReader();
  const lost = reader.read(1n, () => Promise.reject(new Error('Telegram is away')));
  const fine = reader.read(2n, async () => aCode);
  await expect(lost).rejects.toThrow('Telegram is away');
  expect(await fine).toEqual({ outcome: 'read', text: 'a code' });
});

test('a photo that takes too long is given up', async () => {
  const begun = Promise.withResolvers<void>();
  const endless = newReader(async () => {
    // The thread starts in this turn of the event loop, and needs more of them to read.
    setImmediate(begun.resolve);
    return () => {};
  }).read(1n, async () => aCode);
  await begun.promise;
  await clock.advance(8_000);
  expect(await endless).toEqual({ outcome: 'read', text: undefined });
});

test('readers that share a lock decode one photo at a time, and load the next meanwhile', async () => {
  const acquire = createMutex();
  let atOnce = 0;
  const seen: number[] = [];
  const acquireImageLock = async () => {
    const end = await acquire();
    seen.push(++atOnce);
    return () => {
      atOnce -= 1;
      end();
    };
  };
  const others = await acquire();
  const readers = [1, 2, 3].map(() => newReader(acquireImageLock));
  const loaded = readers.map(() => Promise.withResolvers<void>());
  const readings = readers.map((reader, nth) =>
    reader.read(BigInt(nth), async () => {
      loaded[nth]!.resolve();
      return aCode;
    }),
  );
  await Promise.all(loaded.map(({ promise }) => promise));
  expect(seen).toEqual([]);
  others();
  for (const reading of readings) expect(await reading).toEqual({ outcome: 'read', text: 'a code' });
  expect(seen).toEqual([1, 1, 1]);
});

test('a photo that is too large is said to be', async () => {
  const bomb = pngOf(pngHeader(5_000, 5_000, { bitDepth: 16 }), pngChunk('IDAT', Buffer.alloc(10)));
  const reader = newReader();
  expect(await reader.read(1n, async () => bomb)).toEqual({ outcome: 'too_large' });
});
