import { submitRelease } from '../../approvals/index.ts';
import { isLabel } from '../../base/label.ts';
import { formatKopecks } from '../../base/money.ts';
import { incarnationObject, listIncarnations, listRecovered, listStray } from '../../payments/index.ts';
import { refuse, Text } from '../../web/index.ts';
import { answer } from '../approval-replies.ts';
import { auditContextOf, get, post } from '../route.ts';

const recoveredShown = 100;

export const showRecovery = get('/recovery', 'see', {}, async (_request, { db }) => {
  const [incarnations, recovered, stray] = await Promise.all([
    listIncarnations(db),
    listRecovered(db, recoveredShown),
    listStray(db),
  ]);
  return {
    // Payments wait while one of them has not been opened.
    histories: incarnations.filter(({ cause }) => cause !== 'first_start').map(incarnationObject),
    recovered: recovered.map(payment => ({
      payment_id: payment.paymentId,
      partner: payment.partner,
      amount_rub: formatKopecks(payment.amountKopecks),
      status: payment.status,
      recovered_at: payment.recoveredAt.toISOString(),
    })),
    stray: stray.map(order => ({
      order: order.payment,
      state: order.state,
      amount_rub: formatKopecks(order.amountKopecks),
      created_at: order.createdAt.toISOString(),
      // Null: unknown, so all payments wait.
      qrc_id: order.qrcId,
      why: order.why,
    })),
  };
});

const release = post(
  '/recovery/release',
  'payments.resolve',
  { body: { order: Text, reason: Text } },
  async (request, deps) => {
    const { order, reason } = request.body;
    if (!isLabel(reason))
      return refuse(400, 'invalid_request', 'A reason is one line of up to 128 characters.');
    const audit = auditContextOf(deps, request);
    return answer(request, await submitRelease(audit, request.operator, order, reason));
  },
);

/** What a promoted, restored or copied database had forgotten, and what is still to be decided. */
export const recoveryRoutes = [showRecovery, release];
