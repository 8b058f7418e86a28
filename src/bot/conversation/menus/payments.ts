import { type Id, parseId } from '../../../base/ids.ts';
import {
  findByExternalId,
  findPaymentOf,
  findRefunded,
  listNewerPayments,
  listPayments,
  type Payment,
  type PaymentStatus,
} from '../../../payments/index.ts';
import type { PaymentFilter } from '../../texts/en.ts';
import { ask, callbackData, type PartnerContext, show } from '../chat-context.ts';
import type { Menu, PartnerAction } from './menu.ts';

const paymentsShown = 8;

/** Callback data is short, so a status is one letter. */
const letters = { succeeded: 's', failed: 'f', processing: 'p' } as const;
const paymentStatuses = Object.keys(letters) as PaymentStatus[];
const letterOf = ({ status }: PaymentFilter): string[] => (status ? [letters[status]] : []);

function filterFrom(mode: string | undefined, letter: string | undefined): PaymentFilter {
  const status = paymentStatuses.find(one => letters[one] === letter);
  return { mode: mode === 'test' ? 'test' : 'live', ...(status && { status }) };
}

const suffixOf = ({ paymentId }: Payment) => paymentId.slice('pay_'.length);

const buttonsOf = ({ texts, partner }: PartnerContext, payments: Payment[], filter?: PaymentFilter) =>
  payments.map(payment => [
    {
      text: texts.payments.line(payment),
      data: callbackData('yv', partner, suffixOf(payment), ...(filter ? letterOf(filter) : [])),
    },
  ]);

interface PageShown {
  payments: Payment[];
  hasNewer: boolean;
  hasOlder: boolean;
}

async function showPage(
  chat: PartnerContext,
  filter: PaymentFilter,
  { payments, hasNewer, hasOlder }: PageShown,
): Promise<void> {
  const { texts, partner } = chat;
  const { mode, status } = filter;
  const turn = (text: string, action: string, from: Payment) => ({
    text,
    data: callbackData(action, partner, mode, suffixOf(from), ...letterOf(filter)),
  });
  const [first, last] = [payments[0], payments.at(-1)];
  const turning = [
    ...(hasNewer && first ? [turn(texts.payments.newer, 'yn', first)] : []),
    ...(hasOlder && last ? [turn(texts.payments.older, 'yo', last)] : []),
  ];
  const filters: PaymentFilter[] = [{ mode }, ...paymentStatuses.map(one => ({ mode, status: one }))];
  const other = mode === 'live' ? 'test' : 'live';
  await show(chat, {
    text:
      hasNewer && first
        ? texts.payments.before(filter, first.createdAt)
        : texts.payments.recent(filter, payments.length),
    buttons: [
      ...buttonsOf(chat, payments, filter),
      ...(turning.length > 0 ? [turning] : []),
      filters.map(one => ({
        text: texts.payments.only(one.status, one.status === status),
        data: callbackData('y', partner, mode, ...letterOf(one)),
      })),
      [
        { text: texts.payments.otherMode(other), data: callbackData('y', partner, other) },
        { text: texts.payments.find, data: callbackData('yf', partner) },
      ],
      [{ text: texts.back, data: callbackData('h', partner) }],
    ],
  });
}

const accountOf = ({ partner: { partnerId } }: PartnerContext, { mode }: PaymentFilter) => ({
  partnerId,
  mode,
});
const pageOptions = ({ status }: PaymentFilter) => ({ limit: paymentsShown, ...(status && { status }) });

async function showRecent(chat: PartnerContext, filter: PaymentFilter): Promise<void> {
  const page = await listPayments(chat.deps.pool, accountOf(chat, filter), pageOptions(filter));
  await showPage(chat, filter, { payments: page.payments, hasNewer: false, hasOlder: page.hasMore });
}

async function showOlder(
  chat: PartnerContext,
  filter: PaymentFilter,
  startingAfter: Id<'pay'>,
): Promise<void> {
  const account = accountOf(chat, filter);
  const page = await listPayments(chat.deps.pool, account, { ...pageOptions(filter), startingAfter });
  if (page.payments.length === 0) return showRecent(chat, filter);
  await showPage(chat, filter, { payments: page.payments, hasNewer: true, hasOlder: page.hasMore });
}

/** The newest page is always full, even if it overlaps with the page before. */
async function showNewer(chat: PartnerContext, filter: PaymentFilter, than: Id<'pay'>): Promise<void> {
  const account = accountOf(chat, filter);
  const page = await listNewerPayments(chat.deps.pool, account, { ...pageOptions(filter), than });
  if (!page.hasMore) return showRecent(chat, filter);
  await showPage(chat, filter, { payments: page.payments, hasNewer: true, hasOlder: true });
}

/** The page to return to from one payment: the newest page if the payment is on it, else one that starts with it. */
async function showAround(chat: PartnerContext, filter: PaymentFilter, than: Id<'pay'>): Promise<void> {
  const account = accountOf(chat, filter);
  const { payments } = await listNewerPayments(chat.deps.pool, account, { ...pageOptions(filter), than });
  const next = payments.at(-1);
  if (!next || payments.length < paymentsShown) return showRecent(chat, filter);
  await showOlder(chat, filter, next.paymentId);
}

/** In both modes; payments of other partners are not found. */
const findOwn = ({ deps, partner }: PartnerContext, paymentId: Id<'pay'>) =>
  findPaymentOf(deps.pool, partner.partnerId, paymentId);

async function showPayment(chat: PartnerContext, payment: Payment, letter?: string): Promise<void> {
  const { texts, deps, partner } = chat;
  const { mode } = payment;
  const shown = letterOf(filterFrom(mode, letter));
  await show(chat, {
    text: texts.payments.details(payment, await findRefunded(deps.pool, payment)),
    buttons: [
      [{ text: texts.refresh, data: callbackData('yv', partner, suffixOf(payment), ...shown) }],
      [{ text: texts.back, data: callbackData('yb', partner, mode, suffixOf(payment), ...shown) }],
    ],
  });
}

const askForPayment = (chat: PartnerContext, text: string) =>
  ask(chat, {
    step: 'payment_find',
    partnerId: chat.partner.partnerId,
    text,
    back: callbackData('y', chat.partner, 'live'),
  });

async function find(chat: PartnerContext, typed: string): Promise<void> {
  const { texts, deps, partner } = chat;
  const name = typed.trim();
  const paymentId = parseId('pay', name);
  const byId = paymentId && (await findOwn(chat, paymentId));
  const found = byId ? [byId] : await findByExternalId(deps.pool, partner.partnerId, name, paymentsShown);
  const [only, ...others] = found;
  if (!only) return askForPayment(chat, texts.payments.notFound);
  if (others.length === 0) return showPayment(chat, only);
  await show(chat, {
    text: texts.payments.several,
    buttons: [...buttonsOf(chat, found), [{ text: texts.back, data: callbackData('y', partner, 'live') }]],
  });
}

/** A button that leads from one payment to a page. */
const turnBy = (turn: typeof showOlder): PartnerAction => ({
  role: 'viewer',
  run: async (chat, mode, suffix = '', letter) => {
    const filter = filterFrom(mode, letter);
    const paymentId = parseId('pay', `pay_${suffix}`);
    await (paymentId ? turn(chat, filter, paymentId) : showRecent(chat, filter));
  },
});

export const payments: Menu = {
  actions: {
    y: { role: 'viewer', run: (chat, mode, letter) => showRecent(chat, filterFrom(mode, letter)) },
    yo: turnBy(showOlder),
    yn: turnBy(showNewer),
    yb: turnBy(showAround),
    yf: { role: 'viewer', run: chat => askForPayment(chat, chat.texts.payments.askName) },
    yv: {
      role: 'viewer',
      run: async (chat, suffix = '', letter) => {
        const paymentId = parseId('pay', `pay_${suffix}`);
        const payment = paymentId && (await findOwn(chat, paymentId));
        if (payment) await showPayment(chat, payment, letter);
        else chat.toast = chat.texts.payments.gone;
      },
    },
  },
  steps: { payment_find: { role: 'viewer', answer: (chat, _args, typed) => find(chat, typed) } },
};
