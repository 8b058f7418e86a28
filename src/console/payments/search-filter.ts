import Type from 'typebox';
import { parseId } from '../../base/ids.ts';
import { parseKopecks } from '../../base/money.ts';
import { parseQrLink } from '../../base/qr.ts';
import { type PaymentFilter, readSearchWords } from '../../payments/index.ts';
import {
  oneOf,
  paging,
  paymentFilters,
  readFields,
  readPaymentFilters,
  SearchText,
} from '../../web/index.ts';

const filters = {
  ...paymentFilters,
  payment_id: SearchText,
  external_id: SearchText,
  qr: SearchText,
  recipient: SearchText,
  partner_id: SearchText,
  mode: Type.Optional(oneOf('live', 'test')),
  status_detail: Type.Optional(oneOf('awaiting_gateway', 'manual_review', 'gateway_declined')),
  amount_rub: SearchText,
};

/** The query string of the payment search, of its totals and of its export. */
export const Filters = Type.Object(filters);
export const Search = Type.Object({ ...filters, ...paging });

/** The filters that the query string describes, of which a payment must match one; undefined when a field cannot be parsed. */
export function readFilters(
  query: Type.Static<typeof Filters>,
  qrHosts: readonly string[],
): PaymentFilter[] | undefined {
  const filter = readFilter(query, qrHosts);
  const words = query.q ? readSearchWords(query.q, qrHosts) : [{}];
  return filter && words.map(one => ({ ...one, ...filter }));
}

const readFilter = (query: Type.Static<typeof Filters>, qrHosts: readonly string[]) =>
  readFields(read => ({
    ...readPaymentFilters(query, read),
    externalId: query.external_id || undefined,
    recipient: query.recipient || undefined,
    mode: query.mode,
    statusDetail: query.status_detail,
    paymentId: read(query.payment_id, text => parseId('pay', text)),
    partnerId: read(query.partner_id, text => parseId('prt', text)),
    qrcId: read(query.qr, text => readCode(text, qrHosts)),
    amountKopecks: read(query.amount_rub, parseKopecks),
  }));

/** The link of a QR code in any form, or the code's id itself. */
function readCode(text: string, qrHosts: readonly string[]): string | undefined {
  const link = parseQrLink(text, qrHosts);
  if (link.kind === 'sbp') return link.qrcId;
  return /^\w{1,64}$/.test(text.trim()) ? text.trim() : undefined;
}
