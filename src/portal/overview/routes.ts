import Type from 'typebox';
import { formatKopecks, formatMicroUsdt, formatRate } from '../../base/money.ts';
import { isUnderMaintenance } from '../../controls/index.ts';
import { readBalances } from '../../ledger/index.ts';
import { hasRight, limitsObject, readFirstSteps } from '../../partners/index.ts';
import { isStale, readCurrentRate } from '../../rates/index.ts';
import { Mode, type Route } from '../../web/index.ts';
import { listEndpoints, worstState } from '../../webhooks/index.ts';
import type { RouteDeps } from '../deps.ts';
import { get } from '../route.ts';
import { createDayReader, type Day } from './days.ts';

const Query = Type.Object({
  mode: Mode,
  days: Type.Integer({ minimum: 1, maximum: 90, default: 30 }),
});

/** What a partner looks at first: payments by day, balance, rate, and whether something needs attention. */
export const overviewRoute: Route<RouteDeps> = (scope, deps) =>
  showOverview(createDayReader(deps.clock))(scope, deps);

export const showOverview = (readDays: ReturnType<typeof createDayReader>) =>
  get('/overview', 'money', { query: Query }, async (request, deps) => {
    const { partner, role } = request.member;
    const { mode, days: count } = request.query;
    const db = deps.readsOf(partner.partnerId);
    const account = { partnerId: partner.partnerId, mode };
    const days = await readDays(db, account, { timeZone: partner.timeZone, count });
    const balances = (await readBalances(db, partner.partnerId))[mode];
    const rate = await readCurrentRate(db);
    const endpoints = await listEndpoints(db, deps.clock, [partner.partnerId]);
    const steps = await readFirstSteps(db, partner.partnerId);
    return {
      mode,
      // Empty once all are done.
      first_steps: steps.every(({ state }) => state === 'done') ? [] : steps,
      // The oldest first, by the partner's calendar, without gaps; null: not counted yet, the next answer may have it.
      days: days.map(dayRow),
      ...sumOf(days),
      balance: {
        available_usdt: formatMicroUsdt(balances.availableMicroUsdt),
        held_usdt: formatMicroUsdt(balances.heldMicroUsdt),
      },
      rate: rate
        ? {
            rate: formatRate(rate.rateE4),
            as_of: rate.asOf.toISOString(),
            is_stale: isStale(rate, deps.clock, deps.rateMaxAgeSec),
          }
        : null,
      limits: limitsObject(partner.limits),
      webhook_state: (hasRight(role, 'follow') && worstState(endpoints)) || 'none',
      is_maintenance: await isUnderMaintenance(db, deps.clock),
    };
  });

const dayRow = (day: Day | undefined) =>
  day
    ? {
        day: day.name,
        created: day.created,
        succeeded: day.succeeded,
        failed: day.failed,
        turnover_rub: formatKopecks(day.kopecks),
        available_usdt: formatMicroUsdt(day.availableMicroUsdt),
      }
    : null;

function sumOf(days: (Day | undefined)[]) {
  const read = days.filter(day => day !== undefined);
  const count = (value: (day: Day) => number) => read.reduce((sum, day) => sum + value(day), 0);
  const money = (value: (day: Day) => bigint) => read.reduce((sum, day) => sum + value(day), 0n);
  const succeeded = count(day => day.succeeded);
  const finished = succeeded + count(day => day.failed);
  return {
    created: count(day => day.created),
    succeeded,
    failed: finished - succeeded,
    // Of finished payments; null when there are none.
    success_share: finished === 0 ? null : succeeded / finished,
    turnover_rub: formatKopecks(money(day => day.kopecks)),
    spent_usdt: formatMicroUsdt(money(day => day.microUsdt)),
    is_complete: read.length === days.length,
  };
}
