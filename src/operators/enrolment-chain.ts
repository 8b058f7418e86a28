import type { Queryable } from '../db/pool.ts';

/** Nobody was let in by that many after each other; and whoever goes in circles ends somewhere. */
const longestChain = 50;

/**
 * Whether somebody has their access from the link that the other has issued, or from one that goes back to it. Whoever
 * issues a link could use it themselves: of such two it is not known that they are two.
 */
export async function wasEnrolledBy(db: Queryable, name: string, other: string): Promise<boolean> {
  let current = name;
  for (let steps = 0; steps < longestChain; steps++) {
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
