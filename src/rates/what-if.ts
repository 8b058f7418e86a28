import { kopecksToMicroUsdt } from '../base/money.ts';
import type { Queryable } from '../db/postgres/index.ts';
import { type Answer, combine, midsSinceConfirmed, type Part, type RateBounds } from './combine.ts';
import type { RateRules } from './rules.ts';
import { explainRate, listHourBefore, readCurrentRate, readMidBefore } from './store.ts';

/**
 * What the last rate would have been with other rules, from the same quotes at the same time, and what an amount would
 * have cost. `operatorSources` are the names of the fixed rates set by the operator.
 */
export async function computeWhatIf(
  db: Queryable,
  rules: RateRules,
  asked: { amountKopecks: bigint; maxAgeSec: number; bounds: RateBounds; operatorSources: string[] },
) {
  const current = await readCurrentRate(db);
  const last = current && (await explainRate(db, current.rateId));
  if (!last) return undefined;
  const answers = last.parts.map(part => toAnswer(part, asked.operatorSources));
  const hour = await listHourBefore(db, last.createdAt, last.rateId);
  const { rate, alarms } = combine(answers, {
    ...rules,
    nowMs: last.createdAt.getTime(),
    maxAgeSec: asked.maxAgeSec,
    bounds: asked.bounds,
    lastMidE4: await readMidBefore(db, last.rateId),
    recentMidsE4: midsSinceConfirmed(hour, rules),
  });
  const costs = (rateE4: bigint) => kopecksToMicroUsdt(asked.amountKopecks, rateE4);
  return {
    /** Undefined: with these rules there would be no rate. */
    rate: rate && { rateE4: rate.rateE4, midE4: rate.midE4, microUsdt: costs(rate.rateE4) },
    now: { rateE4: last.rateE4, microUsdt: costs(last.rateE4) },
    parts: rate?.parts ?? last.parts,
    alarms,
  };
}

function toAnswer(part: Part, operatorSources: string[]): Answer {
  const { source } = part;
  if (part.outcome === 'failed') return { source, reason: part.reason };
  const { midE4, asOfMs } = part;
  return { source, isSetByOperator: operatorSources.includes(source), quote: { midE4, asOfMs } };
}
