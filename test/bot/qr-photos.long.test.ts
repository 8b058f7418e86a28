import { expect, test } from 'vitest';
import { readQrPhoto } from '../../src/bot/images/qr-photo.ts';
import { qrPhotos } from './qr-photos.ts';

/** Sixteen shades between black and white are too few for the reader. */
const unreadable = ['very dark'];

test('29 of 30 photos as people send them are read right', { timeout: 240_000 }, async () => {
  const photos = qrPhotos();
  expect(photos).toHaveLength(30);
  const wrong: string[] = [];
  for (const { name, texts, image } of photos) {
    const reading = await readQrPhoto(image);
    const text = reading.outcome === 'read' ? reading.text : undefined;
    const isRight = text === undefined ? texts.length === 0 : texts.includes(text);
    if (!isRight) wrong.push(name);
  }
  expect(unreadable).toEqual(expect.arrayContaining(wrong));
});
