import { type Id, parseId } from '../../../base/ids.ts';
import {
  findByExternalId,
  findPayment,
  listNewerPayments,
  listPayments,
  type Payment,
  type PaymentStatus,
} from '../../../payments/index.ts';
import type { Shelf } from '../../texts/en.ts';
import { ask, dataOf, type PartnerVisit, show } from '../visit.ts';
import type { Menu, PartnerAction } from './menu.ts';

const paymentsShown = 8;

/** A button has little room: the state is one letter on it. */
const letters = { succeeded: 's', failed: 'f', processing: 'p' } as const;
const paymentStatuses = Object.keys(letters) as PaymentStatus[];
const letterOf = ({ status }: Shelf): string[] => (status ? [letters[status]] : []);

function shelfOf(mode: string | undefined, letter: string | undefined): Shelf {
  const status = paymentStatuses.find(one => letters[one] === letter);
  return { mode: mode === 'test' ? 'test' : 'live', ...(status && { status }) };
}

const suffixOf = ({ paymentId }: Payment) => paymentId.slice('pay_'.length);

const buttonsOf = ({ say, partner }: PartnerVisit, payments: Payment[], shelf?: Shelf) =>
  payments.map(payment => [
    {
      text: say.payments.line(payment),
      data: dataOf('yv', partner, suffixOf(payment), ...(shelf ? letterOf(shelf) : [])),
    },
  ]);

interface PageShown {
  payments: Payment[];
  hasNewer: boolean;
  hasOlder: boolean;
}

async function showPage(
  visit: PartnerVisit,
  shelf: Shelf,
  { payments, hasNewer, hasOlder }: PageShown,
): Promise<void> {
  const { say, partner } = visit;
  const { mode, status } = shelf;
  const turn = (text: string, action: string, from: Payment) => ({
    text,
    data: dataOf(action, partner, mode, suffixOf(from), ...letterOf(shelf)),
  });
  const [first, last] = [payments[0], payments.at(-1)];
  const turning = [
    ...(hasNewer && first ? [turn(say.payments.newer, 'yn', first)] : []),
    ...(hasOlder && last ? [turn(say.payments.older, 'yo', last)] : []),
  ];
  const shelves: Shelf[] = [{ mode }, ...paymentStatuses.map(one => ({ mode, status: one }))];
  const other = mode === 'live' ? 'test' : 'live';
  await show(visit, {
    text:
      hasNewer && first
        ? say.payments.before(shelf, first.createdAt)
        : say.payments.recent(shelf, payments.length),
    buttons: [
      ...buttonsOf(visit, payments, shelf),
      ...(turning.length > 0 ? [turning] : []),
      shelves.map(one => ({
        text: say.payments.only(one.status, one.status === status),
        data: dataOf('y', partner, mode, ...letterOf(one)),
      })),
      [
        { text: say.payments.otherMode(other), data: dataOf('y', partner, other) },
        { text: say.payments.find, data: dataOf('yf', partner) },
      ],
      [{ text: say.back, data: dataOf('h', partner) }],
    ],
  });
}

const ownerOf = ({ partner: { partnerId } }: PartnerVisit, { mode }: Shelf) => ({ partnerId, mode });
const wanted = ({ status }: Shelf) => ({ limit: paymentsShown, ...(status && { status }) });

async function showRecent(visit: PartnerVisit, shelf: Shelf): Promise<void> {
  const page = await listPayments(visit.deps.pool, ownerOf(visit, shelf), wanted(shelf));
  await showPage(visit, shelf, { payments: page.payments, hasNewer: false, hasOlder: page.hasMore });
}

async function showOlder(visit: PartnerVisit, shelf: Shelf, startingAfter: Id<'pay'>): Promise<void> {
  const owner = ownerOf(visit, shelf);
  const page = await listPayments(visit.deps.pool, owner, { ...wanted(shelf), startingAfter });
  if (page.payments.length === 0) return showRecent(visit, shelf);
  await showPage(visit, shelf, { payments: page.payments, hasNewer: true, hasOlder: page.hasMore });
}

/** The newest page is shown whole, even if it begins in the middle of the one before. */
async function showNewer(visit: PartnerVisit, shelf: Shelf, than: Id<'pay'>): Promise<void> {
  const owner = ownerOf(visit, shelf);
  const page = await listNewerPayments(visit.deps.pool, owner, { ...wanted(shelf), than });
  if (!page.hasMore) return showRecent(visit, shelf);
  await showPage(visit, shelf, { payments: page.payments, hasNewer: true, hasOlder: true });
}

/** Where somebody who looked at one payment goes on: with the newest page if it is on that, else with itself. */
async function showAround(visit: PartnerVisit, shelf: Shelf, than: Id<'pay'>): Promise<void> {
  const owner = ownerOf(visit, shelf);
  const { payments } = await listNewerPayments(visit.deps.pool, owner, { ...wanted(shelf), than });
  const next = payments.at(-1);
  if (!next || payments.length < paymentsShown) return showRecent(visit, shelf);
  await showOlder(visit, shelf, next.paymentId);
}

/** In whichever mode; another partner's is not found. */
async function findOwn({ deps, partner }: PartnerVisit, paymentId: Id<'pay'>): Promise<Payment | undefined> {
  const { partnerId } = partner;
  const found = await Promise.all(
    (['live', 'test'] as const).map(mode => findPayment(deps.pool, { partnerId, mode }, paymentId)),
  );
  return found.find(payment => payment && payment.status !== 'rejected');
}

async function showPayment(visit: PartnerVisit, payment: Payment, letter?: string): Promise<void> {
  const { say, partner } = visit;
  const { mode } = payment;
  const shown = letterOf(shelfOf(mode, letter));
  await show(visit, {
    text: say.payments.details(payment),
    buttons: [
      [{ text: say.refresh, data: dataOf('yv', partner, suffixOf(payment), ...shown) }],
      [{ text: say.back, data: dataOf('yb', partner, mode, suffixOf(payment), ...shown) }],
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

/** A button that leads from one payment to a page. */
const turnBy = (turn: typeof showOlder): PartnerAction => ({
  role: 'viewer',
  run: async (visit, mode, suffix = '', letter) => {
    const shelf = shelfOf(mode, letter);
    const paymentId = parseId('pay', `pay_${suffix}`);
    await (paymentId ? turn(visit, shelf, paymentId) : showRecent(visit, shelf));
  },
});

export const payments: Menu = {
  actions: {
    y: { role: 'viewer', run: (visit, mode, letter) => showRecent(visit, shelfOf(mode, letter)) },
    yo: turnBy(showOlder),
    yn: turnBy(showNewer),
    yb: turnBy(showAround),
    yf: { role: 'viewer', run: visit => askForPayment(visit, visit.say.payments.askName) },
    yv: {
      role: 'viewer',
      run: async (visit, suffix = '', letter) => {
        const paymentId = parseId('pay', `pay_${suffix}`);
        const payment = paymentId && (await findOwn(visit, paymentId));
        if (payment) await showPayment(visit, payment, letter);
        else visit.toast = visit.say.payments.gone;
      },
    },
  },
  steps: { payment_find: { role: 'viewer', answer: (visit, _args, typed) => find(visit, typed) } },
};
