import { expect, test } from 'vitest';
import { startConsole } from '../../helpers/console.ts';
import { shardCount } from '../../helpers/shards.ts';
import { startSpansWorld } from './world.ts';

const { pool, simulator, customers } = await startSpansWorld();
const audit = await startConsole({ pool, gatewayUrl: simulator.address });
const admin = await audit.signIn('admin');

// biome-ignore lint/suspicious/noExplicitAny: a test reads any field, and fails if it is missing.
async function read(path: string): Promise<any> {
  const { status, json, text } = await admin.get(path);
  expect([path, status, status === 200 ? '' : text]).toEqual([path, 200, '']);
  return json;
}
const idsAt = async (path: string) =>
  (await read(path)).data.map(({ payment_id }: { payment_id: string }) => payment_id).toSorted();
const all = <Value>(pick: (customer: (typeof customers)[number]) => Value | Value[]) =>
  customers.flatMap(pick);

test('there is a partner in every shard', () => {
  expect(all(({ shard }) => shard).toSorted()).toEqual(
    Array.from({ length: shardCount }, (_, shard) => shard),
  );
  expect(all(({ paid, declined, open }) => [paid.status, declined.status, open.status])).toEqual(
    all(() => ['succeeded', 'failed', 'processing']),
  );
});

test('search finds the payments of all shards, by each of its filters', async () => {
  const everything = all(({ paid, declined, open }) => [paid.id, declined.id, open.id]).toSorted();
  expect(await idsAt('/payments?limit=100')).toEqual(everything);
  expect(await idsAt('/payments?external_id=declined%20order')).toEqual(
    all(({ declined }) => declined.id).toSorted(),
  );
  expect(await idsAt('/payments?status=processing')).toEqual(all(({ open }) => open.id).toSorted());
  expect(await idsAt('/payments?status=succeeded&mode=live')).toEqual(all(({ paid }) => paid.id).toSorted());
  expect(await idsAt('/payments?mode=test')).toEqual([]);
  for (const { paid, declined, open, partnerId } of customers) {
    expect(await idsAt(`/payments?q=${paid.id}`)).toEqual([paid.id]);
    expect(await idsAt(`/payments?q=${declined.qr.qrc_id}`)).toEqual([declined.id]);
    expect(await idsAt(`/payments?partner_id=${partnerId}`)).toEqual(
      [paid.id, declined.id, open.id].toSorted(),
    );
  }
});

test('pages of a search follow each other over all shards', async () => {
  const found: string[] = [];
  for (let after = ''; ; ) {
    const { data, next_cursor } = await read(`/payments?limit=5${after}`);
    found.push(...data.map(({ payment_id }: { payment_id: string }) => payment_id));
    if (!next_cursor) break;
    after = `&after=${next_cursor}`;
  }
  expect(found).toEqual(found.toSorted().toReversed());
  expect(found).toHaveLength(3 * customers.length);
});

test('totals, the export and the overview count all shards', async () => {
  const { totals } = await read('/payments/totals');
  expect(
    Object.fromEntries(totals.map(({ state, count }: { state: string; count: number }) => [state, count])),
  ).toEqual({
    succeeded: customers.length,
    failed: customers.length,
    processing: customers.length,
  });
  const { text } = await admin.get('/payments/export');
  for (const id of all(({ paid, declined, open }) => [paid.id, declined.id, open.id]))
    expect(text).toContain(id);
  expect(await read('/overview?minutes=10')).toMatchObject({
    ...{ created: 3 * customers.length, succeeded: customers.length, failed: customers.length },
    deliveries: { waiting: 0, failing: 0 },
  });
});

test.each(customers)('a payment of shard $shard is shown with all that belongs to it', async customer => {
  const { payment, timeline } = await read(`/payments/${customer.paid.id}`);
  expect(payment).toMatchObject({ payment_id: customer.paid.id, status: 'succeeded' });
  expect(timeline.length).toBeGreaterThan(1);
});

test('deliveries of all shards are listed, and each can be read and sent again', async () => {
  const { data } = await read('/deliveries?limit=100');
  expect(data).toHaveLength(2 * customers.length);
  for (const { partnerId, receiver } of customers) {
    const [one] = data.filter(({ partner_id }: { partner_id: string }) => partner_id === partnerId);
    const shown = await read(`/deliveries/${partnerId}/${one.event_id}`);
    expect(shown).toMatchObject({ delivery: { state: 'delivered' }, attempts: [{ attempt: 1 }] });
    const before = receiver.received.length;
    expect((await admin.post(`/events/${one.event_id}/resend?partner_id=${partnerId}`)).status).toBe(200);
    await expect.poll(() => receiver.received.length).toBe(before + 1);
  }
});

test('partners of all shards are listed and shown with their balances', async () => {
  const { data } = await read('/partners?limit=100');
  expect(data.map(({ partner_id }: { partner_id: string }) => partner_id)).toEqual(
    expect.arrayContaining(all(({ partnerId }) => partnerId)),
  );
  for (const { partnerId } of customers) {
    const { balances, endpoints } = await read(`/partners/${partnerId}`);
    expect(balances.live).toMatchObject({ available_usdt: '996.756756', held_usdt: '1.621622' });
    expect(endpoints).toHaveLength(1);
  }
});

test('the books of all shards add up', async () => {
  const { data } = await read('/ledger/accounts?limit=100');
  expect(
    new Set(data.map(({ partner_id }: { partner_id: string }) => partner_id)).size,
  ).toBeGreaterThanOrEqual(customers.length);
  const { total, rows } = await read('/ledger/trial-balance');
  expect(total).toEqual({ live_usdt: '0.000000', test_usdt: '0.000000' });
  const settled = (1.621622 * customers.length).toFixed(6);
  expect(rows).toContainEqual({ account: 'settled', live_usdt: settled, test_usdt: '0.000000' });
  for (const { partnerId } of customers) {
    const entries = await read(`/ledger/entries?partner_id=${partnerId}&mode=live`);
    expect(entries.data.map(({ kind }: { kind: string }) => kind)).toEqual([
      ...['hold', 'release', 'hold', 'settle', 'hold', 'credit'],
    ]);
    const day = new Date().toISOString().slice(0, 10);
    const statement = await read(`/partners/${partnerId}/statement?mode=live&format=json&day=${day}`);
    expect(statement.closing).toMatchObject({ available_usdt: '996.756756' });
  }
  expect((await admin.post('/ledger/verify')).json).toMatchObject({ ok: true, findings: [] });
});

test('no other page fails', async () => {
  const asked = audit.routes.filter(({ method, url }) => method === 'GET' && !url.includes(':'));
  expect(asked.length).toBeGreaterThan(15);
  for (const { url } of asked) {
    const { status } = await admin.get(url.replace('/console/api', ''));
    expect([url, status < 500]).toEqual([url, true]);
  }
});

test('an operator ends an unfinished payment of each shard', async () => {
  for (const { open } of customers) {
    const decision = {
      outcome: 'failed',
      reason: 'the bank says so',
      expected_status_detail: 'awaiting_gateway',
    };
    const { status, text } = await admin.post(`/payments/${open.id}/resolve`, decision);
    expect([status, status === 200 ? '' : text]).toEqual([200, '']);
  }
  expect(await idsAt('/payments?status=processing')).toEqual([]);
  expect((await admin.post('/ledger/verify')).json).toMatchObject({ ok: true, findings: [] });
});
