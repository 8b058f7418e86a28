import { describe, expect, test } from 'vitest';
import { idFromUuid, newId, parseId } from '../../src/base/ids.ts';
import { findPayment } from '../../src/payments/index.ts';
import { expectMalformed, issueKey, newLink, partnerAt, setRate, startApi } from '../helpers/api.ts';
import { createTimedDatabase } from '../helpers/database.ts';
import { makeQr, openSimulator } from '../helpers/simulator.ts';
import { words } from '../helpers/words.ts';

const { pool, clock } = await createTimedDatabase();
await setRate(pool, clock);
const simulator = await openSimulator();
const api = await startApi({ pool, clock, gatewayUrl: simulator.address });
const { address } = api;

async function newPartner(payments: number[] = []) {
  const partner = await api.newPartner();
  const ids: string[] = [];
  for (const kopecks of payments) {
    clock.advance(1);
    ids.unshift((await partner.pay({ qr_url: newLink(kopecks) })).json.id);
  }
  return { ...partner, ids };
}
type Partner = Awaited<ReturnType<typeof newPartner>>;
const idsOf = (data: { id: string }[]) => data.map(({ id }) => id);

/** All pages from the first to the last. */
async function readAll(partner: Partner, query: string, between: () => Promise<unknown> = async () => {}) {
  const pages: string[][] = [];
  let cursor: string | null = null;
  do {
    const { status, json } = await partner.get(
      `/v1/payments?${query}${cursor ? `&starting_after=${cursor}` : ''}`,
    );
    expect(status).toBe(200);
    expect(json.has_more).toBe(json.next_cursor !== null);
    pages.push(idsOf(json.data));
    cursor = json.next_cursor;
    if (cursor) expect(cursor).toBe(pages.at(-1)!.at(-1));
    await between();
  } while (cursor);
  return pages;
}

describe('the list', () => {
  test('of a partner without payments is empty', async () => {
    const { json } = await (await newPartner()).get('/v1/payments');
    expect(json).toEqual({ data: [], has_more: false, next_cursor: null, request_id: expect.any(String) });
  });

  test('has the newest first, each as GET returns it', async () => {
    const partner = await newPartner([10_000, 10_001, 10_002]);
    const { data } = (await partner.get('/v1/payments')).json;
    expect(idsOf(data)).toEqual(partner.ids);
    for (const payment of data)
      expect((await partner.get(`/v1/payments/${payment.id}`)).json).toEqual(payment);
  });

  test('has no next cursor on the last page, full or not', async () => {
    const partner = await newPartner([10_000, 10_000, 10_000, 10_000]);
    const [a, b, c, d] = partner.ids;
    expect(await readAll(partner, 'limit=3')).toEqual([[a, b, c], [d]]);
    expect(await readAll(partner, 'limit=2')).toEqual([
      [a, b],
      [c, d],
    ]);
    expect(await readAll(partner, 'limit=4')).toEqual([[a, b, c, d]]);
    expect(await readAll(partner, 'limit=1')).toEqual([[a], [b], [c], [d]]);
  });

  test('does not shift between pages while payments are added', async () => {
    const partner = await newPartner([10_000, 10_000, 10_000, 10_000, 10_000]);
    const pages = await readAll(partner, 'limit=2', () => partner.pay({ qr_url: newLink(10_000) }));
    expect(pages.flat()).toEqual(partner.ids);
  });

  test('has 50 by default, and up to 100', async () => {
    const partner = await newPartner();
    // No more at once than the limit of a partner.
    for (const length of [51, 50])
      await Promise.all(Array.from({ length }, () => partner.pay({ qr_url: newLink(10_000) })));
    const sizes = async (query: string) => (await readAll(partner, query)).map(({ length }) => length);
    expect(await sizes('')).toEqual([50, 50, 1]);
    expect(await sizes('limit=100')).toEqual([100, 1]);
    expect(new Set((await readAll(partner, 'limit=100')).flat()).size).toBe(101);
  });

  test.each([
    ...['0', '101', '', '1.5', '1%00', '10&limit=20', '0x10', '1e1', '%205'].map(value => ['limit', value]),
    ...['', 'SUCCEEDED', 'rejected', 'succeeded&status=failed'].map(value => ['status', value]),
  ])('refuses as malformed: %s=%s', async (name, value) => {
    expectMalformed(await (await newPartner()).get(`/v1/payments?${name}=${value}`), 'query', name!);
  });

  test('names every objection', async () => {
    const { json } = await (await newPartner()).get('/v1/payments?limit=0&status=x');
    expect(json.detail.map(({ loc }: { loc: string[] }) => loc)).toEqual([
      ['query', 'limit'],
      ['query', 'status'],
    ]);
  });

  test('ignores unknown parameters', async () => {
    const partner = await newPartner([10_000]);
    const { json } = await partner.get('/v1/payments?__proto__=1&constructor=2&ending_before=x&mode=live');
    expect(idsOf(json.data)).toEqual(partner.ids);
  });
});

describe('a payment id', () => {
  const malformed = words(`x pay_01m7ehqr39e00aq7xw60wbe32jj pay_81m7ehqr39e00aq7xw60wbe32j
    PAY_01M7EHQR39E00AQ7XW60WBE32J req_01m7ehqr39e00aq7xw60wbe32j %00 '%20OR%201=1 ${'x'.repeat(5_000)}`);

  test.each(malformed)('that is malformed is not found: %s', async id => {
    const partner = await newPartner([10_000]);
    for (const path of [`/v1/payments/${id}`, `/v1/payments?starting_after=${id}`]) {
      const { status, json } = await partner.get(path);
      expect({ path, status, code: json.error?.code }).toEqual({ path, status: 404, code: 'not_found' });
    }
  });

  test('that is foreign, unknown, malformed or of the other mode gives one and the same answer', async () => {
    const [partner, otherPartner] = [await newPartner([10_000]), await newPartner([10_000])];
    const own = partner.ids[0]!;
    const callers = [
      [partner, otherPartner.ids[0]],
      [partner, newId('pay', clock)],
      [partner, 'nonsense'],
      [otherPartner, own],
      [partnerAt(address, partner.liveKey), own],
    ] as const;
    for (const query of ['/v1/payments/', '/v1/payments?starting_after=']) {
      const answers = [];
      for (const [caller, id] of callers) {
        const { status, json } = await caller.get(`${query}${id}`);
        answers.push({ status, error: { ...json.error, request_id: '' } });
      }
      expect(answers[0]).toMatchObject({ status: 404, error: { code: 'not_found' } });
      for (const answer of answers) expect(answer).toEqual(answers[0]);
    }
  });

  test('is seen with every key of its partner and mode', async () => {
    const partner = await newPartner([10_000]);
    const colleague = partnerAt(address, await issueKey(pool, partner.partnerId, 'test'));
    expect((await colleague.get(`/v1/payments/${partner.ids[0]}`)).status).toBe(200);
  });
});

describe('nobody sees', () => {
  const live = async (partner: Partner) => {
    const qr = await makeQr(simulator);
    const paid = await partnerAt(address, partner.liveKey).pay({ qr_url: qr.link });
    expect(paid.json).toMatchObject({ mode: 'live', status: 'succeeded' });
    return paid.json.id as string;
  };

  test('the payments of another partner or mode', async () => {
    const [partner, otherPartner] = [await newPartner([10_000, 10_000]), await newPartner([10_000])];
    const [mine, theirs] = [await live(partner), await live(otherPartner)];
    const listed = async (key: string) =>
      idsOf((await partnerAt(address, key).get('/v1/payments')).json.data);
    expect(await listed(partner.testKey)).toEqual(partner.ids);
    expect(await listed(partner.liveKey)).toEqual([mine]);
    expect(await listed(otherPartner.testKey)).toEqual(otherPartner.ids);
    expect(await listed(otherPartner.liveKey)).toEqual([theirs]);
    expect((await partner.get(`/v1/payments/${mine}`)).status).toBe(404);
    expect((await partner.get(`/v1/payments?starting_after=${mine}`)).status).toBe(404);
  });

  test('a finished payment of another, also after its owner has read it', async () => {
    const [partner, otherPartner] = [await newPartner([10_000]), await newPartner()];
    const path = `/v1/payments/${partner.ids[0]}`;
    const first = await partner.get(path);
    expect((await partner.get(path)).text).toBe(first.text);
    expect((await otherPartner.get(path)).status).toBe(404);
    expect((await partnerAt(address, partner.liveKey).get(path)).status).toBe(404);
  });

  test('an attempt that the gateway refused, not even as a cursor', async () => {
    const partner = await newPartner();
    const qr = await makeQr(simulator);
    await qr.fault({ on: 'pay', kind: 'changed_qr' });
    const shopper = partnerAt(address, partner.liveKey);
    const refused = await shopper.pay({ qr_url: qr.link });
    expect(refused.json.error.code).toBe('qr_changed');
    const { rows } = await pool.query("SELECT id FROM payments WHERE status = 'rejected'");
    const id = idFromUuid('pay', rows[0].id);
    expect((await shopper.get('/v1/payments')).json.data).toEqual([]);
    expect((await shopper.get(`/v1/payments/${id}`)).status).toBe(404);
    expect((await shopper.get(`/v1/payments?starting_after=${id}`)).status).toBe(404);
  });
});

test('many partners who read at once get each their own', async () => {
  const partners = await Promise.all([1, 2, 3, 4].map(() => newPartner([10_000, 10_101, 10_200])));
  const asked = partners.flatMap(partner =>
    partners.flatMap(({ ids }, owner) =>
      ids.map(id => ({ partner, id, isOwn: partners[owner] === partner })),
    ),
  );
  const answers = await Promise.all(asked.map(({ partner, id }) => partner.get(`/v1/payments/${id}`)));
  expect(answers.map(({ status, json }) => (status === 200 ? json.id : status))).toEqual(
    asked.map(({ id, isOwn }) => (isOwn ? id : 404)),
  );
  // In one batch, with some that are not there.
  const [{ partnerId, ids: own }, { ids: others }] = [partners[0]!, partners[1]!];
  const account = { partnerId, mode: 'test' } as const;
  const wanted = [...others, ...own].map(id => parseId('pay', id)!);
  const found = await Promise.all(wanted.map(id => findPayment(pool, account, id)));
  expect(found.map(payment => payment?.paymentId)).toEqual([undefined, undefined, undefined, ...own]);
});
