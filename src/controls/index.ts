import { type Clock, instantOf } from '../base/clock.ts';
import { type AuditContext, recordChange } from '../db/audit/index.ts';
import { sharedRead } from '../db/batching/index.ts';
import { writeNotice } from '../db/notices/index.ts';
import { hasRow, type Queryable, readRows, readValue, transaction } from '../db/postgres/index.ts';
import { pruneOlder } from '../db/retention/index.ts';

/** What can stop new payments. */
export interface PaymentStops {
  /** Switched on, or within a planned window. */
  isUnderMaintenance: boolean;
  /** The database may have forgotten payments, and is being compared with the gateway. */
  isRecovering: boolean;
  /** Orders of the gateway without a payment block their codes and keys. */
  hasStrayOrders: boolean;
}

interface StopsRow {
  maintenance: boolean;
  recovering: boolean;
  stray: boolean;
  from_at: Date | null;
  until_at: Date | null;
}

/** Read for every payment: one statement serves all concurrent callers, each with its own time. */
const readStops = sharedRead<number, PaymentStops>(async (db, askedAtMs) => {
  const { rows } = await db.query<StopsRow>({
    name: 'what stops payments',
    text: `SELECT s.maintenance, w.from_at, w.until_at,
                  EXISTS (SELECT FROM incarnations WHERE opened_at IS NULL) AS recovering,
                  EXISTS (SELECT FROM stray_orders WHERE released_at IS NULL) AS stray
             FROM service s LEFT JOIN maintenance_windows w
               ON w.cancelled_at IS NULL AND w.until_at > $1 AND w.from_at <= $2`,
    values: [new Date(Math.min(...askedAtMs)), new Date(Math.max(...askedAtMs))],
  });
  const { maintenance, recovering, stray } = rows[0]!;
  const isOpen = ({ from_at, until_at }: StopsRow, atMs: number) =>
    from_at !== null && from_at.getTime() <= atMs && until_at!.getTime() > atMs;
  return askedAtMs.map(atMs => ({
    isUnderMaintenance: maintenance || rows.some(row => isOpen(row, atMs)),
    isRecovering: recovering,
    hasStrayOrders: stray,
  }));
});

export const readPaymentStops = (db: Queryable, clock: Clock) => readStops(db, clock.nowMs());

export const isUnderMaintenance = async (db: Queryable, clock: Clock) =>
  (await readPaymentStops(db, clock)).isUnderMaintenance;

/**
 * While it is on, no new payment is accepted; running ones continue. Switching it off also ends an open window, since
 * the operator wants payments now.
 */
export const setMaintenance = (audit: AuditContext, maintenance: boolean): Promise<void> =>
  transaction(audit.pool, async tx => {
    const before = await readValue<boolean>(tx, { text: 'SELECT maintenance FROM service FOR UPDATE' });
    const ended = maintenance ? 0 : await cancel(tx, audit, 'from_at <= $1', []);
    if (before === maintenance && ended === 0) return;
    if (before !== maintenance) {
      await tx.query({ text: 'UPDATE service SET maintenance = $1', values: [maintenance] });
      await recordChange(tx, audit, {
        action: maintenance ? 'maintenance.on' : 'maintenance.off',
        subject: 'service',
        before: { maintenance: before },
        after: { maintenance },
      });
    }
    await writeNotice(tx, audit.clock, null, maintenance ? 'maintenance_on' : 'maintenance_off');
  });

type Plan =
  | { outcome: 'planned'; windowId: bigint }
  | { outcome: 'until_before_from' | 'over_already' | 'too_long' };

/** Guards against a mistyped year, which would stop payments for that long. */
const maxWindowMs = 7 * 86_400_000;

/** Partners are notified now; the window opens and closes by itself. */
export const planMaintenance = (
  audit: AuditContext,
  { from, until }: { from: Date; until: Date },
): Promise<Plan> =>
  transaction(audit.pool, async tx => {
    if (until <= from) return { outcome: 'until_before_from' };
    if (until <= instantOf(audit.clock)) return { outcome: 'over_already' };
    if (until.getTime() - from.getTime() > maxWindowMs) return { outcome: 'too_long' };
    const windowId = await readValue<bigint>(tx, {
      text: `INSERT INTO maintenance_windows (from_at, until_at, planned_by, planned_at) VALUES ($1, $2, $3, $4)
             RETURNING id`,
      values: [from, until, audit.actor, instantOf(audit.clock)],
    });
    const times = timesOf({ from, until });
    await recordChange(tx, audit, {
      action: 'maintenance.plan',
      subject: 'service',
      after: { ...times, window_id: windowId },
    });
    await writeNotice(tx, audit.clock, null, 'maintenance_planned', times);
    return { outcome: 'planned', windowId };
  });

/** Partners are notified that the window is cancelled, or, if it was open, that maintenance is over. */
export function cancelMaintenance(audit: AuditContext, windowId: bigint): Promise<'cancelled' | 'no_window'> {
  return transaction(audit.pool, async tx =>
    (await cancel(tx, audit, 'id = $4', [windowId], { notify: true })) > 0 ? 'cancelled' : 'no_window',
  );
}

async function cancel(
  tx: Queryable,
  audit: AuditContext,
  which: string,
  values: unknown[],
  { notify = false } = {},
): Promise<number> {
  const now = instantOf(audit.clock);
  const rows = await readRows<{ id: bigint; from: Date; until: Date }>(tx, {
    text: `UPDATE maintenance_windows SET cancelled_at = $2, cancelled_by = $3
            WHERE until_at > $1 AND cancelled_at IS NULL AND ${which}
           RETURNING id, from_at AS "from", until_at AS until`,
    values: [now, now, audit.actor, ...values],
  });
  for (const { id, from, until } of rows) {
    const times = timesOf({ from, until });
    await recordChange(tx, audit, {
      action: 'maintenance.cancel',
      subject: 'service',
      before: { ...times, window_id: id },
    });
    if (!notify) continue;
    if (from <= now) {
      // The switch or another window may still be on.
      if (!(await isUnderMaintenance(tx, audit.clock)))
        await writeNotice(tx, audit.clock, null, 'maintenance_off');
    } else await writeNotice(tx, audit.clock, null, 'maintenance_cancelled', times);
  }
  return rows.length;
}

const timesOf = ({ from, until }: { from: Date; until: Date }) => ({
  from: from.toISOString(),
  until: until.toISOString(),
});

/** Open and future windows, the next one first. */
export const listMaintenance = (db: Queryable, clock: Clock) =>
  readRows<{ windowId: bigint; from: Date; until: Date; plannedBy: string }>(db, {
    text: `SELECT id AS "windowId", from_at AS "from", until_at AS "until", planned_by AS "plannedBy"
             FROM maintenance_windows WHERE until_at > $1 AND cancelled_at IS NULL ORDER BY from_at, id LIMIT 100`,
    values: [instantOf(clock)],
  });

/** When it was planned, and by whom, is in the audit too. */
export const pruneMaintenance = (db: Queryable, clock: Clock) =>
  pruneOlder(db, clock, { table: 'maintenance_windows', since: 'until_at', keptDays: 365 });

/** Names are compared case-insensitively and with whitespace collapsed. */
const fold = (recipient: string) => recipient.trim().replace(/\s+/g, ' ').toLowerCase();

/** Whether it was changed: it may be so already. */
const change = (audit: AuditContext, idOrName: string, blocked: boolean): Promise<boolean> =>
  transaction(audit.pool, async tx => {
    const recipient = fold(idOrName);
    const isChanged = await hasRow(
      tx,
      blocked
        ? {
            text: 'INSERT INTO blocked_recipients (recipient, blocked_at) VALUES ($1, $2) ON CONFLICT DO NOTHING',
            values: [recipient, instantOf(audit.clock)],
          }
        : { text: 'DELETE FROM blocked_recipients WHERE recipient = $1', values: [recipient] },
    );
    if (isChanged)
      await recordChange(tx, audit, {
        action: blocked ? 'recipient.block' : 'recipient.unblock',
        subject: recipient,
        before: { blocked: !blocked },
        after: { blocked },
      });
    return isChanged;
  });

export const blockRecipient = async (audit: AuditContext, idOrName: string) =>
  (await change(audit, idOrName, true)) ? 'blocked' : 'already_blocked';

export const unblockRecipient = async (audit: AuditContext, idOrName: string) =>
  (await change(audit, idOrName, false)) ? 'unblocked' : 'not_blocked';

export const listBlockedRecipients = (db: Queryable) =>
  readRows<{ recipient: string; blockedAt: Date }>(db, {
    text: 'SELECT recipient, blocked_at AS "blockedAt" FROM blocked_recipients ORDER BY recipient',
  });

/** What the name and the id of a recipient are compared by. */
export const foldRecipient = ({ recipient, recipientId }: { recipient: string; recipientId: string }) => ({
  name: fold(recipient),
  id: fold(recipientId),
});

/** Whether any of a recipient's names or ids is blocked. */
export const isRecipientBlocked = sharedRead(async (db, asked: string[][]) => {
  const folded = asked.map(names => names.map(fold));
  const { rows } = await db.query<{ recipient: string }>({
    name: 'which recipients are blocked',
    text: 'SELECT recipient FROM blocked_recipients WHERE recipient = ANY($1)',
    values: [folded.flat()],
  });
  const blocked = new Set(rows.map(({ recipient }) => recipient));
  return folded.map(names => names.some(name => blocked.has(name)));
});
