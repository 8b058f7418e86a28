import { takeNewAlarms } from '../../alarms/index.ts';
import { instantOf } from '../../base/clock.ts';
import { idFromUuid } from '../../base/ids.ts';
import { formatKopecks, formatMicroUsdt } from '../../base/money.ts';
import { writeNotice } from '../../db/notices/index.ts';
import { type Queryable, transaction } from '../../db/postgres/index.ts';
import { noticeExpiries } from '../../partners/index.ts';
import { isStale, readCurrentRate } from '../../rates/index.ts';
import { noticeFinishedMonths } from '../../reports/index.ts';
import type { BotDeps } from '../deps.ts';
import { addJob } from './outbox.ts';

/** Most payments end within seconds; the partner is notified of one that takes this long. */
const longPaymentMs = 10 * 60_000;

type MonitorDeps = Pick<BotDeps, 'pool' | 'clock' | 'rateMaxAgeSec' | 'telegramStaffChat'>;

/** Finds states that no event reports. A finding is marked in the transaction of its notice, so it is sent once. */
export async function monitor(deps: MonitorDeps): Promise<void> {
  const expiries = (tx: Queryable) => noticeExpiries(tx, deps.clock);
  const months = (tx: Queryable) => noticeFinishedMonths(tx, deps.clock);
  for (const find of [monitorBalances, monitorPayments, monitorRate, expiries, months, monitorForStaff])
    await transaction(deps.pool, tx => find(tx, deps));
}

async function monitorBalances(tx: Queryable, { clock }: MonitorDeps): Promise<void> {
  await tx.query({
    text: `UPDATE balance_marks b SET low_since = NULL FROM accounts a
            WHERE a.partner_id = b.partner_id AND a.mode = 'live' AND b.low_since IS NOT NULL
              AND a.available >= b.low_micro_usdt`,
  });
  const { rows } = await tx.query<{ partner_id: string; available: bigint; low_micro_usdt: bigint }>({
    text: `UPDATE balance_marks b SET low_since = $1 FROM accounts a
            WHERE a.partner_id = b.partner_id AND a.mode = 'live' AND b.low_since IS NULL
              AND a.available < b.low_micro_usdt
           RETURNING b.partner_id, a.available, b.low_micro_usdt`,
    values: [instantOf(clock)],
  });
  for (const row of rows)
    await writeNotice(tx, clock, idFromUuid('prt', row.partner_id), 'balance_low', {
      balance_usdt: formatMicroUsdt(row.available),
      mark_usdt: formatMicroUsdt(row.low_micro_usdt),
    });
}

interface LongRow {
  partner_id: string;
  id: string;
  status: string;
  external_id: string | null;
  amount_kopecks: bigint;
}

async function monitorPayments(tx: Queryable, { clock }: MonitorDeps): Promise<void> {
  const { rows: begun } = await tx.query<LongRow>({
    text: `WITH long AS (
             INSERT INTO long_payments (partner_id, mode, payment_id)
               SELECT o.partner_id, o.mode, o.payment_id FROM open_payments o
                 JOIN payments p ON p.partner_id = o.partner_id AND p.mode = o.mode AND p.id = o.payment_id
                WHERE o.mode = 'live' AND p.created_at < $1
             ON CONFLICT DO NOTHING RETURNING *)
           SELECT p.* FROM long l
             JOIN payments p ON p.partner_id = l.partner_id AND p.mode = l.mode AND p.id = l.payment_id`,
    values: [new Date(clock.nowMs() - longPaymentMs)],
  });
  const { rows: ended } = await tx.query<LongRow>({
    text: `DELETE FROM long_payments l USING payments p
            WHERE p.partner_id = l.partner_id AND p.mode = l.mode AND p.id = l.payment_id
              AND p.status <> 'processing' RETURNING p.*`,
  });
  for (const [kind, found] of [
    ['payment_in_review', begun],
    ['payment_review_ended', ended],
  ] as const)
    for (const row of found)
      await writeNotice(tx, clock, idFromUuid('prt', row.partner_id), kind, {
        payment_id: idFromUuid('pay', row.id),
        external_id: row.external_id,
        amount_rub: formatKopecks(row.amount_kopecks),
        status: row.status,
      });
}

async function monitorRate(tx: Queryable, { clock, rateMaxAgeSec }: MonitorDeps): Promise<void> {
  const rate = await readCurrentRate(tx);
  // Nobody relies on a rate before the first one.
  if (!rate) return;
  const stale = isStale(rate, clock, rateMaxAgeSec);
  const { rowCount } = await tx.query({
    text: 'UPDATE service SET rate_stale_notified = $1 WHERE rate_stale_notified <> $1',
    values: [stale],
  });
  if (rowCount) await writeNotice(tx, clock, null, stale ? 'rate_stale' : 'rate_fresh');
}

/** New alarms that are still open, and partners that wait for approval. */
async function monitorForStaff(tx: Queryable, { clock, telegramStaffChat }: MonitorDeps): Promise<void> {
  // Without a staff chat nothing is marked, so that a chat set later gets it all.
  if (telegramStaffChat === undefined) return;
  const at = instantOf(clock);
  for (const { alarmId, kind, subject, detail } of await takeNewAlarms(tx, clock))
    await addJob(tx, clock, null, { do: 'alarm', alarmId, kind, subject, detail });
  // Selected first, since every update of this table clears the key caches of all processes.
  const { rows: partners } = await tx.query<{ id: string; name: string }>({
    text: `SELECT id, name FROM partners WHERE NOT live_approved AND approval_asked_at IS NULL FOR UPDATE`,
  });
  for (const { id, name } of partners) {
    await tx.query({ text: 'UPDATE partners SET approval_asked_at = $2 WHERE id = $1', values: [id, at] });
    await addJob(tx, clock, null, { do: 'approval', partnerId: idFromUuid('prt', id), name });
  }
}
