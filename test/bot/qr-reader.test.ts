import { expect, test } from 'vitest';
import { createMutex } from '../../src/base/mutex.ts';
import { createQrReader } from '../../src/bot/images/qr-reader.ts';
import { manualClock } from '../helpers/clock.ts';
import { place, pngChunk, pngHeader, pngOf, qrPicture, render, toPng } from './images.ts';

const photo = toPng(render(place(qrPicture('a code'), 150, 150, 240), 300, 300));

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
  const fine = reader.read(2n, async () => photo);
  await expect(lost).rejects.toThrow('Telegram is away');
  expect(await fine).toEqual({ outcome: 'read', text: 'a code' });
});

test('a photo that takes too long is given up', async () => {
  const begun = Promise.withResolvers<void>();
  const endless = newReader(async () => {
    // The thread starts in this turn of the event loop, and needs more of them to read.
    setImmediate(begun.resolve);
    return () => {};
  }).read(1n, async () => photo);
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
      return photo;
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
