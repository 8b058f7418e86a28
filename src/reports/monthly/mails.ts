import { startBackgroundLoop } from '../../base/background-loop.ts';
import { type Clock, instantOf } from '../../base/clock.ts';
import { idFromUuid } from '../../base/ids.ts';
import type { SmtpSettings } from '../../base/smtp-settings.ts';
import { findRow, type Pool, type Queryable, transaction } from '../../db/postgres/index.ts';
import { findPartner } from '../../partners/index.ts';
import type { ReportLanguage } from '../texts.ts';
import { monthlyFile } from './file.ts';
import { mailTexts } from './mail-texts.ts';
import { createMailer, type Mail, type Mailer } from './mailer.ts';
import { noticeFinishedMonths } from './schedule.ts';

interface MailDeps {
  pool: Pool;
  clock: Clock;
  log: Record<'warn' | 'error', (details: object, message: string) => void>;
  webhookRetryScheduleSec: number[];
}

/** Longer than a mail with the largest file takes. */
const leaseMs = 10 * 60_000;
const everyMs = 10_000;

interface DueMail {
  id: bigint;
  partnerId: string;
  address: string;
  month: string | null;
  tries: number;
  language: ReportLanguage;
  code: string | null;
}

/** Takes a mail for this process. If it dies, the mail is due again when the lease ends: it may arrive twice, and is never lost. */
const claimMail = (db: Queryable, clock: Clock) =>
  findRow<DueMail>(db, {
    text: `UPDATE report_mails m SET due_at = $2, tries = m.tries + 1 FROM report_addresses a
            WHERE m.id = (SELECT id FROM report_mails WHERE due_at <= $1 ORDER BY due_at LIMIT 1 FOR UPDATE SKIP LOCKED)
              AND (a.partner_id, a.address) = (m.partner_id, m.address)
           RETURNING m.id, m.partner_id AS "partnerId", m.address, m.month::text, m.tries, a.language, a.code`,
    values: [instantOf(clock), new Date(clock.nowMs() + leaseMs)],
  });

const removeMail = (db: Queryable, { id }: DueMail) =>
  db.query({ text: 'DELETE FROM report_mails WHERE id = $1', values: [id] });

/** Sends the mails that are due, one after another. */
export async function sendDueMails(deps: MailDeps, mailer: Mailer, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    const due = await claimMail(deps.pool, deps.clock);
    if (!due) return;
    await sendMail(deps, mailer, due);
  }
}

async function sendMail(deps: MailDeps, mailer: Mailer, due: DueMail): Promise<void> {
  const { pool, clock, log, webhookRetryScheduleSec } = deps;
  try {
    const mail = await mailOf(deps, due);
    if (mail) await mailer.send(mail);
  } catch (err) {
    const pauseSec = webhookRetryScheduleSec[due.tries];
    const details = { err, partnerId: idFromUuid('prt', due.partnerId), tries: due.tries };
    if (pauseSec === undefined) {
      log.error(details, 'a mail was given up');
      return void (await removeMail(pool, due));
    }
    log.warn(details, 'a mail could not be sent and is tried again');
    return void (await pool.query({
      text: 'UPDATE report_mails SET due_at = $2 WHERE id = $1',
      values: [due.id, new Date(clock.nowMs() + pauseSec * 1_000)],
    }));
  }
  await removeMail(pool, due);
}

/** Undefined: there is nothing to say any more. Until an address is confirmed, it gets its code alone. */
async function mailOf(deps: MailDeps, { partnerId, address: to, month, language, code }: DueMail) {
  const partner = await findPartner(deps.pool, idFromUuid('prt', partnerId));
  const texts = mailTexts[language];
  if (!partner || (month === null) !== (code !== null)) return undefined;
  if (code !== null) return { to, ...texts.code(code, partner.name) } satisfies Mail;
  const file = await monthlyFile(deps, partner, month!, language);
  return {
    to,
    ...texts.report(month!, partner.name, file !== undefined),
    ...(file ? { attachments: [{ filename: file.name, content: file.bytes }] } : {}),
  } satisfies Mail;
}

/** Writes the mails of finished months and sends what is due. */
export function startMonthlyMails(deps: MailDeps, smtp: SmtpSettings) {
  const mailer = createMailer(smtp);
  const loop = startBackgroundLoop({
    clock: deps.clock,
    everyMs,
    work: async signal => {
      await transaction(deps.pool, tx => noticeFinishedMonths(tx, deps.clock));
      await sendDueMails(deps, mailer, signal);
    },
    onError: err => deps.log.error({ err }, 'mails could not be sent'),
  });
  return async () => {
    await loop.stop();
    mailer.close();
  };
}
