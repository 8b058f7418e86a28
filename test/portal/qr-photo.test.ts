import { expect, test } from 'vitest';
import { place, pngChunk, pngHeader, pngOf, qrPicture, render, toJpeg, toPng } from '../bot/images.ts';
import { createPartnerWithKeys, newLink } from '../helpers/api.ts';
import { answers } from '../helpers/console.ts';
import { createDatabase } from '../helpers/database.ts';
import { startPortal } from '../helpers/portal.ts';

const { pool } = await createDatabase();
const { member } = await startPortal({ pool });
const { partnerId } = await createPartnerWithKeys(pool);
const viewer = await member(partnerId, 'viewer');

const picture = (text: string) => render(place(qrPicture(text), 200, 200, 320), 400, 400);
const read = (bytes: Uint8Array, type: string) =>
  viewer.post(`/partners/${partnerId}/qr/photo`, bytes, { 'content-type': type });

test('the QR code in a photo is read', async () => {
  const link = newLink(10_000);
  expect(await read(toJpeg(picture(link)), 'image/jpeg')).toMatchObject({
    status: 200,
    json: { qr_url: link },
  });
  expect((await read(toPng(picture(link)), 'image/png')).json).toEqual({ qr_url: link });
});

test('what is no photo of a QR code says so', async () => {
  const blank = toPng(render(() => 255, 50, 50));
  await answers('400 no_qr_code', read(blank, 'image/png'));
  await answers('400 no_qr_code', read(Buffer.from('no image'), 'image/png'));
  await answers('400 invalid_request', read(Buffer.alloc(3 * 1024 * 1024), 'image/png'));
  const bomb = pngOf(pngHeader(5_000, 5_000, { bitDepth: 16 }), pngChunk('IDAT', Buffer.alloc(10)));
  await answers('400 image_too_large', read(bomb, 'image/png'));
  await answers(422, viewer.act('/qr/photo', {}));
});

test('one person has one photo read at a time', async () => {
  const given = await Promise.all([1, 2, 3].map(() => read(toPng(picture('x')), 'image/png')));
  expect(given.map(({ status }) => status).sort()).toEqual([200, 429, 429]);
});
