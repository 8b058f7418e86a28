import { type Id, maxUuid, minUuid, minUuidAt, uuidFromId } from '../../base/ids.ts';
import type { Statement } from '../../db/postgres/index.ts';
import type { Mode } from '../../ledger/index.ts';
import { newestAnywhere } from '../archive/pages.ts';
import { type Payment, type PaymentStatus, paymentColumns } from '../payment.ts';

/** A search over the payments of all partners; a payment must match every field that is set. */
export interface PaymentFilter {
  paymentId?: Id<'pay'> | undefined;
  externalId?: string | undefined;
  idempotencyKey?: string | undefined;
  qrcId?: string | undefined;
  /** The beginning of the recipient's name, in any case. */
  recipient?: string | undefined;
  partnerId?: Id<'prt'> | undefined;
  /** The beginning of the partner's name, in any case. */
  partnerName?: string | undefined;
  mode?: Mode | undefined;
  status?: PaymentStatus | undefined;
  statusDetail?: NonNullable<Payment['statusDetail']> | undefined;
  amountKopecks?: bigint | undefined;
  createdFrom?: Date | undefined;
  createdBefore?: Date | undefined;
}

/** A filter whose names of partners and recipients have been looked up. */
export interface SearchPlan extends Omit<PaymentFilter, 'partnerId' | 'partnerName'> {
  partners: string[] | undefined;
  recipients: string[] | undefined;
}

/** One scan along an index: where it begins, how many payments it reads, and how many matches it returns at most. */
export interface Scan {
  before: string | undefined;
  size: number;
  maxMatches: number;
}

/** An id is created a moment before its payment is opened, and clocks may be set back a little. */
const idsAreOlderMs = 60_000;
const idsAreNewerMs = 1_000;

/** Up to this many partners are scanned one by one; payments of more are scanned among those of all. */
const maxPartnersToScan = 5;

const recipientKey = '(lower(p.recipient) COLLATE "C")';

/** Adds a value to the statement and returns its placeholder. */
type Bind = (value: unknown) => string;

/** Reads payments along the most selective index, newest first, and keeps those that match the whole filter. */
export function scanStatement(plan: SearchPlan, scan: Scan): Statement {
  const values: unknown[] = [];
  const bind: Bind = value => `$${values.push(value)}`;
  const candidates = candidatesOf(plan, scan, bind);
  const conditions = conditionsOf(plan, bind).join(' AND ');
  return {
    text: `WITH scanned AS MATERIALIZED (SELECT * FROM (${candidates}) AS u ORDER BY u.id DESC LIMIT ${scan.size})
           SELECT ${paymentColumns('p')}, (SELECT count(*)::int FROM scanned) AS scanned,
                  (SELECT s.id FROM scanned s ORDER BY s.id LIMIT 1) AS last_id,
                  (SELECT r.name FROM partners r WHERE r.id = p.partner_id) AS "partnerName"
             FROM (SELECT) AS always
             LEFT JOIN (SELECT * FROM scanned p WHERE ${conditions} ORDER BY p.id DESC LIMIT ${scan.maxMatches}) AS p ON true
            ORDER BY p.id DESC`,
    values,
  };
}

/**
 * Sums what a scan finds, by state. Payments that one of the other plans matches are left out: their scans count them.
 */
export function totalsStatement(
  plan: SearchPlan,
  others: SearchPlan[],
  scan: Omit<Scan, 'maxMatches'>,
): Statement {
  const values: unknown[] = [];
  const bind: Bind = value => `$${values.push(value)}`;
  const candidates = candidatesOf(plan, { ...scan, maxMatches: scan.size }, bind);
  const conditions = [
    ...conditionsOf(plan, bind),
    ...others.map(other => `(${conditionsOf(other, bind).join(' AND ')}) IS NOT TRUE`),
  ].join(' AND ');
  return {
    text: `WITH scanned AS MATERIALIZED (SELECT * FROM (${candidates}) AS u ORDER BY u.id DESC LIMIT ${scan.size})
           SELECT t.*, (SELECT count(*)::int FROM scanned) AS scanned,
                  (SELECT s.id FROM scanned s ORDER BY s.id LIMIT 1) AS last_id
             FROM (SELECT) AS always
             LEFT JOIN (SELECT p.mode, p.status, p.status_detail, count(*)::int AS count, sum(p.amount_kopecks)::bigint AS kopecks,
                               sum(p.micro_usdt)::bigint AS "microUsdt"
                          FROM scanned p WHERE ${conditions} GROUP BY 1, 2, 3) AS t ON true`,
    values,
  };
}

/** The first id, and that beyond the last one, that a creation time and the place of the page allow. */
function idRange({ createdFrom, createdBefore }: SearchPlan, { before }: Scan, bind: Bind) {
  const ends = [
    maxUuid,
    ...(before ? [before] : []),
    ...(createdBefore ? [minUuidAt(createdBefore.getTime() + idsAreNewerMs)] : []),
  ];
  const first = bind(createdFrom ? minUuidAt(createdFrom.getTime() - idsAreOlderMs) : minUuid);
  return { first, end: bind(ends.sort()[0]) };
}

/** The query along one index: of what the filter has, the part that matches the fewest payments. */
function candidatesOf(plan: SearchPlan, scan: Scan, bind: Bind): string {
  const { paymentId, partners, mode } = plan;
  const modes: Mode[] = mode ? [mode] : ['live', 'test'];
  const { first, end } = idRange(plan, scan, bind);
  const isInRange = (id: string) => `${id} >= ${first} AND ${id} < ${end}`;
  const newest = (condition: string) =>
    `SELECT * FROM (${newestAnywhere(`${condition} AND NOT p.rejected AND ${isInRange('p.id')}`, scan.size)}) AS n LIMIT ${scan.size}`;
  const newestOf = (tables: string[], condition: string) => {
    const newestIn = (table: string) =>
      `(SELECT k.partner_id, k.mode, k.payment_id FROM ${table} AS k WHERE ${condition} AND ${isInRange('k.payment_id')}
         ORDER BY k.payment_id DESC LIMIT ${scan.size})`;
    return `SELECT p.* FROM (SELECT DISTINCT * FROM (${tables.map(newestIn).join(' UNION ALL ')}) AS u
                              ORDER BY u.payment_id DESC LIMIT ${scan.size}) AS k
      CROSS JOIN LATERAL payment_anywhere(k.partner_id, k.mode, k.payment_id) AS p`;
  };

  if (paymentId)
    return union(modes.map(one => newest(`p.mode = ${bind(one)} AND p.id = ${bind(uuidFromId(paymentId))}`)));
  if (plan.idempotencyKey !== undefined) return newest(`p.idempotency_key = ${bind(plan.idempotencyKey)}`);
  if (plan.externalId !== undefined) return newest(`p.external_id = ${bind(plan.externalId)}`);
  if (plan.qrcId !== undefined) return newest(`p.qrc_id = ${bind(plan.qrcId)}`);
  if (plan.recipients)
    return `SELECT DISTINCT ON (p.id) p.* FROM unnest(${bind(plan.recipients)}::text[]) AS n (name)
             CROSS JOIN LATERAL ((SELECT p.* FROM payments p WHERE ${recipientKey} = n.name AND NOT p.rejected AND ${isInRange('p.id')}
                                   ORDER BY p.id DESC LIMIT ${scan.size})
                                 UNION ALL
                                 SELECT * FROM archived_of_recipient(n.name, ${first}, ${end}, ${scan.size})) AS p`;
  if (plan.status === 'processing') return newestOf(['open_payments'], 'true');
  if (plan.amountKopecks !== undefined) return newest(`p.amount_kopecks = ${bind(plan.amountKopecks)}`);
  if (plan.status === 'failed') {
    const ofPartners = partners ? ` AND k.partner_id = ANY (${bind(partners)})` : '';
    return newestOf(
      ['entries', 'entries_archive'],
      `k.from_account = 'held' AND k.to_account = 'available'${ofPartners}`,
    );
  }
  const few = partners && partners.length <= maxPartnersToScan ? partners : [undefined];
  const accounts = few.flatMap(partner => modes.map(one => [partner, one] as const));
  return union(
    accounts.map(([partner, one]) =>
      newest(`${partner ? `p.partner_id = ${bind(partner)} AND ` : ''}p.mode = ${bind(one)}`),
    ),
  );
}

const union = (queries: string[]) =>
  queries.length === 1 ? queries[0]! : queries.map(query => `(${query})`).join(' UNION ALL ');

function conditionsOf(plan: SearchPlan, bind: Bind): string[] {
  const { partners, mode, createdFrom, createdBefore } = plan;
  return [
    'NOT p.rejected',
    ...(partners ? [`p.partner_id = ANY (${bind(partners)})`] : []),
    ...(mode ? [`p.mode = ${bind(mode)}`] : []),
    ...(plan.status ? [`p.status = ${bind(plan.status)}`] : []),
    ...(plan.statusDetail ? [`p.status_detail = ${bind(plan.statusDetail)}`] : []),
    ...(plan.amountKopecks === undefined ? [] : [`p.amount_kopecks = ${bind(plan.amountKopecks)}`]),
    ...(plan.externalId === undefined ? [] : [`p.external_id = ${bind(plan.externalId)}`]),
    ...(plan.idempotencyKey === undefined ? [] : [`p.idempotency_key = ${bind(plan.idempotencyKey)}`]),
    ...(plan.qrcId === undefined ? [] : [`p.qrc_id = ${bind(plan.qrcId)}`]),
    ...(plan.recipient === undefined
      ? []
      : [`starts_with(lower(p.recipient), lower(${bind(plan.recipient)}))`]),
    ...(createdFrom ? [`p.created_at >= ${bind(createdFrom)}`] : []),
    ...(createdBefore ? [`p.created_at < ${bind(createdBefore)}`] : []),
  ];
}
