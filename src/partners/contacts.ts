import { type Id, uuidFromId } from '../base/ids.ts';
import { type AuditContext, recordChange } from '../db/audit/index.ts';
import { findRow, type Queryable, transaction } from '../db/postgres/index.ts';
import { lockPartner } from './partners.ts';

/** What operators keep about a partner for each other. Partners do not see it. */
interface Contacts {
  /** Whom to call or write to. */
  contacts: string;
  notes: string;
}

export const maxContactsLength = 2_000;

/** Several lines of visible text. */
export const isContactsText = (text: string): boolean =>
  text.isWellFormed() && text.length <= maxContactsLength && !/[^\P{Cc}\n\t]/u.test(text);

/** Version 0: nothing was written yet. */
export async function readContacts(
  db: Queryable,
  partnerId: Id<'prt'>,
): Promise<Contacts & { version: number }> {
  const row = await findRow<Contacts & { version: number }>(db, {
    text: 'SELECT contacts, notes, version FROM partner_contacts WHERE partner_id = $1',
    values: [uuidFromId(partnerId)],
  });
  return row ?? { contacts: '', notes: '', version: 0 };
}

/** `stale`: another operator has changed them since that version was read. */
export const setContacts = (
  audit: AuditContext,
  partnerId: Id<'prt'>,
  { contacts, notes }: Contacts,
  expectedVersion: number,
): Promise<'set' | 'stale' | 'no_partner'> =>
  transaction(audit.pool, async tx => {
    if (!(await lockPartner(tx, partnerId))) return 'no_partner';
    const { version, ...before } = await readContacts(tx, partnerId);
    if (version !== expectedVersion) return 'stale';
    if (before.contacts === contacts && before.notes === notes) return 'set';
    await tx.query({
      text: `INSERT INTO partner_contacts (partner_id, contacts, notes, version) VALUES ($1, $2, $3, 1)
             ON CONFLICT (partner_id) DO UPDATE
               SET contacts = excluded.contacts, notes = excluded.notes, version = partner_contacts.version + 1`,
      values: [uuidFromId(partnerId), contacts, notes],
    });
    await recordChange(tx, audit, {
      action: 'partner.contacts',
      subject: partnerId,
      before,
      after: { contacts, notes },
    });
    return 'set';
  });
