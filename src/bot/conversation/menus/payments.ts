import { type Id, parseId } from '../../../base/ids.ts';
import {
  findByExternalId,
  findPaymentOf,
  findRefunded,
  listNewerPayments,
  listPayments,
  type PaymentStatus,
  type ShownPayment,
} from '../../../payments/index.ts';
import type { PaymentFilter } from '../../texts/en.ts';
import { ask, backTo, button, type PartnerContext, show, toast } from '../chat-context.ts';
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

const suffixOf = ({ paymentId }: ShownPayment) => paymentId.slice('pay_'.length);

const buttonsOf = (chat: PartnerContext, payments: ShownPayment[], letter: string[] = []) =>
  payments.map(payment => [
    button(chat, chat.texts.payments.line(payment), 'yv', suffixOf(payment), ...letter),
  ]);

async function showPage(
  chat: PartnerContext,
  filter: PaymentFilter,
  { payments, hasNewer, hasMore }: { payments: ShownPayment[]; hasNewer: boolean; hasMore: boolean },
): Promise<void> {
  const texts = chat.texts.payments;
  const { mode, status } = filter;
  const letter = letterOf(filter);
  const [first, last] = [payments[0], payments.at(-1)];
  const turning = [
    ...(hasNewer && first ? [button(chat, texts.newer, 'yn', mode, suffixOf(first), ...letter)] : []),
    ...(hasMore && last ? [button(chat, texts.older, 'yo', mode, suffixOf(last), ...letter)] : []),
  ];
  const filters: PaymentFilter[] = [{ mode }, ...paymentStatuses.map(one => ({ mode, status: one }))];
  const other = mode === 'live' ? 'test' : 'live';
  const text =
    hasNewer && first ? texts.before(filter, first.createdAt) : texts.recent(filter, payments.length);
  await show(chat, text, [
    ...buttonsOf(chat, payments, letter),
    ...(turning.length > 0 ? [turning] : []),
    filters.map(one =>
      button(chat, texts.only(one.status, one.status === status), 'y', mode, ...letterOf(one)),
    ),
    [button(chat, texts.otherMode(other), 'y', other), button(chat, texts.find, 'yf')],
    backTo(chat, 'h'),
  ]);
}

const accountOf = ({ partner: { partnerId } }: PartnerContext, { mode }: PaymentFilter) => ({
  partnerId,
  mode,
});
const pageOptions = ({ status }: PaymentFilter) => ({ limit: paymentsShown, ...(status && { status }) });
const listNewer = (chat: PartnerContext, filter: PaymentFilter, than: Id<'pay'>) =>
  listNewerPayments(chat.deps.pool, accountOf(chat, filter), { ...pageOptions(filter), than });

async function showRecent(chat: PartnerContext, filter: PaymentFilter): Promise<void> {
  const page = await listPayments(chat.deps.pool, accountOf(chat, filter), pageOptions(filter));
  await showPage(chat, filter, { ...page, hasNewer: false });
}

async function showOlder(chat: PartnerContext, filter: PaymentFilter, startingAfter: Id<'pay'>) {
  const account = accountOf(chat, filter);
  const page = await listPayments(chat.deps.pool, account, { ...pageOptions(filter), startingAfter });
  if (page.payments.length === 0) return showRecent(chat, filter);
  await showPage(chat, filter, { ...page, hasNewer: true });
}

/** The newest page is always full, even if it overlaps with the page before. */
async function showNewer(chat: PartnerContext, filter: PaymentFilter, than: Id<'pay'>): Promise<void> {
  const { payments, hasMore } = await listNewer(chat, filter, than);
  if (!hasMore) return showRecent(chat, filter);
  await showPage(chat, filter, { payments, hasNewer: true, hasMore: true });
}

/** The page to return to from one payment: the newest page if the payment is on it, else one that starts with it. */
async function showAround(chat: PartnerContext, filter: PaymentFilter, than: Id<'pay'>): Promise<void> {
  const { payments } = await listNewer(chat, filter, than);
  const next = payments.at(-1);
  if (!next || payments.length < paymentsShown) return showRecent(chat, filter);
  await showOlder(chat, filter, next.paymentId);
}

/** In both modes; payments of other partners are not found. */
const findOwn = ({ deps, partner }: PartnerContext, paymentId: Id<'pay'>) =>
  findPaymentOf(deps.pool, partner.partnerId, paymentId);

async function showPayment(chat: PartnerContext, payment: ShownPayment, letter?: string): Promise<void> {
  const { texts, deps } = chat;
  const { mode } = payment;
  const shown = [suffixOf(payment), ...letterOf(filterFrom(mode, letter))];
  await show(chat, texts.payments.details(payment, await findRefunded(deps.pool, payment)), [
    [button(chat, texts.refresh, 'yv', ...shown)],
    backTo(chat, 'yb', mode, ...shown),
  ]);
}

async function openPayment(chat: PartnerContext, suffix = '', letter?: string): Promise<void> {
  const paymentId = parseId('pay', `pay_${suffix}`);
  const payment = paymentId && (await findOwn(chat, paymentId));
  if (!payment) return toast(chat, chat.texts.payments.gone);
  await showPayment(chat, payment, letter);
}

const askForPayment = (chat: PartnerContext, text: string) =>
  ask(chat, { step: 'payment_find', text, back: ['y', 'live'] });

async function find(chat: PartnerContext, typed: string): Promise<void> {
  const { texts, deps, partner } = chat;
  const name = typed.trim();
  const paymentId = parseId('pay', name);
  const byId = paymentId && (await findOwn(chat, paymentId));
  const found = byId ? [byId] : await findByExternalId(deps.pool, partner.partnerId, name, paymentsShown);
  const [only, ...others] = found;
  if (!only) return askForPayment(chat, texts.payments.notFound);
  if (others.length === 0) return showPayment(chat, only);
  await show(chat, texts.payments.several, [...buttonsOf(chat, found), backTo(chat, 'y', 'live')]);
}

/** A button that leads from one payment to a page. */
const turnBy =
  (turn: typeof showOlder): PartnerAction =>
  async (chat, mode, suffix = '', letter) => {
    const filter = filterFrom(mode, letter);
    const paymentId = parseId('pay', `pay_${suffix}`);
    await (paymentId ? turn(chat, filter, paymentId) : showRecent(chat, filter));
  };

export const payments: Menu = {
  money: {
    actions: {
      y: (chat, mode, letter) => showRecent(chat, filterFrom(mode, letter)),
      yo: turnBy(showOlder),
      yn: turnBy(showNewer),
      yb: turnBy(showAround),
      yf: chat => askForPayment(chat, chat.texts.payments.askName),
      yv: openPayment,
    },
    steps: { payment_find: { answer: find } },
  },
};
