import { expect, test } from 'vitest';
import { findPayment } from '../../src/payments/index.ts';
import { createReferenceSealer, openReference } from '../../src/payments/order-reference.ts';
import { keyring } from '../helpers/api.ts';
import { startLiveWorld } from './live-world.ts';

const { pool, deps, orderOf, newCustomer, qrWith, untilBank, rowsOf } = await startLiveWorld();
const key = createReferenceSealer(keyring);

test('a live order carries its payment, sealed, to the bank side and back', async () => {
  const { partner, partnerId } = await newCustomer();
  const qr = await qrWith();
  const request = { qr_url: qr.link, external_id: 'заказ 7', metadata: { table: 12, note: '🍵' } };
  const { json } = await partner.pay(request, 'a key of the partner');
  const { reference } = await orderOf(json.id);
  expect(reference).toMatch(/^[\w-]{1,1024}$/);
  const stored = (await findPayment(pool, { partnerId, mode: 'live' }, json.id))!;
  const { status, statusDetail, gatewayOrderId, errorCode, settledAt, ...opened } = stored;
  const { leftOut, rateId, ...referenced } = openReference(reference, key, json.id)!;
  expect(referenced).toEqual({ ...opened, fingerprint: '' });
  expect(leftOut).toEqual([]);
  const { rows } = await pool.query('SELECT rate_id FROM payments WHERE qrc_id = $1', [qr.qrc_id]);
  expect(rateId).toBe(rows[0].rate_id);

  const { orders } = await deps.gateway.listOrders(new Date(0));
  expect(orders).toContainEqual(expect.objectContaining({ paymentId: json.id, reference }));
});

test('the longest payment that the API accepts is paid, and its order carries it', async () => {
  const { partner } = await newCustomer();
  const qr = await qrWith();
  const external_id = '\u{10fffd}'.repeat(128);
  const idempotencyKey = '~'.repeat(255);
  const metadata = { note: 'x'.repeat(16_000) };
  const { json } = await partner.pay({ qr_url: qr.link, external_id, metadata }, idempotencyKey);
  expect(json.status).toBe('succeeded');
  expect(openReference((await orderOf(json.id)).reference, key, json.id)).toMatchObject({
    idempotencyKey,
    externalId: external_id,
    metadata: '{}',
    leftOut: expect.arrayContaining(['metadata']),
  });
});

test('a bank side that does not know references pays all the same', async () => {
  const { partner } = await newCustomer();
  const qr = await qrWith({ on: 'pay', kind: 'without_reference' });
  const { json } = await partner.pay({ qr_url: qr.link });
  await untilBank(qr.qrc_id, 'paid');
  expect(json.status).toBe('succeeded');
  expect(await rowsOf(qr.qrc_id)).toMatchObject([{ status: 'succeeded' }]);
  const { orders } = await deps.gateway.listOrders(new Date(0));
  expect(orders).toContainEqual(expect.objectContaining({ paymentId: json.id, reference: null }));
});
