import { instantOf } from '../base/clock.ts';
import { type AuditContext, recordChange } from '../db/audit/index.ts';
import { sharedRead } from '../db/batching/index.ts';
import { type Queryable, transaction } from '../db/postgres/index.ts';

export interface BlockedRecipient {
  recipient: string;
  blockedAt: Date;
}

/** Names are compared case-insensitively and with whitespace collapsed. */
const fold = (recipient: string) => recipient.trim().replace(/\s+/g, ' ').toLowerCase();

export function blockRecipient(
  audit: AuditContext,
  idOrName: string,
): Promise<'blocked' | 'already_blocked'> {
  const recipient = fold(idOrName);
  return transaction(audit.pool, async tx => {
    const { rowCount } = await tx.query({
      text: 'INSERT INTO blocked_recipients (recipient, blocked_at) VALUES ($1, $2) ON CONFLICT DO NOTHING',
      values: [recipient, instantOf(audit.clock)],
    });
    if (!rowCount) return 'already_blocked';
    await recordChange(tx, audit, {
      action: 'recipient.block',
      subject: recipient,
      before: { blocked: false },
      after: { blocked: true },
    });
    return 'blocked';
  });
}

export function unblockRecipient(
  audit: AuditContext,
  idOrName: string,
): Promise<'unblocked' | 'not_blocked'> {
  const recipient = fold(idOrName);
  return transaction(audit.pool, async tx => {
    const { rowCount } = await tx.query({
      text: 'DELETE FROM blocked_recipients WHERE recipient = $1',
      values: [recipient],
    });
    if (!rowCount) return 'not_blocked';
    await recordChange(tx, audit, {
      action: 'recipient.unblock',
      subject: recipient,
      before: { blocked: true },
      after: { blocked: false },
    });
    return 'unblocked';
  });
}

export async function listBlockedRecipients(db: Queryable): Promise<BlockedRecipient[]> {
  const { rows } = await db.query<BlockedRecipient>({
    text: 'SELECT recipient, blocked_at AS "blockedAt" FROM blocked_recipients ORDER BY recipient',
  });
  return rows;
}

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
