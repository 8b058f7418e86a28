import { instantOf } from '../base/clock.ts';
import { idFromUuid } from '../base/ids.ts';
import { type AuditContext, recordChange } from '../db/audit/index.ts';
import { type Pool, type Queryable, readValue, transaction } from '../db/postgres/index.ts';
import { archiveInvariants } from './archive-invariants.ts';
import { checkpointInvariants, checkpointLegs, checkpoints, entriesAfterCheckpoints } from './checkpoints.ts';
import { depositInvariants } from './deposit-invariants.ts';
import { refundInvariants } from './refund-invariants.ts';

/** A broken invariant of one partner and mode. */
export interface Finding {
  invariant: string;
  partnerId: string;
  mode: string;
  detail: string;
}

/** Now, and a tolerance for times that a process has estimated. The snapshot may be older, never newer. */
const latest = "coalesce($1::timestamptz, clock_timestamp()) + interval '10 s'";

/**
 * Each query returns what breaks the invariant. The queries rely neither on the SQL function that writes nor on the
 * constraints: every balance is added up again from the entries alone, of a pruned test account from its checkpoint on.
 */
const invariants: Record<string, string> = {
  'entries add up to the balances': `
    WITH legs AS (
      SELECT partner_id, mode, from_account AS account, -micro_usdt AS change FROM ${entriesAfterCheckpoints} AS e
      UNION ALL
      SELECT partner_id, mode, to_account, micro_usdt FROM ${entriesAfterCheckpoints} AS e
      UNION ALL
      SELECT partner_id, mode, account, change FROM (${checkpointLegs}) AS c),
    sums AS (
      SELECT partner_id, mode, account, sum(change) AS total FROM legs GROUP BY 1, 2, 3),
    balances AS (
      SELECT partner_id, mode, account, total FROM accounts, LATERAL (VALUES
        ('topup'::account, topup), ('treasury', treasury), ('available', available), ('held', held),
        ('settled', settled)) AS v (account, total))
    SELECT partner_id, mode,
           format('%s is %s, its entries say %s', account, coalesce(b.total, 0), coalesce(s.total, 0)) AS detail
      FROM balances b FULL JOIN sums s USING (partner_id, mode, account)
     WHERE coalesce(b.total, 0) <> coalesce(s.total, 0)`,

  'all accounts sum to zero': `
    SELECT partner_id, mode, format('they sum to %s', topup + treasury + available + held + settled) AS detail
      FROM accounts WHERE topup + treasury + available + held + settled <> 0`,

  'no balance is below zero': `
    SELECT partner_id, mode, format('available %s, held %s, settled %s', available, held, settled) AS detail
      FROM accounts WHERE least(available, held, settled) < 0`,

  'entries are numbered without gaps': `
    SELECT partner_id, mode, format('%s entries and %s skipped numbers, the last is number %s, the account says %s',
             coalesce(c.entry_no, 0) + coalesce(e.count, 0), coalesce(g.skipped, 0), greatest(e.last, g.last, c.entry_no, 0),
             coalesce(a.entry_count, 0)) AS detail
      FROM accounts a
      FULL JOIN (SELECT partner_id, mode, count(*), max(entry_no) AS last FROM ${entriesAfterCheckpoints} AS e
                  GROUP BY 1, 2) AS e USING (partner_id, mode)
      LEFT JOIN ${checkpoints} AS c USING (partner_id, mode)
      LEFT JOIN (SELECT partner_id, mode, sum(next_no - after_no - 1) AS skipped, max(next_no) - 1 AS last
                   FROM entry_gaps LEFT JOIN ${checkpoints} AS c USING (partner_id, mode)
                  WHERE after_no >= coalesce(c.entry_no, 0) GROUP BY 1, 2) AS g USING (partner_id, mode)
     WHERE coalesce(c.entry_no, 0) + coalesce(e.count, 0) + coalesce(g.skipped, 0) <> coalesce(a.entry_count, 0)
        OR greatest(e.last, g.last, c.entry_no, 0) <> coalesce(a.entry_count, 0)
    UNION ALL
    SELECT partner_id, mode, format('entry %s has a number that was skipped', e.entry_no)
      FROM entry_gaps g JOIN all_entries e USING (partner_id, mode)
     WHERE e.entry_no > g.after_no AND e.entry_no < g.next_no`,

  'times never go back': `
    SELECT partner_id, mode, format('entry %s is of %s, the one before it of %s', entry_no, created_at, before) AS detail
      FROM (SELECT *, lag(created_at) OVER (PARTITION BY partner_id, mode ORDER BY entry_no) AS before
              FROM (SELECT partner_id, mode, entry_no, created_at FROM ${entriesAfterCheckpoints} AS e
                    UNION ALL SELECT partner_id, mode, entry_no, at FROM ${checkpoints} AS c) AS t) AS e
     WHERE created_at < before`,

  'no time is in the future': `
    SELECT partner_id, mode,
           format('%s entries from entry %s on, the last of %s', count(*), min(entry_no), max(created_at)) AS detail
      FROM entries WHERE created_at > ${latest} GROUP BY 1, 2
    UNION ALL
    SELECT partner_id, mode, format('the next entry would be of %s', last_entry_at)
      FROM accounts WHERE last_entry_at > ${latest}`,

  'each entry carries the balance after it': `
    WITH legs AS (
      SELECT partner_id, mode, entry_no, from_account AS account, -micro_usdt AS change, from_after AS after
        FROM ${entriesAfterCheckpoints} AS e
      UNION ALL
      SELECT partner_id, mode, entry_no, to_account, micro_usdt, to_after FROM ${entriesAfterCheckpoints} AS e
      UNION ALL
      ${checkpointLegs}),
    running AS (
      SELECT *, sum(change) OVER (PARTITION BY partner_id, mode, account ORDER BY entry_no) AS total FROM legs)
    SELECT partner_id, mode, format('entry %s leaves %s at %s, it says %s', entry_no, account, total, after) AS detail
      FROM running WHERE total <> after`,

  'one hold per payment, and at most one settle or release of the same amount': `
    SELECT partner_id, mode, format('payment %s: %s holds of %s, %s settles, %s releases', payment_id, holds,
             held, settles, releases) AS detail
      FROM (SELECT partner_id, mode, payment_id,
                   count(*) FILTER (WHERE from_account = 'available') AS holds,
                   count(*) FILTER (WHERE to_account = 'settled') AS settles,
                   count(*) FILTER (WHERE from_account = 'held' AND to_account = 'available') AS releases,
                   min(micro_usdt) AS least, max(micro_usdt) AS held
              FROM all_entries WHERE payment_id IS NOT NULL GROUP BY 1, 2, 3) AS payments
     WHERE holds <> 1 OR settles + releases > 1 OR least <> held`,

  'one credit per reference': `
    SELECT partner_id, mode, format('%s credits for "%s"', count(*), reference) AS detail
      FROM all_entries WHERE reference IS NOT NULL GROUP BY partner_id, mode, reference HAVING count(*) > 1`,

  'what is held is the sum of the open holds': `
    SELECT a.partner_id, a.mode, format('held is %s, open holds are %s', a.held, coalesce(o.total, 0)) AS detail
      FROM accounts a LEFT JOIN (
           SELECT partner_id, mode, sum(micro_usdt) AS total
             FROM all_entries h
            WHERE from_account = 'available' AND NOT EXISTS (
                  SELECT FROM all_entries e WHERE e.partner_id = h.partner_id AND e.mode = h.mode
                     AND e.payment_id = h.payment_id AND e.from_account = 'held')
            GROUP BY 1, 2) AS o USING (partner_id, mode)
     WHERE a.held <> coalesce(o.total, 0)`,

  'the turnover of the day is the sum of its payments': `
    SELECT a.partner_id, a.mode, format('the turnover of %s is %s, its payments say %s', a.turnover_day,
             a.turnover_kopecks, coalesce(p.total, 0)) AS detail
      FROM accounts a LEFT JOIN (
           SELECT partner_id, mode, (created_at AT TIME ZONE 'UTC')::date AS day, sum(amount_kopecks) AS total
             FROM all_payments WHERE status IN ('processing', 'succeeded')
            GROUP BY 1, 2, 3) AS p ON (p.partner_id, p.mode, p.day) = (a.partner_id, a.mode, a.turnover_day)
     WHERE a.turnover_day IS NOT NULL AND a.turnover_kopecks <> coalesce(p.total, 0)
       -- A payment of a month's first moments may have an id of the month before.
       AND NOT EXISTS (SELECT FROM archived_months m WHERE m.dropped_at IS NOT NULL
                          AND a.turnover_day BETWEEN m.month AND m.month + interval '1 month')
       AND NOT EXISTS (SELECT FROM ${checkpoints} AS c WHERE c.partner_id = a.partner_id AND c.mode = a.mode
                          AND a.turnover_day <= (c.at AT TIME ZONE 'UTC')::date)`,

  ...refundInvariants,
  ...depositInvariants,
  ...checkpointInvariants,
  ...archiveInvariants,
};

type Verification = Awaited<ReturnType<typeof checkInvariants>>;

const maxFindingsPerInvariant = 20;
/** A ledger of many years takes minutes to read; each query may take this long. */
const timeLimitMs = 3_600_000;

export interface VerifyOptions {
  /** The time now, for tests with a clock of their own; by default the database's. */
  now?: Date;
  /** Called before each invariant. */
  onProgress?(invariant: string): void;
}

/** Verifies the whole ledger in one snapshot, so it may run beside the service. */
export function verifyLedger(pool: Pool, options?: VerifyOptions): Promise<Verification> {
  return transaction(
    pool,
    async tx => {
      await tx.query({ text: `SET LOCAL statement_timeout = ${timeLimitMs}` });
      return checkInvariants(tx, options);
    },
    'BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY',
  );
}

type TimedVerification = Awaited<ReturnType<typeof verifyOnRecord>>;

const underWay = new WeakMap<Pool, Promise<TimedVerification>>();

/** For the console: one verification at a time per process; calls meanwhile share its result. Audited for the first caller. */
export function verifyShared(audit: AuditContext): Promise<TimedVerification> {
  const running = underWay.get(audit.pool);
  if (running) return running;
  const verification = verifyOnRecord(audit).finally(() => underWay.delete(audit.pool));
  underWay.set(audit.pool, verification);
  return verification;
}

async function verifyOnRecord(audit: AuditContext) {
  const startedAt = audit.clock.monotonicMs();
  const verification = await verifyLedger(audit.pool, { now: instantOf(audit.clock) });
  const { entries, findings } = verification;
  await recordChange(audit.pool, audit, {
    action: 'ledger.verify',
    subject: 'ledger',
    after: { entries, findings: findings.length },
  });
  return { ...verification, durationMs: Math.round(audit.clock.monotonicMs() - startedAt) };
}

export async function checkInvariants(db: Queryable, { now, onProgress }: VerifyOptions = {}) {
  const findings: Finding[] = [];
  for (const [invariant, sql] of Object.entries(invariants)) {
    onProgress?.(invariant);
    const { rows } = await db.query<{ partner_id: string; mode: string; detail: string }>({
      text: `${sql} LIMIT ${maxFindingsPerInvariant}`,
      values: sql.includes('$1') ? [now] : [],
      query_timeout: timeLimitMs,
    });
    for (const { partner_id, mode, detail } of rows) {
      findings.push({ invariant, partnerId: idFromUuid('prt', partner_id), mode, detail });
    }
  }
  const counting = { text: 'SELECT count(*) FROM all_entries', query_timeout: timeLimitMs };
  const entries = await readValue<bigint>(db, counting);
  return { invariants: Object.keys(invariants), entries, findings };
}
