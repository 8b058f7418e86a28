import { expect, test } from 'vitest';
import { Kopeck } from '../../sdk/src/index.ts';
import { issueKey, partnerAt, startApi } from '../helpers/api.ts';
import { createDatabase } from '../helpers/database.ts';
import { createRefundsWorld } from './refunds-world.ts';

const { pool } = await createDatabase();
const { pay, refund, round, archive, dropMonth, at, clock, newPartner, findings } =
  await createRefundsWorld(pool);
const { address } = await startApi({ pool, clock });

test('the feed goes on after refunds whose payments were dropped with their month', async () => {
  const partnerId = await newPartner();
  for (let nth = 0; nth < 5; nth++) {
    const payment = await pay(partnerId);
    refund(payment.paymentId, Number(payment.amountKopecks));
  }
  await round();
  at('2026-03-10T00:00:00Z');
  await archive('2026-02');
  await dropMonth('2026-01');
  const later = [await pay(partnerId), await pay(partnerId)];
  refund(later[0]!.paymentId, 100);
  await round();

  const key = await issueKey(pool, partnerId, 'live');
  const partner = partnerAt(address, key);
  const seen: string[] = [];
  let after = 'evt_0';
  for (let hasMore = true; hasMore; ) {
    const { status, json } = await partner.get(
      `/v1/events?extra_events=payment.refunded&limit=2&after=${after}`,
    );
    expect(status).toBe(200);
    // Each page goes on, also one that can show nothing.
    expect(json.next_cursor).not.toBe(after);
    seen.push(
      ...json.data.map((event: { event: string; data: { id: string } }) => `${event.event} ${event.data.id}`),
    );
    ({ next_cursor: after, has_more: hasMore } = json);
  }
  const expected = [
    ...later.map(({ paymentId }) => `payment.succeeded ${paymentId}`),
    `payment.refunded ${later[0]!.paymentId}`,
  ];
  expect(seen).toEqual(expected);

  // A position on what cannot be listed is still one, whichever events a reader asks for.
  const { next_cursor: among } = (await partner.get('/v1/events?extra_events=payment.refunded&limit=2')).json;
  expect((await partner.get(`/v1/events?after=${among}`)).json.data).toHaveLength(2);

  const { fetch } = globalThis;
  const small: typeof fetch = (url, init) => fetch(`${url}`.replace('limit=100', 'limit=2'), init);
  const kopeck = new Kopeck({ apiKey: key, baseUrl: address, fetch: small });
  const read: string[] = [];
  for await (const event of kopeck.events.read({ follow: false, extraEvents: 'payment.refunded' }))
    read.push(`${event.event} ${event.data.id}`);
  expect(read).toEqual(expected);
  expect(await findings()).toEqual([]);
});
