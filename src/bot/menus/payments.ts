import { type Id, parseId } from '../../base/ids.ts';
import type { Mode } from '../../ledger/index.ts';
import { findByExternalId, findPayment, listPayments, type Payment } from '../../payments/index.ts';
import { ask, dataOf, type PartnerVisit, show } from '../visit.ts';
import type { Menu } from './menu.ts';

const paymentsShown = 8;

const buttonsOf = ({ say, partner }: PartnerVisit, payments: Payment[]) =>
  payments.map(payment => [
    {
      text: say.payments.line(payment),
      data: dataOf('yv', partner, payment.paymentId.slice('pay_'.length)),
    },
  ]);

async function showRecent(visit: PartnerVisit, mode: Mode): Promise<void> {
  const { say, deps, partner } = visit;
  const owner = { partnerId: partner.partnerId, mode };
  const { payments } = await listPayments(deps.pool, owner, { limit: paymentsShown });
  const other = mode === 'live' ? 'test' : 'live';
  await show(visit, {
    text: say.payments.recent(mode, payments.length),
    buttons: [
      ...buttonsOf(visit, payments),
      [
        { text: say.payments.otherMode(other), data: dataOf('y', partner, other) },
        { text: say.payments.find, data: dataOf('yf', partner) },
      ],
      [{ text: say.back, data: dataOf('h', partner) }],
    ],
  });
}

/** In whichever mode; another partner's is not found. */
async function findOwn({ deps, partner }: PartnerVisit, paymentId: Id<'pay'>): Promise<Payment | undefined> {
  const { partnerId } = partner;
  const found = await Promise.all(
    (['live', 'test'] as const).map(mode => findPayment(deps.pool, { partnerId, mode }, paymentId)),
  );
  return found.find(payment => payment && payment.status !== 'rejected');
}

async function showPayment(visit: PartnerVisit, payment: Payment): Promise<void> {
  const { say, partner } = visit;
  await show(visit, {
    text: say.payments.details(payment),
    buttons: [
      [{ text: say.refresh, data: dataOf('yv', partner, payment.paymentId.slice('pay_'.length)) }],
      [{ text: say.back, data: dataOf('y', partner, payment.mode) }],
    ],
  });
}

const askForPayment = (visit: PartnerVisit, text: string) =>
  ask(visit, {
    step: 'payment_find',
    partnerId: visit.partner.partnerId,
    text,
    back: dataOf('y', visit.partner, 'live'),
  });

async function find(visit: PartnerVisit, typed: string): Promise<void> {
  const { say, deps, partner } = visit;
  const name = typed.trim();
  const paymentId = parseId('pay', name);
  const byId = paymentId && (await findOwn(visit, paymentId));
  const found = byId ? [byId] : await findByExternalId(deps.pool, partner.partnerId, name, paymentsShown);
  const [only, ...others] = found;
  if (!only) return askForPayment(visit, say.payments.notFound);
  if (others.length === 0) return showPayment(visit, only);
  await show(visit, {
    text: say.payments.several,
    buttons: [...buttonsOf(visit, found), [{ text: say.back, data: dataOf('y', partner, 'live') }]],
  });
}

export const payments: Menu = {
  actions: {
    y: { role: 'viewer', run: (visit, mode) => showRecent(visit, mode === 'test' ? 'test' : 'live') },
    yf: { role: 'viewer', run: visit => askForPayment(visit, visit.say.payments.askName) },
    yv: {
      role: 'viewer',
      run: async (visit, suffix = '') => {
        const paymentId = parseId('pay', `pay_${suffix}`);
        const payment = paymentId && (await findOwn(visit, paymentId));
        if (payment) await showPayment(visit, payment);
        else visit.toast = visit.say.payments.gone;
      },
    },
  },
  steps: { payment_find: { role: 'viewer', answer: (visit, _args, typed) => find(visit, typed) } },
};
