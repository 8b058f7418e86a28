import type { AuditContext } from '../../db/audit.ts';
import type { Queryable } from '../../db/pool.ts';
import {
  type differenceObject,
  type ReconcileDeps,
  type Reconciliation,
  reconcile,
  type Watch,
} from './reconcile.ts';

/** A reconciliation with the bank side, finished or under way. */
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
  /** False if there are more differences than the run lists. */
  isComplete: boolean;
}

export type StoredDifference = ReturnType<typeof differenceObject>;

const columns = `id AS "runId", actor, from_at AS "from", until_at AS "until", started_at AS "startedAt",
                 finished_at AS "finishedAt", orders, payments, jsonb_array_length(differences) AS "differenceCount",
                 is_complete AS "isComplete"`;

/** Newest first; with `before`, those before that run. */
export async function listRuns(
  db: Queryable,
  { before, limit }: { before?: bigint | undefined; limit: number },
): Promise<Run[]> {
  const { rows } = await db.query<Run>({
    text: `SELECT ${columns} FROM reconciliations WHERE $1::bigint IS NULL OR id < $1 ORDER BY id DESC LIMIT $2`,
    values: [before ?? null, limit],
  });
  return rows;
}

export async function findRun(
  db: Queryable,
  runId: bigint,
): Promise<(Run & { differences: StoredDifference[] }) | undefined> {
  const { rows } = await db.query<Run & { differences: StoredDifference[] }>({
    text: `SELECT ${columns}, coalesce(differences, '[]') AS differences FROM reconciliations WHERE id = $1`,
    values: [runId],
  });
  return rows[0];
}

const dayMs = 86_400_000;

/** Reconciles the payments created on a UTC day, for an operator. */
export const reconcileDay = (
  audit: AuditContext,
  gateway: ReconcileDeps['gateway'],
  day: Date,
  watch: Watch = {},
): Promise<Reconciliation> =>
  reconcile({ ...audit, gateway }, audit.actor, { from: day, until: new Date(day.getTime() + dayMs) }, watch);
