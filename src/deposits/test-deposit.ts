import { type Clock, instantOf } from '../base/clock.ts';
import { type Id, uuidFromId } from '../base/ids.ts';
import { type Queryable, readValue } from '../db/postgres/index.ts';
import { credit, findCredited } from '../ledger/index.ts';

/** Enough for any test, and the ledger does not fill up with it. */
const maxPerDay = 100;

/** A simulated deposit: credits the test balance once per reference of the partner. */
export async function creditTestDeposit(
  db: Queryable,
  clock: Clock,
  { partnerId, microUsdt, reference }: { partnerId: Id<'prt'>; microUsdt: bigint; reference: string },
): Promise<{ outcome: 'credited'; balanceMicroUsdt: bigint } | { outcome: 'conflict' | 'too_many' }> {
  const item = { partnerId, mode: 'test', reference: `deposit:test:${reference}` } as const;
  const isNew = (await findCredited(db, item)) === null;
  if (isNew && (await countToday(db, clock, partnerId)) >= maxPerDay) return { outcome: 'too_many' };
  const [verdict] = await credit(db, clock, [{ ...item, microUsdt }]);
  switch (verdict!.outcome) {
    case 'credited':
    case 'already_credited':
      return { outcome: 'credited', balanceMicroUsdt: verdict!.balanceMicroUsdt };
    case 'conflict':
      return { outcome: 'conflict' };
    case 'no_account':
      throw new Error(`partner ${partnerId} has no test account`);
  }
}

/** Credits of the test balance since midnight UTC. Only the last ones are read, however many there are. */
const countToday = (db: Queryable, clock: Clock, partnerId: Id<'prt'>) =>
  readValue<number>(db, {
    text: `SELECT count(*)::int AS count
             FROM (SELECT created_at FROM entries
                    WHERE partner_id = $1 AND mode = 'test' AND from_account = 'topup' AND payment_id IS NULL
                    ORDER BY entry_no DESC LIMIT ${maxPerDay}) AS last
            WHERE created_at >= date_trunc('day', $2::timestamptz, 'UTC')`,
    values: [uuidFromId(partnerId), instantOf(clock)],
  });
