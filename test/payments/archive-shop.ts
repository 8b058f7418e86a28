import type { Pool } from '../../src/db/postgres/pool.ts';
import { listCredits } from '../../src/ledger/index.ts';
import { findPaymentAnywhere, paymentTimeline, searchPayments } from '../../src/payments/index.ts';
import { deliveryHistory } from '../../src/webhooks/index.ts';
import { newLink, partnerAt, setRate, startApi } from '../helpers/api.ts';
import { issueKey } from '../helpers/partners.ts';
import type { createPast } from './archive-world.ts';

export const withoutRequestId = (text: string) => text.replace(/"req_\w+"/g, '"req"');

/** A shop with test payments of January and February 2026, made through the API, and live ones made beside it. */
export async function createShopOfThePast(pool: Pool, past: Awaited<ReturnType<typeof createPast>>) {
  const { clock, at, pay, open, finish, newPartner } = past;
  const { address } = await startApi({ pool, clock });
  const partnerId = await newPartner();
  const shop = partnerAt(address, await issueKey(pool, partnerId, 'test'));
  const requests: { body: object; key: string; answer: string }[] = [];

  async function order(kopecks: number) {
    const body = { qr_url: newLink(kopecks), external_id: `order ${requests.length % 3}` };
    const key = `key ${requests.length}`;
    await setRate(pool, clock);
    const { text } = await shop.pay(body, key);
    requests.push({ body, key, answer: text });
  }

  for (const kopecks of [10_000, 10_001, 10_000, 10_001]) await order(kopecks);
  at('2026-01-31T23:59:59.900Z');
  const overMidnight = await open(partnerId);
  at('2026-02-01T00:00:00.100Z');
  await finish(overMidnight);
  at('2026-02-10T00:00:00Z');
  await order(10_000);
  await pay(partnerId);
  at('2026-03-20T00:00:00Z');
  await order(10_001);

  /** Everything that a partner or an operator can read, as text. */
  async function everything(): Promise<Record<string, string>> {
    const paths = [
      ...['/v1/payments?limit=100', '/v1/payments?limit=2', '/v1/payments?status=failed', '/v1/balance'],
      ...['/v1/payments?external_id=order%201', '/v1/payments?created_before=2026-02-01T00:00:00Z'],
      ...['/v1/events?limit=100', '/v1/events?limit=2', '/v1/events?after=evt_3'],
      ...['2026-01-20', '2026-01-31', '2026-02-01', '2026-02-10', '2026-03-05'].map(
        day => `/v1/statement?day=${day}`,
      ),
      ...requests.map(({ answer }) => `/v1/payments/${JSON.parse(answer).id}`),
    ];
    const live = partnerAt(address, await issueKey(pool, partnerId, 'live'));
    const texts: Record<string, string> = {};
    for (const [mode, caller] of Object.entries({ test: shop, live }))
      for (const path of paths) {
        const { text, status } = await caller.get(path);
        texts[`${mode} ${path}`] = `${status} ${withoutRequestId(text)}`;
      }
    const found = await searchPayments(pool, [{ partnerId }, { status: 'failed' }, { recipient: 'r' }], {
      limit: 50,
    });
    const asText = (value: unknown) =>
      JSON.stringify(value, (_key, member) => (typeof member === 'bigint' ? `${member}` : member));
    texts.search = asText(found);
    texts.credits = asText(await listCredits(pool, partnerId, 50));
    const payment = await findPaymentAnywhere(pool, overMidnight.paymentId);
    texts.timeline = asText([
      payment,
      await paymentTimeline(pool, payment!),
      await deliveryHistory(pool, payment!),
    ]);
    return texts;
  }

  return { address, shop, partnerId, requests, overMidnight, everything };
}
