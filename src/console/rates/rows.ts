import type { Clock } from '../../base/clock.ts';
import { formatRate } from '../../base/money.ts';
import type { Queryable } from '../../db/postgres/index.ts';
import {
  type CurrentRules,
  explainRate,
  isStale,
  type Part,
  readCurrentRate,
  rulesObject,
} from '../../rates/index.ts';

export const sourceRow = (part: Part) =>
  part.outcome === 'failed'
    ? { source: part.source, outcome: part.outcome, mid: null, as_of: null, reason: part.reason }
    : {
        source: part.source,
        outcome: part.outcome,
        mid: formatRate(part.midE4),
        as_of: new Date(part.asOfMs).toISOString(),
        reason: null,
      };

export async function readRateNow(db: Queryable, clock: Clock, maxAgeSec: number) {
  const current = await readCurrentRate(db);
  const rate = current && (await explainRate(db, current.rateId));
  if (!rate) return null;
  return {
    rate: formatRate(rate.rateE4),
    mid: formatRate(rate.midE4),
    spread_bps: rate.spreadBps,
    as_of: rate.asOf.toISOString(),
    age_sec: Math.max(0, Math.trunc((clock.nowMs() - rate.asOf.getTime()) / 1_000)),
    max_age_sec: maxAgeSec,
    stale: isStale(rate, clock, maxAgeSec),
    sources: rate.parts.map(sourceRow),
  };
}

export const rulesRow = (rules: CurrentRules) => ({
  // Grows with every change; a change names the version it was made on.
  version: rules.version,
  ...rulesObject(rules),
  set_by: rules.setBy,
  set_at: rules.setAt?.toISOString() ?? null,
  reason: rules.reason,
});
