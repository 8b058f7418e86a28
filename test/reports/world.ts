import { type Id, uuidFromId } from '../../src/base/ids.ts';
import { credit } from '../../src/ledger/index.ts';
import { createPartner } from '../../src/partners/index.ts';
import type { PaymentOutcome } from '../../src/payments/results.ts';
import { createPaymentWriter } from '../../src/payments/store.ts';
import { openReport, type ReportFormat, readWantedPeriod, reportFile } from '../../src/reports/index.ts';
import type { ReportLanguage } from '../../src/reports/texts.ts';
import { createTimedDatabase, setRate } from '../helpers/database.ts';
import { openingsOf } from '../helpers/openings.ts';

const live = 'live' as const;
const ends = {
  succeeded: { outcome: 'succeeded' },
  failed: { outcome: 'failed', code: 'gateway_declined' },
  rejected: { outcome: 'rejected', code: 'gateway_busy' },
} satisfies Record<string, PaymentOutcome>;

interface FileOptions {
  language?: ReportLanguage;
  timeZone?: string;
}

/** A partner whose payments, refunds and top-ups have the times of the test. */
export async function createReportWorld(startIso: string) {
  const { pool, clock, audit } = await createTimedDatabase(startIso);
  await setRate(pool, clock);
  const { partnerId } = await createPartner(audit, 'Ромашка');
  const writer = createPaymentWriter(pool, clock);
  const opening = await openingsOf(pool, clock);
  const until = (iso: string) => clock.advance(Date.parse(iso) - clock.nowMs());

  async function open(change: Parameters<typeof opening>[1] = {}) {
    const payment = opening(partnerId, change);
    const { verdict } = await writer.open(payment);
    if (verdict !== 'opened') throw new Error(verdict);
    return payment.paymentId;
  }
  const finish = (paymentId: Id<'pay'>, end: keyof typeof ends) =>
    writer.finish({ partnerId, mode: live, paymentId, ...ends[end] });

  async function report(from: string, to: string, timeZone = 'Europe/Moscow') {
    const period = readWantedPeriod(clock, timeZone, { from, to });
    if (typeof period === 'string') throw new Error(period);
    const opened = await openReport(pool, clock, { partnerId, mode: live, partner: 'Ромашка' }, period);
    if (typeof opened === 'string') throw new Error(opened);
    return opened;
  }

  /** The bytes of a file. */
  async function file(
    from: string,
    to: string,
    format: ReportFormat,
    { language = 'ru', timeZone = 'Europe/Moscow' }: FileOptions = {},
  ) {
    const opened = await report(from, to, timeZone);
    const pieces: Uint8Array[] = [];
    for await (const piece of reportFile(pool, opened, { format, language }).pieces)
      pieces.push(typeof piece === 'string' ? Buffer.from(piece) : piece);
    return Buffer.concat(pieces);
  }

  return {
    ...{ pool, clock, partnerId, until, open, finish, audit },
    async pay(iso: string, end: keyof typeof ends, change: Parameters<typeof opening>[1] = {}) {
      await until(iso);
      const paymentId = await open(change);
      await finish(paymentId, end);
      return paymentId;
    },
    topUp: async (iso: string, microUsdt: bigint, reference: string) => {
      await until(iso);
      await credit(pool, clock, [{ partnerId, mode: live, reference, microUsdt }]);
    },
    refund: async (iso: string, paymentId: Id<'pay'>, kopecks: number) => {
      await until(iso);
      const at = new Date(clock.nowMs());
      const { rows } = await pool.query('SELECT * FROM payments_refund($1, $2, $3, $4, $5, $6)', [
        live,
        [`rfd ${iso}`],
        [uuidFromId(paymentId)],
        [kopecks],
        [at],
        at,
      ]);
      if (rows[0].verdict !== 'booked') throw new Error(rows[0].verdict);
    },
    report,
    file,
  };
}

/** The cells of a CSV file as Excel reads them. */
export function cellsOf(csv: string): string[][] {
  const lines: string[][] = [[]];
  let [cell, isQuoted] = ['', false];
  for (let at = 0; at < csv.length; at++) {
    const character = csv[at]!;
    if (isQuoted && character === '"' && csv[at + 1] === '"') cell += csv[at++];
    else if (character === '"') isQuoted = !isQuoted;
    else if (!isQuoted && (character === ';' || character === '\n')) {
      lines.at(-1)!.push(cell.replace(/\r$/, ''));
      cell = '';
      if (character === '\n') lines.push([]);
    } else cell += character;
  }
  return lines.slice(0, -1);
}
