import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { type Id, newId, uuidFromId } from '../../src/base/ids.ts';
import type { Pool } from '../../src/db/postgres/pool.ts';
import { credit, listCredits, verifyLedger } from '../../src/ledger/index.ts';
import { createPartner, setLimits } from '../../src/partners/index.ts';
import { type ArchiveOptions, archiveMonths } from '../../src/payments/archive/archive.ts';
import { findPaymentAnywhere, paymentTimeline, searchPayments } from '../../src/payments/index.ts';
import type { NewPayment } from '../../src/payments/openings.ts';
import { createPaymentWriter } from '../../src/payments/store.ts';
import { deliveryHistory } from '../../src/webhooks/index.ts';
import { issueKey, newLink, partnerAt, setRate, startApi } from '../helpers/api.ts';
import { manualClock } from '../helpers/clock.ts';
import { auditContextOf } from '../helpers/database.ts';
import { openingsOf } from '../helpers/openings.ts';
import { processEnv } from '../helpers/process-env.ts';

/** Payments of early 2026, written through the money functions with a clock of that time. */
export async function createPast(pool: Pool, startIso = '2026-01-20T10:00:00Z') {
  const clock = manualClock(startIso);
  await setRate(pool, clock);
  const writer = createPaymentWriter(pool, clock);

  async function newPartner(): Promise<Id<'prt'>> {
    const audit = auditContextOf(pool, clock);
    const { partnerId } = await createPartner(audit, 'Shop of the past');
    await setLimits(audit, partnerId, {
      ...{ createRps: 100_000, createBurst: 100_000, otherRps: 100_000, concurrent: 10_000 },
    });
    const funding = { partnerId, mode: 'live', reference: 'funding', microUsdt: 10n ** 12n } as const;
    await credit(pool, clock, [funding]);
    return partnerId;
  }

  /** At the newest rate. */
  const opening = async (partnerId: Id<'prt'>, change: Partial<NewPayment> = {}) =>
    (await openingsOf(pool, clock))(partnerId, { paymentId: newId('pay', clock), ...change });
  const open = async (partnerId: Id<'prt'>, change: Partial<NewPayment> = {}) => {
    const payment = await opening(partnerId, change);
    const { verdict } = await writer.open(payment);
    if (verdict !== 'opened') throw new Error(verdict);
    return payment;
  };
  const finish = (payment: { partnerId: Id<'prt'>; mode: 'live' | 'test'; paymentId: Id<'pay'> }) =>
    writer.finish({ ...payment, outcome: 'succeeded', orderId: 'o' });
  const pay = async (partnerId: Id<'prt'>, change: Partial<NewPayment> = {}) => {
    const payment = await open(partnerId, change);
    await finish(payment);
    return payment;
  };
  const at = (iso: string) => clock.advance(Date.parse(iso) - clock.nowMs());
  const archive = (before: string, options: Partial<ArchiveOptions> = {}) =>
    archiveMonths(auditContextOf(pool, clock), { before: new Date(`${before}-01`), ...options });
  const findings = async () => (await verifyLedger(pool)).findings;
  const count = async (table: string, partnerId: Id<'prt'>) => {
    const { rows } = await pool.query<{ count: number }>(
      `SELECT count(*)::int AS count FROM ${table} WHERE partner_id = $1`,
      [uuidFromId(partnerId)],
    );
    return rows[0]!.count;
  };
  /** Rows of the partner: payments, events and entries, live and archived. */
  const rowsOf = async (partnerId: Id<'prt'>) => {
    const of = async (suffix: string) => [
      await count(`payments${suffix}`, partnerId),
      await count(`events${suffix}`, partnerId),
      await count(`entries${suffix}`, partnerId),
    ];
    return { live: await of(''), archived: await of('_archive') };
  };
  /** Gets both events of the contract, in both modes; nobody sends them. */
  const addEndpoint = (partnerId: Id<'prt'>) =>
    pool.query(
      `INSERT INTO endpoints (endpoint_id, partner_id, number, url, secret, events, created_at, changed_at)
       VALUES ($1, $1, 1, 'https://example.com', '', '{payment.succeeded,payment.failed}', now(), now())`,
      [uuidFromId(partnerId)],
    );
  /** As the owner of the database does it with an archived month. */
  const dropMonth = (month: string) =>
    pool.query(`
      UPDATE archived_months SET dropped_at = now() WHERE month = '${month}-01';
      DROP TABLE payments_archive_${month.replace('-', '_')}, events_archive_${month.replace('-', '_')}`);
  const ledger = { findings, rowsOf };
  return {
    ...{ clock, writer, opening, newPartner, addEndpoint, open, finish, pay, at, archive, dropMonth },
    ...ledger,
  };
}

/** Archives or prunes in another process, which kills itself after so many batches. Returns its output. */
export function maintainInProcess(
  work: 'archive' | 'prune',
  url: string,
  maxBatches = 1_000,
): Promise<string> {
  const script = join(import.meta.dirname, 'maintenance.process.ts');
  const child = spawn(process.execPath, [script, work, url, `${maxBatches}`], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: processEnv,
  });
  return text(child.stdout);
}

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
