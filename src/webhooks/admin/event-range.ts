import { minUuidAt, uuidFromId } from '../../base/ids.ts';
import { type Queryable, readValue } from '../../db/postgres/index.ts';
import type { Mode } from '../../ledger/index.ts';
import type { DeliveryFilter } from './delivery-statement.ts';

/** The ids of the events of a period are between these two. */
export interface EventRange {
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

/** A range that has all events of the period that the filter can match. */
export async function findEventRange(
  db: Queryable,
  { partnerId, mode }: Pick<DeliveryFilter, 'partnerId' | 'mode'>,
  { from, before }: { from: Date | undefined; before: Date | undefined },
): Promise<EventRange> {
  if (!from && !before) return allIds;
  if (!partnerId) return rangeOf(db, undefined, { from, before });
  const modes: Mode[] = mode ? [mode] : ['live', 'test'];
  const ranges = await Promise.all(
    modes.map(one => rangeOf(db, { partner: uuidFromId(partnerId), mode: one }, { from, before })),
  );
  return {
    beyond: inOrder(ranges.map(({ beyond }) => beyond))[0]!,
    end: inOrder(ranges.map(({ end }) => end)).at(-1)!,
  };
}

const inOrder = (ids: bigint[]) => ids.toSorted((one, other) => (one < other ? -1 : 1));

const rangeOf = async (
  db: Queryable,
  account: Account | undefined,
  { from, before }: { from: Date | undefined; before: Date | undefined },
): Promise<EventRange> => ({
  beyond: (from && (await lastEventBefore(db, from, account))) ?? allIds.beyond,
  end: (before && (await firstEventAfter(db, before, account))) ?? allIds.end,
});

interface Account {
  partner: string;
  mode: Mode;
}

/** The events of some payments: by their primary key if there is an account. */
const eventsNear = (account: Account | undefined, isNear: string, order: string) =>
  account
    ? `(SELECT p.id FROM payments p WHERE p.partner_id = $3 AND p.mode = $4 AND p.id ${isNear} ORDER BY p.id ${order} LIMIT ${paymentsRead}) AS k
         JOIN events e ON e.partner_id = $3 AND e.mode = $4 AND e.payment_id = k.id`
    : `(SELECT * FROM events WHERE payment_id ${isNear} ORDER BY payment_id ${order} LIMIT ${paymentsRead}) AS e`;

const valuesOf = (at: Date, account: Account | undefined) => [
  minUuidAt(at.getTime()),
  at,
  ...(account ? [account.partner, account.mode] : []),
];

/** An id; no event up to it happened at this time or later. */
async function lastEventBefore(db: Queryable, at: Date, account: Account | undefined) {
  return readValue<bigint | null>(db, {
    text: `SELECT max(e.id) AS id FROM ${eventsNear(account, '< $1', 'DESC')} WHERE e.at < $2`,
    values: valuesOf(new Date(at.getTime() - skewMs), account),
  });
}

/** An id; no event from it on happened before this time. */
async function firstEventAfter(db: Queryable, at: Date, account: Account | undefined) {
  return readValue<bigint | null>(db, {
    text: `SELECT min(e.id) AS id FROM ${eventsNear(account, '>= $1', 'ASC')} WHERE e.at >= $2`,
    values: valuesOf(new Date(at.getTime() + skewMs), account),
  });
}
