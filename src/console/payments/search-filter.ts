import Type from 'typebox';
import { parseId } from '../../base/ids.ts';
import { parseInstant } from '../../base/instants.ts';
import { parseKopecks } from '../../base/money.ts';
import { parseQrLink } from '../../base/qr.ts';
import { type PaymentFilter, readSearchWords } from '../../payments/index.ts';
import { paging } from '../../web/index.ts';

const Text = Type.Optional(Type.String({ maxLength: 2_048 }));
export const oneOf = <const Values extends string[]>(...values: Values) =>
  Type.Union(values.map(value => Type.Literal(value)) as { [At in keyof Values]: Type.TLiteral<Values[At]> });

const filters = {
  q: Text,
  payment_id: Text,
  external_id: Text,
  qr: Text,
  recipient: Text,
  partner_id: Text,
  mode: Type.Optional(oneOf('live', 'test')),
  status: Type.Optional(oneOf('processing', 'succeeded', 'failed')),
  status_detail: Type.Optional(oneOf('awaiting_gateway', 'manual_review', 'gateway_declined')),
  amount_rub: Text,
  created_after: Text,
  created_before: Text,
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

function readFilter(
  query: Type.Static<typeof Filters>,
  qrHosts: readonly string[],
): PaymentFilter | undefined {
  const filter: PaymentFilter = {
    ...(query.external_id ? { externalId: query.external_id } : {}),
    ...(query.recipient ? { recipient: query.recipient } : {}),
    ...(query.mode ? { mode: query.mode } : {}),
    ...(query.status ? { status: query.status } : {}),
    ...(query.status_detail ? { statusDetail: query.status_detail } : {}),
  };
  let isValid = true;
  const read = <Value>(text: string | undefined, parse: (text: string) => Value | undefined) => {
    if (!text) return undefined;
    const value = parse(text);
    if (value === undefined) isValid = false;
    return value;
  };
  const paymentId = read(query.payment_id, text => parseId('pay', text));
  const partnerId = read(query.partner_id, text => parseId('prt', text));
  const qrcId = read(query.qr, text => readCode(text, qrHosts));
  const amountKopecks = read(query.amount_rub, parseKopecks);
  const createdFrom = read(query.created_after, parseInstant);
  const createdBefore = read(query.created_before, parseInstant);
  if (!isValid) return undefined;
  return {
    ...filter,
    ...(paymentId ? { paymentId } : {}),
    ...(partnerId ? { partnerId } : {}),
    ...(qrcId ? { qrcId } : {}),
    ...(amountKopecks === undefined ? {} : { amountKopecks }),
    ...(createdFrom ? { createdFrom } : {}),
    ...(createdBefore ? { createdBefore } : {}),
  };
}

/** The link of a QR code in any form, or the code's id itself. */
function readCode(text: string, qrHosts: readonly string[]): string | undefined {
  const link = parseQrLink(text, qrHosts);
  if (link.kind === 'sbp') return link.qrcId;
  return /^\w{1,64}$/.test(text.trim()) ? text.trim() : undefined;
}
