import { expect, test } from 'vitest';
import { place, pngChunk, pngHeader, pngOf, qrPicture, render, toJpeg, toPng } from '../bot/images.ts';
import { createPartnerWithKeys, newLink } from '../helpers/api.ts';
import { refusal } from '../helpers/console.ts';
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
  expect(await read(blank, 'image/png')).toMatchObject(refusal(400, 'no_qr_code'));
  expect(await read(Buffer.from('no image'), 'image/png')).toMatchObject(refusal(400, 'no_qr_code'));
  expect(await read(Buffer.alloc(3 * 1024 * 1024), 'image/png')).toMatchObject(
    refusal(400, 'invalid_request'),
  );
  const bomb = pngOf(pngHeader(5_000, 5_000, { bitDepth: 16 }), pngChunk('IDAT', Buffer.alloc(10)));
  expect(await read(bomb, 'image/png')).toMatchObject(refusal(400, 'image_too_large'));
  expect((await viewer.act('/qr/photo', {})).status).toBe(422);
});

test('one person has one photo read at a time', async () => {
  const answers = await Promise.all([1, 2, 3].map(() => read(toPng(picture('x')), 'image/png')));
  expect(answers.map(({ status }) => status).sort()).toEqual([200, 429, 429]);
});
