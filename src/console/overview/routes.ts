import Type from 'typebox';
import { listAlarms } from '../../alarms/index.ts';
import { countWaiting } from '../../approvals/index.ts';
import { formatMicroUsdt } from '../../base/money.ts';
import { isUnderMaintenance } from '../../controls/index.ts';
import { countHeld } from '../../deposits/index.ts';
import { readTrialBalance } from '../../ledger/index.ts';
import { countAwaitingApproval } from '../../partners/index.ts';
import { countInReview, createThroughputReader } from '../../payments/index.ts';
import type { Route } from '../../web/index.ts';
import { countDeliveries } from '../../webhooks/index.ts';
import { alarmRows } from '../alarms/routes.ts';
import type { ConsoleDeps } from '../deps.ts';
import { readLockedQuotes } from '../locked-quotes.ts';
import { readRateNow } from '../rates/rows.ts';
import { get } from '../route.ts';

/** Requests within this time get the same answer. */
const sharedForMs = 1_500;
const alarmsShown = 100;

/** The state of the service at a glance, with the open alarms. */
const showOverview: Route<ConsoleDeps> = (scope, deps) => {
  const overview = shareAnswers(deps, createOverview(deps));
  scope.addHook('onSend', async request => {
    if (request.method !== 'GET') overview.forget();
  });
  get(
    '/overview',
    'see',
    { query: { minutes: Type.Integer({ minimum: 1, maximum: 1_440, default: 60 }) } },
    request => overview.ask(request.query.minutes),
  )(scope, deps);
};

export const overviewRoutes = [showOverview];

/** Several pages poll every few seconds: one of them runs the queries, and the others share its answer. */
function shareAnswers<Answer>({ clock }: ConsoleDeps, ask: (minutes: number) => Promise<Answer>) {
  const answers = new Map<number, { at: number; answer: Promise<Answer> }>();
  const askShared = (minutes: number): Promise<Answer> => {
    const nowMs = clock.monotonicMs();
    const last = answers.get(minutes);
    if (last && nowMs - last.at < sharedForMs) return last.answer;
    for (const [key, { at }] of answers) if (nowMs - at >= sharedForMs) answers.delete(key);
    const answer = ask(minutes);
    answers.set(minutes, { at: nowMs, answer });
    // A failure is not shared: the next request tries again.
    answer.catch(() => answers.delete(minutes));
    return answer;
  };
  return { ask: askShared, forget: () => answers.clear() };
}

export function createOverview(deps: ConsoleDeps) {
  const { db, clock } = deps;
  const pace = createThroughputReader(db, clock);
  return async (wanted: number) => {
    const [{ minutes, settleP50Ms, settleP99Ms }, rate, { live }, review, deliveries] = await Promise.all([
      pace.read(wanted),
      readRateNow(db, clock, deps.rateMaxAgeSec),
      readTrialBalance(db),
      countInReview(db),
      countDeliveries(db),
    ]);
    const [requests, toApprove, held, alarms, maintenance, quotes] = await Promise.all([
      countWaiting(db),
      countAwaitingApproval(db),
      countHeld(db),
      listAlarms(db, { cleared: false }),
      isUnderMaintenance(db, clock),
      readLockedQuotes(deps),
    ]);
    const total = (name: 'created' | 'succeeded' | 'failed') =>
      minutes.reduce((sum, minute) => sum + minute[name], 0);
    const [created, succeeded, failed] = [total('created'), total('succeeded'), total('failed')];
    return {
      now: new Date(clock.nowMs()).toISOString(),
      // Live payments, the oldest minute first, without gaps.
      per_minute: minutes.map(({ times: _, at, ...counts }) => ({ at: at.toISOString(), ...counts })),
      created,
      succeeded,
      failed,
      processing: created - succeeded - failed,
      // Of finished ones; null when there are none.
      success_share: succeeded + failed === 0 ? null : succeeded / (succeeded + failed),
      settle_p50_ms: settleP50Ms,
      settle_p99_ms: settleP99Ms,
      rate,
      balances: {
        available_usdt: formatMicroUsdt(live.available),
        held_usdt: formatMicroUsdt(live.held),
        settled_usdt: formatMicroUsdt(live.settled),
        partners: live.partners,
      },
      quotes,
      review: {
        count: review.count,
        oldest_at: review.oldestAt?.toISOString() ?? null,
        overdue: review.overdue,
      },
      requests_waiting: requests,
      partners_to_approve: toApprove,
      deposits_held: held,
      deliveries: {
        waiting: deliveries.waiting,
        failing: deliveries.failing,
        given_up: deliveries.givenUp,
        suspended_partners: deliveries.suspendedPartners,
      },
      alarms: await alarmRows(db, alarms.slice(0, alarmsShown)),
      maintenance,
    };
  };
}
