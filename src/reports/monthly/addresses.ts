import { randomInt } from 'node:crypto';
import { instantOf } from '../../base/clock.ts';
import { type Id, uuidFromId } from '../../base/ids.ts';
import { isMailAddress } from '../../base/smtp-settings.ts';
import { type AuditContext, recordChange, takeDailyChange } from '../../db/audit/index.ts';
import { findRow, type Queryable, readRows, transaction } from '../../db/postgres/index.ts';
import { lockPartner } from '../../partners/index.ts';
import type { ReportLanguage } from '../texts.ts';

export const maxAddresses = 5;
const validMs = 24 * 3_600_000;
const codeDigits = 8;
const maxWrongCodes = 5;

export interface ReportAddress {
  address: string;
  isConfirmed: boolean;
}

export const listReportAddresses = (db: Queryable, partnerId: Id<'prt'>) =>
  readRows<ReportAddress>(db, {
    text: `SELECT address, code IS NULL AS "isConfirmed" FROM report_addresses WHERE partner_id = $1 ORDER BY address`,
    values: [uuidFromId(partnerId)],
  });

/** Sends a code to the address. Until the owner enters it, nothing else is sent there: nobody gets mail against their will. */
export const addReportAddress = (
  audit: AuditContext,
  partnerId: Id<'prt'>,
  wanted: string,
  language: ReportLanguage,
): Promise<'done' | 'bad_address' | 'too_many' | 'too_many_today'> =>
  transaction(audit.pool, async tx => {
    const address = wanted.trim().toLowerCase();
    if (!isMailAddress(address)) return 'bad_address';
    const id = uuidFromId(partnerId);
    // One change at a time per partner, so that the limit holds.
    await lockPartner(tx, partnerId);
    const known = await listReportAddresses(tx, partnerId);
    if (known.some(one => one.address === address)) return 'done';
    if (known.length >= maxAddresses) return 'too_many';
    if (!(await takeDailyChange(tx, audit.clock, 'report-addresses', partnerId))) return 'too_many_today';
    const code = `${randomInt(10 ** codeDigits)}`.padStart(codeDigits, '0');
    const expiresAt = new Date(audit.clock.nowMs() + validMs);
    await tx.query({
      text: `INSERT INTO report_addresses (partner_id, address, language, code, code_expires_at) VALUES ($1, $2, $3, $4, $5)`,
      values: [id, address, language, code, expiresAt],
    });
    await tx.query({
      text: 'INSERT INTO report_mails (partner_id, address, due_at) VALUES ($1, $2, $3)',
      values: [id, address, instantOf(audit.clock)],
    });
    await recordChange(tx, audit, {
      action: 'report_address.add',
      subject: partnerId,
      after: { email: address, language },
    });
    return 'done';
  });

/** A wrong code is counted: after some the address must be added again. */
export const confirmReportAddress = (
  audit: AuditContext,
  partnerId: Id<'prt'>,
  address: string,
  code: string,
): Promise<'done' | 'not_found' | 'wrong_code' | 'code_expired'> =>
  transaction(audit.pool, async tx => {
    const key = [uuidFromId(partnerId), address];
    const found = await findRow<{ code: string | null; isUsable: boolean }>(tx, {
      text: `SELECT code, code_expires_at > $3 AND wrong_codes < $4 AS "isUsable" FROM report_addresses
              WHERE partner_id = $1 AND address = $2 FOR UPDATE`,
      values: [...key, instantOf(audit.clock), maxWrongCodes],
    });
    if (!found) return 'not_found';
    if (found.code === null) return 'done';
    if (!found.isUsable) return 'code_expired';
    const isRight = found.code === code;
    await tx.query({
      text: `UPDATE report_addresses SET code = CASE WHEN $3 THEN NULL ELSE code END, wrong_codes = wrong_codes + 1
              WHERE partner_id = $1 AND address = $2`,
      values: [...key, isRight],
    });
    if (!isRight) return 'wrong_code';
    await recordChange(tx, audit, {
      action: 'report_address.confirm',
      subject: partnerId,
      after: { email: address },
    });
    return 'done';
  });

/** With the mails that wait for it. */
export const removeReportAddress = (audit: AuditContext, partnerId: Id<'prt'>, address: string) =>
  transaction(audit.pool, async tx => {
    const { rowCount } = await tx.query({
      text: 'DELETE FROM report_addresses WHERE partner_id = $1 AND address = $2',
      values: [uuidFromId(partnerId), address],
    });
    if (rowCount === 0) return;
    await recordChange(tx, audit, {
      action: 'report_address.remove',
      subject: partnerId,
      before: { email: address },
      isRemoval: true,
    });
  });
