import type { Queryable } from '../pool.ts';
import { schemaOf } from './layout.ts';

/** The SQL for the place of a code: the number of its shard. `placeOf` in src/payments/shards/code-guard.ts computes the same. */
const placeSql = (code: string, shards: number) =>
  `(('x' || left(encode(sha256(convert_to(${code}, 'UTF8')), 'hex'), 8))::bit(32)::bigint % ${shards})`;

/**
 * Puts the reservations of all codes to their places for one shard more, and returns how many there are. `before` has the shards
 * so far. With one shard nothing was reserved, so the codes of unfinished live payments are.
 *
 * The caller has locked the accounts and reservations of these shards: nothing is opened or reserved meanwhile.
 */
export async function moveReservations(tx: Queryable, before: number[]): Promise<number> {
  await tx.query({
    text: `CREATE TEMP TABLE held_codes ON COMMIT DROP AS ${before.length === 1 ? codesOfPayments : reservedCodes(before)}`,
  });
  const shards = [...before, before.length];
  let moved = 0;
  for (const place of shards) {
    const table = `${schemaOf(place)}.code_reservations`;
    await tx.query({ text: `DELETE FROM ${table}` });
    const { rowCount } = await tx.query({
      text: `INSERT INTO ${table} (qrc_id, partner_id, payment_ids)
               SELECT qrc_id, partner_id, payment_ids FROM held_codes
                WHERE ${placeSql('qrc_id', shards.length)} = ${place}`,
    });
    moved += rowCount ?? 0;
  }
  return moved;
}

const codesOfPayments = `
  SELECT qrc_id, partner_id, ARRAY[payment_id] AS payment_ids FROM public.open_payments WHERE mode = 'live'`;

/**
 * A process that did not know the last new shard may have reserved a code at its place from before. It cannot have opened a payment
 * with that, and another partner may have the code at its right place: such rows are left out.
 */
const reservedCodes = (before: number[]) =>
  before
    .map(
      shard => `SELECT qrc_id, partner_id, payment_ids FROM ${schemaOf(shard)}.code_reservations
                 WHERE ${placeSql('qrc_id', before.length)} = ${shard}`,
    )
    .join(' UNION ALL ');
