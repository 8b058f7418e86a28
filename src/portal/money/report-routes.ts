import Type from 'typebox';
import { instantOf } from '../../base/clock.ts';
import { parseId } from '../../base/ids.ts';
import { findOperationNumber, findPaymentOf, findRefunded } from '../../payments/index.ts';
import {
  badPeriods,
  openReport,
  readWantedPeriod,
  reportFile,
  reportFormats,
  reportLanguages,
  writeReceipt,
} from '../../reports/index.ts';
import { Download, Mode, oneOf, refuse } from '../../web/index.ts';
import { get } from '../route.ts';

const language = oneOf(...reportLanguages);
/** Read as text, so that a day that is none gets an answer that says so. */
const DayText = Type.String({ maxLength: 20 });

const downloadReport = get(
  '/report',
  'money',
  { query: { mode: Mode, from: DayText, to: DayText, format: oneOf(...reportFormats), language } },
  async ({ member, query }, deps) => {
    const { partnerId, name: partner, timeZone } = member.partner;
    const { mode, from, to } = query;
    const period = readWantedPeriod(deps.clock, timeZone, { from, to });
    if (typeof period === 'string') return refuse(400, 'invalid_request', badPeriods[period]);
    const db = deps.readsOf(partnerId);
    const report = await openReport(db, deps.clock, { partnerId, mode, partner }, period);
    if (report === 'pruned') return refuse(404, 'not_found', 'The test data of this period was deleted.');
    if (report === 'left_archive')
      return refuse(404, 'left_archive', 'The payments of this period are no longer stored.');
    const { name, pieces } = reportFile(db, report, query);
    return new Download(name, pieces);
  },
);

const downloadReceipt = get(
  '/payments/:id/receipt',
  'money',
  { query: { language } },
  async ({ member, query, params }, deps) => {
    const { partnerId, name: partner, timeZone } = member.partner;
    const db = deps.readsOf(partnerId);
    const paymentId = parseId('pay', params.id);
    const payment = paymentId && (await findPaymentOf(db, partnerId, paymentId));
    if (!payment) return refuse(404, 'not_found', 'Payment not found.');
    const [refunded, operationNumber] = await Promise.all([
      findRefunded(db, payment),
      findOperationNumber(db, payment),
    ]);
    const now = instantOf(deps.clock);
    const pieces = writeReceipt(
      { payment, refunded, operationNumber, partner, timeZone, now },
      query.language,
    );
    return new Download(`receipt-${paymentId}.pdf`, pieces);
  },
);

/** Files for the partner's accountant. */
export const reportRoutes = [downloadReport, downloadReceipt];
