import { expect, test } from 'vitest';
import { newPaymentId } from '../helpers/database.ts';
import { startLocalServer } from '../helpers/local-server.ts';
import { gatewayOpener } from './orders.ts';

const bank = await startLocalServer();
const gateway = gatewayOpener()(bank.url);
const listed = (change: object = {}) => ({
  payment_id: newPaymentId(),
  order_id: 'ord_000000001',
  state: 'succeeded',
  reason: null,
  amount_kopecks: 15_000,
  qrc_id: 'AD10004MV5CJ3D638358RO81129CE63P',
  created_at: '2026-11-15T10:00:00.000Z',
  updated_at: '2026-11-15T10:00:00.000Z',
  ...change,
});
const list = () => gateway.listOrders(new Date(0));

test.each([
  ['as it was sent', 'a'.repeat(1_024), 'a'.repeat(1_024)],
  ['of a bank side that does not know it', undefined, null],
  ['that is null', null, null],
  ['that is too long', 'a'.repeat(1_025), null],
  ['that cannot be stored', 'a\0b', null],
  ['that is no text', 7, null],
])('a reference %s fails no page', async (_case, reference, expected) => {
  bank.answerWith({ orders: [listed({ reference }), listed({ reference: 'r' })], next_cursor: null });
  const { orders } = await list();
  expect(orders.map(order => order.reference)).toEqual([expected, 'r']);
});

test('a page of a thousand orders with the longest references is read', async () => {
  const texts = { order_id: 'o'.repeat(256), reference: 'r'.repeat(1_024) };
  bank.answerWith({ orders: Array.from({ length: 1_000 }, () => listed(texts)), next_cursor: 'next' });
  const { orders, nextCursor } = await list();
  expect(orders).toHaveLength(1_000);
  expect(orders.every(({ reference }) => reference === texts.reference)).toBe(true);
  expect(nextCursor).toBe('next');
});

test('a page that is too long is not read to its end', async () => {
  bank.answerWith({ orders: [listed({ reference: 'r'.repeat(5 * 1024 * 1024) })], next_cursor: null });
  await expect(list()).rejects.toThrow('returned no list of orders');
});
