import { parseDay } from '../../base/instants.ts';
import { isLabel } from '../../base/label.ts';
import { formatKopecks } from '../../base/money.ts';
import { OperatorError } from '../../base/operator-error.ts';
import { blockRecipient, listBlockedRecipients, unblockRecipient } from '../../controls/index.ts';
import { findRun, listRuns, type Run, reconcileDay } from '../../payments/index.ts';
import { Day, done, pageOf, paging, type Route, readNumber, refuse, Text } from '../../web/index.ts';
import type { ConsoleDeps } from '../deps.ts';
import { auditContextOf, get, post } from '../route.ts';
import { recoveryRoutes } from './recovery-routes.ts';

export const showRecipients = get('/recipients', 'see', {}, async (_request, { db }) => ({
  data: (await listBlockedRecipients(db)).map(({ recipient, blockedAt }) => ({
    recipient,
    blocked_at: blockedAt.toISOString(),
  })),
}));

const recipient = { recipient: Text };
const recipientRoutes = [
  showRecipients,
  post('/recipients/block', 'recipients.block', { body: recipient }, async (request, deps) => {
    const recipient = request.body.recipient.trim();
    if (!isLabel(recipient))
      return refuse(400, 'invalid_request', 'A recipient is one line of up to 128 characters.');
    const outcome = await blockRecipient(auditContextOf(deps, request), recipient);
    return outcome === 'blocked' ? done : refuse(409, outcome, 'This recipient is already blocked.');
  }),
  post('/recipients/unblock', 'recipients.block', { body: recipient }, async (request, deps) => {
    const outcome = await unblockRecipient(auditContextOf(deps, request), request.body.recipient);
    return outcome === 'unblocked' ? done : refuse(409, outcome, 'This recipient is no longer blocked.');
  }),
];

const showReconciliations = [
  get('/reconciliations', 'see', { query: paging }, async (request, { db }) => {
    const { limit, after = '' } = request.query;
    const runs = await listRuns(db, { before: readNumber(after), limit: limit + 1 });
    return pageOf(runs, limit, last => `${last.runId}`, runRow);
  }),
  get('/reconciliations/:id', 'see', {}, async (request, { db }) => {
    const runId = readNumber(request.params.id);
    const run = runId === undefined ? undefined : await findRun(db, runId);
    return run ? runDetail(run) : refuse(404, 'not_found', 'Reconciliation not found.');
  }),
];

/** A run reads a whole day from the gateway, page by page, so only one runs at a time. */
const runReconciliation: Route<ConsoleDeps> = (scope, deps) => {
  let isRunning = false;
  post('/reconciliations', 'reconciliation.run', { body: { day: Day } }, async request => {
    const { db } = deps;
    const day = parseDay(request.body.day);
    if (!day || day.getTime() > deps.clock.nowMs())
      return refuse(400, 'invalid_request', 'This day does not exist or has not started.');
    if (isRunning)
      return refuse(
        409,
        'already_running',
        'A reconciliation is already running: wait until it is finished.',
      );
    isRunning = true;
    try {
      const { runId, refundFailure } = await reconcileDay(auditContextOf(deps, request), deps.gateway, day);
      // The run has the orders, and says that it is incomplete.
      if (refundFailure)
        deps.log.error({ err: refundFailure, request_id: request.id }, 'refunds could not be compared');
      return runRow((await findRun(db, runId))!);
    } catch (error) {
      const message =
        error instanceof OperatorError
          ? error.message
          : 'The payment gateway is not responding: try again later.';
      deps.log.error({ err: error, request_id: request.id }, 'the reconciliation failed');
      return refuse(503, 'gateway_unavailable', message);
    } finally {
      isRunning = false;
    }
  })(scope, deps);
};

export const runRow = (run: Run) => ({
  run_id: `${run.runId}`,
  actor: run.actor,
  from: run.from.toISOString(),
  until: run.until.toISOString(),
  started_at: run.startedAt.toISOString(),
  finished_at: run.finishedAt?.toISOString() ?? null,
  orders: run.orders === null ? null : Number(run.orders),
  payments: run.payments === null ? null : Number(run.payments),
  differences: run.differenceCount,
  /** Of these, payments without a final status on either side. */
  unfinished: run.unfinishedCount,
  /** False if there are more differences than the run lists. */
  is_complete: run.isComplete,
});

const inRubles = (kopecks: number | null) => (kopecks === null ? null : formatKopecks(BigInt(kopecks)));

export const runDetail = (run: NonNullable<Awaited<ReturnType<typeof findRun>>>) => ({
  run: runRow(run),
  differences: run.differences.map(difference => ({
    kind: difference.kind,
    payment_id: difference.payment_id,
    status: difference.status,
    amount_rub: inRubles(difference.amount_kopecks),
    order_id: difference.order_id,
    order_state: difference.order_state,
    order_rub: inRubles(difference.order_kopecks),
  })),
});

/** Blocked recipients, reconciliation with the gateway, and recovery of a lost history. */
export const controlRoutes = [
  ...recipientRoutes,
  ...showReconciliations,
  runReconciliation,
  ...recoveryRoutes,
];
