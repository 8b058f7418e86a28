import { expect, test } from 'vitest';
import type { KeyStore } from '../../sdk/src/index.ts';
import { answer, cut, payment, refusal, scripted } from './fake.ts';

const params = { qr_url: 'https://qr.nspk.ru/AD1', external_id: 'order-42' };
const ok = answer(200, payment);
const declined = answer(200, { ...payment, status: 'failed' });
const keysOf = ({ requests }: ReturnType<typeof scripted>) =>
  requests.map(({ headers }) => headers['idempotency-key']);

function storeIn(kept: Map<string, string>): KeyStore {
  return { get: async id => kept.get(id), set: async (id, key) => void kept.set(id, key) };
}

test('every payment has its own key', async () => {
  const client = scripted([ok]);
  for (let count = 0; count < 3; count++) await client.kopeck.payments.create({ qr_url: params.qr_url });
  for (let count = 0; count < 3; count++)
    await client.kopeck.payments.create({ ...params, external_id: `${count}` });
  expect(new Set(keysOf(client)).size).toBe(6);
});

test('calling again for an order has the same key, until its payment has failed', async () => {
  const client = scripted([cut, refusal(400, 'invalid_qr'), ok, ok, declined, ok], { maxRetries: 0 });
  await expect(client.kopeck.payments.create(params)).rejects.toThrow();
  await expect(client.kopeck.payments.create({ ...params, metadata: { again: true } })).rejects.toThrow();
  for (let calls = 0; calls < 3; calls++) await client.kopeck.payments.create(params);
  const [first, ...repeats] = keysOf(client);
  expect(repeats).toEqual([first, first, first, first]);
  // The last one has failed: the next call is for a new payment.
  await client.kopeck.payments.create(params);
  expect(keysOf(client).at(-1)).not.toBe(first);
});

test('two calls for one order at once have one key', async () => {
  for (const keys of [undefined, storeIn(new Map())]) {
    const client = scripted([ok], { keys });
    await Promise.all([client.kopeck.payments.create(params), client.kopeck.payments.create(params)]);
    expect(new Set(keysOf(client)).size).toBe(1);
  }
});

test('with a store, a restarted process retries with the same key', async () => {
  const kept = new Map<string, string>();
  const before = scripted([cut], { keys: storeIn(kept), maxRetries: 0 });
  const error = await before.kopeck.payments.create(params).catch(error => error);
  expect(error.idempotencyKey).toBe(kept.get('order-42'));
  const after = scripted([ok], { keys: storeIn(kept) });
  await after.kopeck.payments.create(params);
  await after.kopeck.payments.create(params);
  await after.kopeck.payments.create({ ...params, external_id: 'order-43' });
  const [key] = keysOf(before);
  expect(keysOf(after)).toEqual([key, key, kept.get('order-43')]);
  expect(kept.get('order-43')).not.toBe(key);
});

test('nothing is sent before the key is stored', async () => {
  const full = { get: () => undefined, set: () => Promise.reject(new Error('disk full')) };
  const client = scripted([ok], { keys: full });
  await expect(client.kopeck.payments.create(params)).rejects.toThrow('disk full');
  // The next call tries to store a key again.
  await expect(client.kopeck.payments.create(params)).rejects.toThrow('disk full');
  expect(client.requests).toEqual([]);
});

test('a key of the caller is sent unchanged, and stored for the order', async () => {
  const kept = new Map<string, string>();
  const client = scripted([cut, ok], { keys: storeIn(kept), maxRetries: 0 });
  await expect(client.kopeck.payments.create(params, { idempotencyKey: 'mine' })).rejects.toThrow();
  await client.kopeck.payments.create(params);
  expect(keysOf(client)).toEqual(['mine', 'mine']);
  expect(kept.get('order-42')).toBe('mine');
});
