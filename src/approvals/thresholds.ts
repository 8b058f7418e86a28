import type { Queryable } from '../db/postgres/index.ts';

/** Up to these amounts one operator is enough; above them four-eyes approval is needed. */
export interface Thresholds {
  decisionKopecks: bigint;
  creditMicroUsdt: bigint;
}

export interface CurrentThresholds extends Thresholds {
  /** Increases with every change; a change names the version that it is based on. */
  version: number;
}

const select = `SELECT resolve_alone_kopecks AS "decisionKopecks", credit_alone_micro_usdt AS "creditMicroUsdt",
                       thresholds_version AS version FROM service`;

export async function readThresholds(db: Queryable): Promise<CurrentThresholds> {
  const { rows } = await db.query<CurrentThresholds>({ text: select });
  return rows[0]!;
}

/**
 * Reads the thresholds and locks them until the transaction ends. Whatever may need approval is submitted under this lock,
 * one after the other, so that the sum of what was done without approval includes the ones before.
 */
export async function lockThresholds(tx: Queryable): Promise<CurrentThresholds> {
  const { rows } = await tx.query<CurrentThresholds>({ text: `${select} FOR NO KEY UPDATE` });
  return rows[0]!;
}

export async function writeThresholds(
  tx: Queryable,
  { decisionKopecks, creditMicroUsdt }: Thresholds,
): Promise<void> {
  await tx.query({
    text: `UPDATE service SET resolve_alone_kopecks = $1, credit_alone_micro_usdt = $2,
                              thresholds_version = thresholds_version + 1`,
    values: [decisionKopecks, creditMicroUsdt],
  });
}

/** Raising a threshold lets one operator do more alone, so it needs four-eyes approval itself. */
export const isRaised = (now: Thresholds, wanted: Thresholds) =>
  wanted.decisionKopecks > now.decisionKopecks || wanted.creditMicroUsdt > now.creditMicroUsdt;
