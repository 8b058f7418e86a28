import { type Id, parseId, uuidFromId } from '../base/ids.ts';
import { type Queryable, readRows, readValue } from '../db/postgres/index.ts';
import { type Partner, type PartnerRow, selectPartners, toPartner } from './partners.ts';

/** Whether the partner may have live keys; `asked` waits for an operator. */
export type Approval = 'approved' | 'asked' | 'not_approved';

/** Of `partners`, as `approval`. */
export const approvalColumn = `CASE WHEN live_approved THEN 'approved' WHEN live_refused_at IS NULL THEN 'asked'
                       ELSE 'not_approved' END AS approval`;

/** Newest first: all, those whose name contains the text, or the one with this id. */
export async function searchPartners(
  db: Queryable,
  { text, after, limit }: { text: string; after: Id<'prt'> | undefined; limit: number },
): Promise<{ partner: Partner; approval: Approval }[]> {
  const id = parseId('prt', text);
  const rows = await readRows<PartnerRow & { approval: Approval }>(db, {
    text: `${selectPartners}, ${approvalColumn} FROM partners p
            WHERE ($1::uuid IS NULL OR id = $1) AND ($2::text IS NULL OR strpos(lower(name), lower($2)) > 0)
              AND ($3::uuid IS NULL OR id < $3)
            ORDER BY id DESC LIMIT $4`,
    values: [
      id ? uuidFromId(id) : null,
      id || text === '' ? null : text,
      after ? uuidFromId(after) : null,
      limit,
    ],
  });
  return rows.map(row => ({ partner: toPartner(row), approval: row.approval }));
}

const maxNamesakes = 10;

/** Those with this whole name, in upper or lower case. Names need not be unique. */
export async function findPartnersByName(db: Queryable, name: string): Promise<Partner[]> {
  const rows = await readRows<PartnerRow>(db, {
    text: `${selectPartners} FROM partners p WHERE lower(p.name) = lower($1) ORDER BY p.id LIMIT $2`,
    values: [name, maxNamesakes],
  });
  return rows.map(toPartner);
}

export const countAwaitingApproval = (db: Queryable) =>
  readValue<number>(db, {
    text: 'SELECT count(*)::int FROM partners WHERE NOT live_approved AND live_refused_at IS NULL',
  });
