import Type from 'typebox';
import { listRequests, readThresholds, submitThresholds } from '../../approvals/index.ts';
import { parseInstant } from '../../base/instants.ts';
import { formatKopecks, formatMicroUsdt, parseKopecks, parseMicroUsdt } from '../../base/money.ts';
import {
  cancelMaintenance,
  isUnderMaintenance,
  listMaintenance,
  planMaintenance,
  setMaintenance,
} from '../../controls/index.ts';
import { done, Instant, Rubles, readNumber, refuse, Usdt } from '../../web/index.ts';
import { answer, requestRow } from '../approval-replies.ts';
import { auditContextOf, get, post } from '../route.ts';

const refusals = {
  until_before_from: 'The end must be after the start.',
  over_already: 'The end is in the past.',
  too_long: 'Maintenance can last one week at most.',
};

export const showSettings = get('/settings', 'see', {}, async (request, { db, clock }) => {
  const [on, windows, thresholds, requests] = await Promise.all([
    isUnderMaintenance(db, clock),
    listMaintenance(db, clock),
    readThresholds(db),
    listRequests(db, { state: 'waiting', subjects: ['service'] }),
  ]);
  return {
    maintenance: {
      on,
      windows: windows.map(({ windowId, from, until, plannedBy }) => ({
        window_id: `${windowId}`,
        from: from.toISOString(),
        until: until.toISOString(),
        planned_by: plannedBy,
      })),
    },
    // Above these an action needs a second operator.
    thresholds: {
      version: thresholds.version,
      resolve_rub: formatKopecks(thresholds.decisionKopecks),
      credit_usdt: formatMicroUsdt(thresholds.creditMicroUsdt),
    },
    requests: requests.map(one => requestRow(one, request.operator)),
  };
});

const maintenanceRoutes = [
  post(
    '/settings/maintenance',
    'settings.maintenance',
    { body: { on: Type.Boolean() } },
    async (request, deps) => {
      await setMaintenance(auditContextOf(deps, request), request.body.on);
      return done;
    },
  ),
  post(
    '/settings/maintenance/plan',
    'settings.maintenance',
    { body: { from: Instant, until: Instant } },
    async (request, deps) => {
      const [from, until] = [parseInstant(request.body.from), parseInstant(request.body.until)];
      if (!from || !until) return refuse(400, 'invalid_request', 'This time does not exist.');
      const { outcome } = await planMaintenance(auditContextOf(deps, request), { from, until });
      return outcome === 'planned' ? done : refuse(400, outcome, refusals[outcome]);
    },
  ),
  post(
    '/settings/maintenance/cancel',
    'settings.maintenance',
    { body: { window_id: Type.String() } },
    async (request, deps) => {
      const windowId = readNumber(request.body.window_id);
      const audit = auditContextOf(deps, request);
      const outcome = windowId === undefined ? 'no_window' : await cancelMaintenance(audit, windowId);
      return outcome === 'cancelled'
        ? done
        : refuse(409, outcome, 'This maintenance is no longer scheduled: it has ended or was cancelled.');
    },
  ),
];

const changeThresholds = post(
  '/settings/thresholds',
  'settings.thresholds',
  {
    body: {
      resolve_rub: Rubles,
      credit_usdt: Usdt,
      expected_version: Type.Integer({ minimum: 0 }),
    },
  },
  async (request, deps) => {
    const { resolve_rub, credit_usdt, expected_version } = request.body;
    const result = await submitThresholds(auditContextOf(deps, request), request.operator, {
      decisionKopecks: parseKopecks(resolve_rub)!,
      creditMicroUsdt: parseMicroUsdt(credit_usdt)!,
      expectedVersion: expected_version,
    });
    return answer(request, result);
  },
);

/** Settings of the whole service: maintenance, and the amounts above which four-eyes approval is needed. */
export const settingsRoutes = [showSettings, ...maintenanceRoutes, changeThresholds];
