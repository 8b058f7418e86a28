import { type Clock, dayMs } from '../../base/clock.ts';
import type { AuditContext } from '../../db/audit/index.ts';
import { findRow, type Queryable, readRows } from '../../db/postgres/index.ts';
import { pruneOlder } from '../../db/retention/index.ts';
import {
  type differenceObject,
  type ReconcileDeps,
  type Reconciliation,
  reconcile,
  type Watch,
} from './reconcile.ts';

/** A reconciliation with the gateway, finished or under way. */
export interface Run {
  runId: bigint;
  actor: string;
  from: Date;
  until: Date;
  startedAt: Date;
  finishedAt: Date | null;
  orders: bigint | null;
  payments: bigint | null;
  differenceCount: number | null;
  /** How many of them are only open on both sides: no discrepancy yet. */
  unfinishedCount: number;
  /** False if there are more differences than the run lists. */
  isComplete: boolean;
}

export type StoredDifference = ReturnType<typeof differenceObject>;

const columns = `id AS "runId", actor, from_at AS "from", until_at AS "until", started_at AS "startedAt",
                 finished_at AS "finishedAt", orders, payments, jsonb_array_length(differences) AS "differenceCount",
                 (SELECT count(*)::int FROM jsonb_array_elements(differences) AS d
                   WHERE d ->> 'kind' = 'still_open' AND d ->> 'order_state' IS DISTINCT FROM 'succeeded') AS "unfinishedCount",
                 is_complete AS "isComplete"`;

/** Newest first; with `before`, those before that run. */
export const listRuns = (db: Queryable, { before, limit }: { before?: bigint | undefined; limit: number }) =>
  readRows<Run>(db, {
    text: `SELECT ${columns} FROM reconciliations WHERE $1::bigint IS NULL OR id < $1 ORDER BY id DESC LIMIT $2`,
    values: [before ?? null, limit],
  });

export const findRun = (db: Queryable, runId: bigint) =>
  findRow<Run & { differences: StoredDifference[] }>(db, {
    text: `SELECT ${columns}, coalesce(differences, '[]') AS differences FROM reconciliations WHERE id = $1`,
    values: [runId],
  });

/** Reconciles the payments created on a UTC day, for an operator. */
export const reconcileDay = (
  audit: AuditContext,
  gateway: ReconcileDeps['gateway'],
  day: Date,
  watch: Watch = {},
): Promise<Reconciliation> =>
  reconcile({ ...audit, gateway }, audit.actor, { from: day, until: new Date(day.getTime() + dayMs) }, watch);

/** The actor of the hourly runs. */
export const hourlyActor = 'kopeck';

/** The last finished run of the service stays: the next one begins where it ended. */
const isNotLast = `id IS DISTINCT FROM (SELECT max(id) FROM reconciliations
                                         WHERE actor = '${hourlyActor}' AND finished_at IS NOT NULL)`;

/** A run deletes its orders at its end, so those of an old run belong to a process that died. */
export async function pruneRuns(db: Queryable, clock: Clock): Promise<number> {
  const startOfRun = '(SELECT started_at FROM reconciliations r WHERE r.id = t.run_id)';
  const orders = await pruneOlder(db, clock, { table: 'listed_orders', since: startOfRun, keptDays: 7 });
  const runs = { table: 'reconciliations', since: 'started_at', keptDays: 365, where: isNotLast };
  return orders + (await pruneOlder(db, clock, runs));
}
