import type { Queryable } from '../db/pool.ts';

/** Longer than any real chain; it also ends a loop of operators who reset each other. */
const maxChainLength = 50;

/**
 * Part of four-eyes approval: whether `name` got access through a set-up link that `other` issued, directly or through
 * others. The issuer of a link could have used it, so the two accounts may be one person and do not count as two.
 */
export async function wasEnrolledBy(db: Queryable, name: string, other: string): Promise<boolean> {
  let current = name;
  for (let steps = 0; steps < maxChainLength; steps++) {
    const { rows } = await db.query<{ actor: string }>({
      text: `SELECT actor FROM audit WHERE subject = $1 AND action IN ('operator.create', 'operator.reset')
              ORDER BY at DESC, id DESC LIMIT 1`,
      values: [current],
    });
    const issuer = rows[0]?.actor.match(/^operator:(.+)$/)?.[1];
    if (issuer === undefined) return false;
    if (issuer === other) return true;
    current = issuer;
  }
  return true;
}
