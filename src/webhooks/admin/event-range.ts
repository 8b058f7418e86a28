import { minUuidAt, uuidFromId } from '../../base/ids.ts';
import { ascending } from '../../base/money.ts';
import { type Queryable, readValue } from '../../db/postgres/index.ts';
import type { Mode } from '../../ledger/index.ts';
import type { DeliveryFilter } from './delivery-statement.ts';

/** The ids of the events of a period are between these two. */
interface EventRange {
  beyond: bigint;
  end: bigint;
}

const allIds: EventRange = { beyond: 0n, end: 9_223_372_036_854_775_807n };

/**
 * Event ids grow with the time of events, but for transactions under way at the same time. A period of events is thus a
 * range of ids, which the events of payments around its ends show: payment ids begin with their time.
 */
const skewMs = 60_000;
const paymentsRead = 50;

interface Period {
  from: Date | undefined;
  before: Date | undefined;
}

/** A range that has all events of the period that the filter can match. */
export async function findEventRange(
  db: Queryable,
  { partnerId, mode }: Pick<DeliveryFilter, 'partnerId' | 'mode'>,
  period: Period,
): Promise<EventRange> {
  if (!period.from && !period.before) return allIds;
  if (!partnerId) return rangeOf(db, undefined, period);
  const modes: Mode[] = mode ? [mode] : ['live', 'test'];
  const partner = uuidFromId(partnerId);
  const ranges = await Promise.all(modes.map(one => rangeOf(db, [partner, one], period)));
  return {
    beyond: ascending(ranges.map(({ beyond }) => beyond))[0]!,
    end: ascending(ranges.map(({ end }) => end)).at(-1)!,
  };
}

type Account = [partner: string, mode: Mode];

const rangeOf = async (
  db: Queryable,
  account: Account | undefined,
  { from, before }: Period,
): Promise<EventRange> => ({
  beyond: (from && (await eventBeside(db, account, lastBefore, from))) ?? allIds.beyond,
  end: (before && (await eventBeside(db, account, firstFrom, before))) ?? allIds.end,
});

/** No event up to this one happened at the time or later. */
const lastBefore = { pick: 'max', is: '<', order: 'DESC', afterMs: -skewMs };
/** No event from this one on happened before the time. */
const firstFrom = { pick: 'min', is: '>=', order: 'ASC', afterMs: skewMs };

/** The id of an event, found among those of some payments: by their primary key if there is an account. */
const eventBeside = (
  db: Queryable,
  account: Account | undefined,
  { pick, is, order, afterMs }: typeof lastBefore,
  time: Date,
) => {
  const at = new Date(time.getTime() + afterMs);
  const events = account
    ? `(SELECT p.id FROM payments p WHERE p.partner_id = $3 AND p.mode = $4 AND p.id ${is} $1 ORDER BY p.id ${order} LIMIT ${paymentsRead}) AS k
         JOIN events e ON e.partner_id = $3 AND e.mode = $4 AND e.payment_id = k.id`
    : `(SELECT * FROM events WHERE payment_id ${is} $1 ORDER BY payment_id ${order} LIMIT ${paymentsRead}) AS e`;
  return readValue<bigint | null>(db, {
    text: `SELECT ${pick}(e.id) FROM ${events} WHERE e.at ${is} $2`,
    values: [minUuidAt(at.getTime()), at, ...(account ?? [])],
  });
};
