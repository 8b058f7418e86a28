import { type Id, idFromUuid, minUuidAt, uuidFromId } from '../../base/ids.ts';
import type { Queryable, Statement } from '../../db/pool.ts';
import type { Mode } from '../../ledger/index.ts';
import { type Payment, type PaymentRow, type PaymentStatus, toPayment } from '../payment.ts';

/** What payments of whichever partner are looked for by; all that is said must be true of them. */
export interface PaymentFilter {
  paymentId?: Id<'pay'> | undefined;
  externalId?: string | undefined;
  idempotencyKey?: string | undefined;
  qrcId?: string | undefined;
  /** How the recipient's name begins, in capitals or not. */
  recipient?: string | undefined;
  partnerId?: Id<'prt'> | undefined;
  /** How the partner's name begins, in capitals or not. */
  partnerName?: string | undefined;
  mode?: Mode | undefined;
  status?: PaymentStatus | undefined;
  statusDetail?: NonNullable<Payment['statusDetail']> | undefined;
  amountKopecks?: bigint | undefined;
  createdFrom?: Date | undefined;
  createdBefore?: Date | undefined;
}

export interface FoundPayment extends Payment {
  partnerName: string;
}

export interface FoundPage {
  payments: FoundPayment[];
  /** Where the next page begins; null when there is none. A page that is not full may have a next one. */
  next: Id<'pay'> | null;
}

/**
 * Of a search along one index, so many payments are looked at for one page, however few of them fit the rest: whoever
 * asks gets an answer in time, and goes on from there. The first look is at no more than a page, and each is longer than
 * the one before: told that it needs few, the server goes along the index and sorts nothing.
 */
const longestLook = 2_000;
/** So some 7 000 payments at the most. */
const mostLooks = 6;
/** Recipients whose names begin alike are each looked at by themselves, if they are no more than these. */
const mostRecipients = 40;
/** So are partners; payments of more than these are looked for among all. */
const mostPartners = 5;
const mostNamedAlike = 1_000;

/** Payments that fit any of the filters, newest first. */
export async function searchPayments(
  db: Queryable,
  filters: PaymentFilter[],
  { limit, after }: { limit: number; after?: Id<'pay'> | undefined },
): Promise<FoundPage> {
  const found = new Map<string, FoundRow>();
  /** Above this, everything that fits has been found. */
  let horizon = '';
  // One after the other: payments want connections too.
  for (const filter of filters) {
    const { rows, stoppedAt } = await searchOne(db, filter, limit, after);
    for (const row of rows) found.set(row.id, row);
    if (stoppedAt && stoppedAt > horizon) horizon = stoppedAt;
  }
  const complete = [...found.values()]
    .filter(({ id }) => id >= horizon)
    .sort((one, other) => (one.id < other.id ? 1 : -1));
  const page = complete.slice(0, limit);
  const next = complete.length > limit ? page.at(-1)!.id : horizon;
  return {
    payments: page.map(row => ({ ...toPayment(row), partnerName: row.partner_name })),
    next: next ? idFromUuid('pay', next) : null,
  };
}

interface FoundRow extends PaymentRow {
  partner_name: string;
}

/** What one look brought: what fits, how many were looked at, and which was the last. */
type LookRow = FoundRow & { looked_at: number; last_id: string | null };

async function searchOne(
  db: Queryable,
  filter: PaymentFilter,
  limit: number,
  after: Id<'pay'> | undefined,
): Promise<{ rows: FoundRow[]; stoppedAt?: string }> {
  const partners = await partnersOf(db, filter);
  if (partners?.length === 0) return { rows: [] };
  const recipients = filter.recipient === undefined ? undefined : await recipientsOf(db, filter.recipient);
  if (recipients?.length === 0) return { rows: [] };
  const plan = { ...filter, partners, recipients };
  const longest = Math.max(limit + 1, Math.floor(longestLook / (recipients?.length ?? 1)));
  const found: FoundRow[] = [];
  let until = after && uuidFromId(after);
  let look = limit + 1;
  for (let looks = 0; looks < mostLooks; looks++) {
    const { rows } = await db.query<LookRow>(planLook(plan, until, look, limit + 1 - found.length));
    found.push(...rows.filter(({ id }) => id !== null));
    const { looked_at: count, last_id: last } = rows[0]!;
    if (count < look || found.length > limit) return { rows: found };
    until = last!;
    look = Math.min(look * 4, longest);
  }
  return { rows: found, stoppedAt: until! };
}

async function partnersOf(
  db: Queryable,
  { partnerId, partnerName }: PaymentFilter,
): Promise<string[] | undefined> {
  if (partnerId) return [uuidFromId(partnerId)];
  if (partnerName === undefined) return undefined;
  const { rows } = await db.query<{ id: string }>({
    text: `SELECT id FROM partners WHERE starts_with(lower(name), lower($1)) ORDER BY id DESC LIMIT ${mostNamedAlike}`,
    values: [partnerName],
  });
  return rows.map(({ id }) => id);
}

const recipientOf = '(lower(p.recipient) COLLATE "C")';

/** Their names in lower case, found by leaps from one to the next; undefined when they are too many. */
async function recipientsOf(db: Queryable, begins: string): Promise<string[] | undefined> {
  const next = (condition: string) =>
    `SELECT ${recipientOf} AS name FROM payments p
      WHERE ${condition} AND ${recipientOf} < lower($1) || chr(1114111) AND NOT p.rejected ORDER BY 1 LIMIT 1`;
  const { rows } = await db.query<{ name: string }>({
    text: `WITH RECURSIVE names (name) AS (
             (${next(`${recipientOf} >= lower($1)`)})
             UNION ALL
             SELECT (${next(`${recipientOf} > n.name`)}) FROM names n WHERE n.name IS NOT NULL
           )
           SELECT name FROM names WHERE name IS NOT NULL LIMIT ${mostRecipients + 1}`,
    values: [begins],
  });
  return rows.length > mostRecipients ? undefined : rows.map(({ name }) => name);
}

interface Plan extends Omit<PaymentFilter, 'partnerId' | 'partnerName'> {
  partners: string[] | undefined;
  recipients: string[] | undefined;
}

/** An id is made a moment before its payment is opened; a clock may be set back a little. */
const idsAreOlderMs = 60_000;
const idsAreNewerMs = 1_000;

const leastId = '00000000-0000-0000-0000-000000000000';
const beyondIds = 'ffffffff-ffff-ffff-ffff-ffffffffffff';

/** Looks at so many along the index that says most, newest first, and keeps those that fit the rest. */
function planLook(plan: Plan, before: string | undefined, look: number, wanted: number): Statement {
  const values: unknown[] = [];
  const $ = (value: unknown) => `$${values.push(value)}`;
  const { paymentId, partners, mode, createdFrom, createdBefore } = plan;
  const untilIds = [
    beyondIds,
    ...(before ? [before] : []),
    ...(createdBefore ? [minUuidAt(createdBefore.getTime() + idsAreNewerMs)] : []),
  ];
  const least = $(createdFrom ? minUuidAt(createdFrom.getTime() - idsAreOlderMs) : leastId);
  const until = $(untilIds.sort()[0]);
  const within = (id: string) => `${id} >= ${least} AND ${id} < ${until}`;

  const newest = (condition: string) =>
    `SELECT p.* FROM payments p WHERE ${condition} AND NOT p.rejected AND ${within('p.id')}
      ORDER BY p.id DESC LIMIT ${look}`;
  /** Several that are each in order are in order together. */
  const together = (parts: string[]) =>
    parts.length === 1 ? parts[0]! : parts.map(part => `(${part})`).join(' UNION ALL ');
  const modes: Mode[] = mode ? [mode] : ['live', 'test'];
  const ofKey = (from: string, conditions: string, id: string) =>
    `SELECT p.* FROM (SELECT * FROM ${from} AS k WHERE ${conditions} AND ${within(id)}
                       ORDER BY ${id} DESC LIMIT ${look}) AS k
      CROSS JOIN LATERAL (SELECT * FROM payments p WHERE p.partner_id = k.partner_id AND p.mode = k.mode
                             AND p.id = ${id} OFFSET 0) AS p`;

  function alongOneIndex(): string {
    if (paymentId)
      return together(modes.map(one => newest(`p.mode = ${$(one)} AND p.id = ${$(uuidFromId(paymentId))}`)));
    if (plan.idempotencyKey !== undefined) return newest(`p.idempotency_key = ${$(plan.idempotencyKey)}`);
    if (plan.externalId !== undefined) return newest(`p.external_id = ${$(plan.externalId)}`);
    if (plan.qrcId !== undefined) return newest(`p.qrc_id = ${$(plan.qrcId)}`);
    if (plan.recipients)
      return `SELECT p.* FROM unnest(${$(plan.recipients)}::text[]) AS n (name)
               CROSS JOIN LATERAL (${newest(`${recipientOf} = n.name`)}) AS p`;
    if (plan.status === 'processing') return ofKey('open_payments', 'true', 'k.payment_id');
    if (plan.amountKopecks !== undefined) return newest(`p.amount_kopecks = ${$(plan.amountKopecks)}`);
    if (plan.status === 'failed') {
      const ofPartners = partners ? ` AND k.partner_id = ANY (${$(partners)})` : '';
      const released = `k.from_account = 'held' AND k.to_account = 'available'${ofPartners}`;
      return ofKey('entries', released, 'k.payment_id');
    }
    const few = partners && partners.length <= mostPartners ? partners : [undefined];
    const owners = few.flatMap(partner => modes.map(one => [partner, one] as const));
    return together(
      owners.map(([partner, one]) =>
        newest(`${partner ? `p.partner_id = ${$(partner)} AND ` : ''}p.mode = ${$(one)}`),
      ),
    );
  }

  const conditions = [
    'NOT p.rejected',
    ...(partners ? [`p.partner_id = ANY (${$(partners)})`] : []),
    ...(mode ? [`p.mode = ${$(mode)}`] : []),
    ...(plan.status ? [`p.status = ${$(plan.status)}`] : []),
    ...(plan.statusDetail ? [`p.status_detail = ${$(plan.statusDetail)}`] : []),
    ...(plan.amountKopecks === undefined ? [] : [`p.amount_kopecks = ${$(plan.amountKopecks)}`]),
    ...(plan.externalId === undefined ? [] : [`p.external_id = ${$(plan.externalId)}`]),
    ...(plan.idempotencyKey === undefined ? [] : [`p.idempotency_key = ${$(plan.idempotencyKey)}`]),
    ...(plan.qrcId === undefined ? [] : [`p.qrc_id = ${$(plan.qrcId)}`]),
    ...(plan.recipient === undefined ? [] : [`starts_with(lower(p.recipient), lower(${$(plan.recipient)}))`]),
    ...(createdFrom ? [`p.created_at >= ${$(createdFrom)}`] : []),
    ...(createdBefore ? [`p.created_at < ${$(createdBefore)}`] : []),
  ];
  return {
    text: `WITH looked AS MATERIALIZED (SELECT * FROM (${alongOneIndex()}) AS u ORDER BY u.id DESC LIMIT ${look})
           SELECT p.*, (SELECT count(*)::int FROM looked) AS looked_at,
                  (SELECT l.id FROM looked l ORDER BY l.id LIMIT 1) AS last_id,
                  (SELECT r.name FROM partners r WHERE r.id = p.partner_id) AS partner_name
             FROM (SELECT) AS always
             LEFT JOIN (SELECT * FROM looked p WHERE ${conditions.join(' AND ')} ORDER BY p.id DESC LIMIT ${wanted}) AS p ON true
            ORDER BY p.id DESC`,
    values,
  };
}
