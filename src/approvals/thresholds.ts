import type { Queryable } from '../db/pool.ts';

/** Up to these amounts one person is enough. */
export interface Thresholds {
  resolveKopecks: bigint;
  creditMicroUsdt: bigint;
}

export interface CurrentThresholds extends Thresholds {
  /** Grows with every change; a change names the one it was made on. */
  version: number;
}

const select = `SELECT resolve_alone_kopecks AS "resolveKopecks", credit_alone_micro_usdt AS "creditMicroUsdt",
                       thresholds_version AS version FROM service`;

export async function readThresholds(db: Queryable): Promise<CurrentThresholds> {
  const { rows } = await db.query<CurrentThresholds>({ text: select });
  return rows[0]!;
}

/** As they are, and as they stay until the transaction ends. */
export async function lockThresholds(tx: Queryable): Promise<CurrentThresholds> {
  const { rows } = await tx.query<CurrentThresholds>({ text: `${select} FOR NO KEY UPDATE` });
  return rows[0]!;
}

export async function writeThresholds(
  tx: Queryable,
  { resolveKopecks, creditMicroUsdt }: Thresholds,
): Promise<void> {
  await tx.query({
    text: `UPDATE service SET resolve_alone_kopecks = $1, credit_alone_micro_usdt = $2,
                              thresholds_version = thresholds_version + 1`,
    values: [resolveKopecks, creditMicroUsdt],
  });
}

/** Raising a threshold would let one person do more alone: that alone is too much for one. */
export const isRaised = (now: Thresholds, wanted: Thresholds) =>
  wanted.resolveKopecks > now.resolveKopecks || wanted.creditMicroUsdt > now.creditMicroUsdt;
