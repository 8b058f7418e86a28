import { type Queryable, readRows } from '../db/postgres/index.ts';

/**
 * Everybody who could act as one of these operators: the operator, everybody who issued a setup link for them (by
 * creating or resetting them; the issuer could have used the link), everybody who did so for these, and so on. A later
 * reset takes nobody off the chain: who created an account also chose who uses it. The command line is not on a chain:
 * who can run it can change the database anyway.
 */
const enrolmentChains = `
  WITH RECURSIVE chain (operator, member) AS (
    SELECT name, name FROM unnest($1::text[]) AS name
    UNION
    SELECT c.operator, substr(a.actor, length('operator:') + 1)
      FROM chain c JOIN audit a ON a.subject = c.member AND a.action IN ('operator.create', 'operator.reset')
     WHERE a.actor LIKE 'operator:%'
  )`;

/**
 * Part of four-eyes approval: which of these operators share somebody on their enrolment chains with this one. That
 * person could have acted as both, so the two accounts do not count as two people.
 */
export async function findRelated(db: Queryable, name: string, others: string[]): Promise<Set<string>> {
  const rows = await readRows<{ operator: string }>(db, {
    text: `${enrolmentChains}
           SELECT DISTINCT other.operator FROM chain own JOIN chain other ON other.member = own.member
            WHERE own.operator = $2 AND other.operator = ANY ($3)`,
    values: [[...new Set([name, ...others])], name, others],
  });
  return new Set(rows.map(({ operator }) => operator));
}
