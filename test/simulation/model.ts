import type { Account } from './accounts.ts';
import type { Bank } from './bank.ts';
import { type BookedPayment, type Books, checkBalances, checkTimes } from './books.ts';
import { type EventIds, isCarriedBy, type LateOrders, noPast, type Past } from './past.ts';
import type { World } from './world.ts';

const supportAfterMs = 2 * 3_600_000;
/** Without faults, a due payment is polled within this time. */
const pollSlackMs = 5 * 60_000;

export interface ModelOptions {
  bank: () => Bank;
  partners: Account[];
  /** Of the whole run. */
  eventIds: EventIds;
  /** Orders without a payment that are on record, of the history of this model. */
  strayOrders(): string[];
  /** An order of its key came late, so the key may have two. */
  isLateKey: LateOrders['isKeyOf'];
  past?: Past;
}

export function createModel(
  world: World,
  { bank, partners, eventIds, strayOrders, isLateKey, past = noPast() }: ModelOptions,
) {
  const byId = ({ payments }: Books) => new Map(payments.map(payment => [payment.paymentId, payment]));
  let known = byId(past.books);
  const endedByOperator = new Set(past.endedByOperator);
  /** Payments that this history or its past has rebuilt from their orders. */
  const rebuilt = new Set(past.rebuilt);
  const topUps = new Map(past.topUps);
  const refunded = new Map(past.refunded);
  const alarmsDue: { processName: string; paymentId: string }[] = [];
  const logged = new Set<string>();
  const { reported } = past;
  let latest = past.books;
  const { violate } = world;

  /** The state at the bank proves nothing about these. */
  const isBeyondTruth = ({ paymentId }: { paymentId: string }) =>
    endedByOperator.has(paymentId) || bank().hasLiedAbout(paymentId);

  /** Of a payment that is new here; one that was rebuilt is as it was when its order was sent. */
  function checkOpening(payment: BookedPayment): BookedPayment {
    const lost = past.findLost(payment.paymentId);
    if (lost) {
      rebuilt.add(payment.paymentId);
      world.counts.rebuilt += 1;
      return { ...lost, status: 'processing', errorCode: null, orderId: null };
    }
    world.counts.payments += 1;
    if (payment.mode === 'test' && payment.kopecks % 100 === 3)
      violate('in test mode ,03 is refused before any debit', payment.paymentId);
    return { ...payment, status: 'processing' };
  }

  function checkChange(before: BookedPayment, now: BookedPayment): void {
    const { status, paymentId } = now;
    if (before.status !== 'processing' && (before.status !== status || before.errorCode !== now.errorCode))
      violate('a terminal status never changes', `${paymentId} was ${before.status}, is ${status}`);
    const fixed = ['partnerId', 'mode', 'key', 'qrcId', 'kopecks', 'microUsdt', 'createdMs'] as const;
    for (const field of fixed) {
      const [was, is] = [before[field], now[field]];
      if (was !== is)
        violate('the terms of a payment never change', `${field} of ${paymentId}: ${was}, ${is}`);
    }
    if (before.orderId) checkOrder(before.orderId, now);
    if (before.status === 'processing' && status !== 'processing') checkEnding(now);
  }

  /** Whatever the bank side answers later, this is the order that it has accepted. */
  function checkOrder(orderId: string, payment: BookedPayment): void {
    const rule = 'a payment with an order on record ends with that order';
    const { paymentId, status, errorCode } = payment;
    if (payment.orderId !== orderId) violate(rule, `${paymentId}: ${orderId}, now ${payment.orderId}`);
    if (status === 'rejected' || errorCode === 'not_executed')
      violate(rule, `${paymentId} with ${orderId}: ${status} ${errorCode}`);
  }

  function checkUndone({ paymentId, status }: BookedPayment): void {
    if (status === 'rejected' && reported.has(paymentId))
      violate('a payment that a partner has seen is never undone', paymentId);
  }

  function checkEnding(payment: BookedPayment): void {
    const { paymentId, status, kopecks, mode } = payment;
    checkUndone(payment);
    if (isBeyondTruth(payment)) return;
    if (mode === 'test') {
      const expected = kopecks % 100 === 1 ? 'failed' : 'succeeded';
      if (status !== expected)
        violate('in test mode the kopecks decide', `${paymentId} over ${kopecks} ${status}`);
      return;
    }
    const { truth, amountKopecks, reference } = bank().truthOf(paymentId);
    const fits = {
      processing: [],
      succeeded: ['succeeded'],
      failed: ['declined', 'voided', 'refused'],
      rejected: past.findLost(paymentId)?.status === 'rejected' ? ['refused', 'voided'] : ['refused'],
    };
    if (!(fits[status] as string[]).includes(truth))
      violate('a payment ends as the bank side ended it', `${paymentId} has ${status}, there ${truth}`);
    if (amountKopecks !== undefined && Number(amountKopecks) !== kopecks)
      violate('amounts are equal on both sides', `${paymentId}: ${kopecks} here, ${amountKopecks} there`);
    if (reference !== undefined && !isCarriedBy(reference, payment))
      violate('an order carries its payment', paymentId);
  }

  /** A second order of a key waits for people, if the first one was late. */
  function isSetAside(paymentId: string): boolean {
    const lost = past.findLost(paymentId);
    return lost !== undefined && isLateKey(lost) && strayOrders().includes(paymentId);
  }

  function checkRows(payments: BookedPayment[]): void {
    const keys = new Set<string>();
    const codes = new Set<string>();
    for (const { paymentId, partnerId, mode, status, key, qrcId, openRows, events } of payments) {
      const account = `${partnerId} ${mode}`;
      if (status !== 'rejected') {
        if (keys.has(`${account} ${key}`)) violate('one payment per key', `${paymentId} is a second one`);
        keys.add(`${account} ${key}`);
      }
      if (status === 'processing') {
        const code = `${mode === 'live' ? 'live' : account} ${qrcId}`;
        if (codes.has(code)) violate('never two unfinished payments per QR code', paymentId);
        codes.add(code);
      }
      if (openRows !== (status === 'processing' ? 1 : 0))
        violate('unfinished payments, and only these, stand in open_payments', `${paymentId}: ${openRows}`);
      if (events !== (status === 'succeeded' || status === 'failed' ? 1 : 0))
        violate('one event per finished payment, none for others', `${paymentId} ${status}: ${events}`);
    }
  }

  const alarmsOn = (books: Books, kind: string, paymentId: string) =>
    books.alarms.filter(alarm => alarm.kind === kind && alarm.paymentId === paymentId);

  /** Not checked while faults are injected; soon after, every overdue payment must be marked. */
  function checkOverdue(books: Books): void {
    const nowMs = world.scheduler.nowMs();
    if (world.faultsStoppedMs === undefined || nowMs - world.faultsStoppedMs < pollSlackMs) return;
    const rule = 'a payment that is unfinished for two hours is marked, with one alarm';
    for (const { paymentId, status, createdMs, supportSince } of books.payments) {
      if (status !== 'processing' || nowMs - createdMs < supportAfterMs + pollSlackMs) continue;
      const { length } = alarmsOn(books, 'payment_overdue', paymentId).filter(({ open }) => open);
      if (!supportSince || length !== 1)
        violate(rule, `${paymentId}: since ${supportSince}, ${length} alarms`);
    }
  }

  return {
    get books() {
      return latest;
    },
    /** Compares the books with how they were before the statement that was sent at that time. */
    observe: (books: Books, sentMs: number) => {
      checkTimes(world, { sentMs, before: latest, now: books, findLost: past.findLost });
      latest = books;
      for (const payment of books.payments)
        checkChange(known.get(payment.paymentId) ?? checkOpening(payment), payment);
      if (books.payments.length < known.size) violate('no payment is ever removed', `${known.size} before`);
      known = byId(books);
      eventIds.check(books.payments);
      checkRows(books.payments);
      checkBalances(world, books, { partners, topUps, refunded, rebuilt });
      checkOverdue(books);
    },
    find: (paymentId: string) => known.get(paymentId),
    /** A partner has received an answer about this payment. */
    markReported: (paymentId: string) => {
      reported.add(paymentId);
      const payment = known.get(paymentId);
      if (payment) checkUndone(payment);
    },
    /** The operator has ended this payment: what the bank side answers does not matter any more. */
    markEndedByOperator: (paymentId: string) => void endedByOperator.add(paymentId),
    toppedUp: (id: string, microUsdt: number) => void topUps.set(id, (topUps.get(id) ?? 0) + microUsdt),
    /** So much of its payments was returned to the partner. */
    refunded: (id: string, microUsdt: number) => void refunded.set(id, (refunded.get(id) ?? 0) + microUsdt),
    /** A process is about to send this payment. */
    beforePay: (paymentId: string) => {
      if (!known.has(paymentId))
        violate('the debit is committed before the payment is sent to the gateway', paymentId);
    },
    /** The bank side has paid. */
    paid: (paymentId: string) => {
      const payment = known.get(paymentId);
      if (payment && payment.status !== 'processing' && !isBeyondTruth(payment))
        violate('a failed payment is never paid', `${payment.paymentId} ${payment.status}`);
    },
    /** This payment must raise an alarm, unless the process that noticed dies first. */
    mustAlarm: (processName: string, paymentId: string) => void alarmsDue.push({ processName, paymentId }),
    wasLogged: (kind: string, paymentId: string) => void logged.add(`${kind} ${paymentId}`),
    /** The state at the bank proves nothing about it: the bank side gave false answers, or an operator has ended it. */
    isBeyondTruth: (paymentId: string) => isBeyondTruth({ paymentId }),
    /** What is known now, for the model of a history that begins with a copy of now. */
    snapshot: () => {
      const marks = { endedByOperator: new Set(endedByOperator), rebuilt: new Set(rebuilt) };
      const sums = { topUps: new Map(topUps), refunded: new Map(refunded) };
      return { books: latest, ...marks, ...sums, reported };
    },
    /** At the end of the run. */
    checkEnd: (isAlive: (processName: string) => boolean) => {
      for (const payment of latest.payments) {
        if (payment.status === 'processing') violate('every payment ends', payment.paymentId);
        else checkEnding(payment);
      }
      for (const paymentId of bank().paidIds()) {
        const payment = known.get(paymentId);
        if (!payment && isSetAside(paymentId)) continue;
        if (!payment) violate('the bank side pays nothing that is not in the books', paymentId);
        else if (payment.status !== 'succeeded' && !isBeyondTruth(payment))
          violate('a payment that the bank has paid has succeeded', `${payment.paymentId} ${payment.status}`);
      }
      const kind = 'gateway_contradiction';
      for (const { processName, paymentId } of alarmsDue) {
        const { length } = alarmsOn(latest, kind, paymentId);
        if (isAlive(processName) && length === 0 && !logged.has(`${kind} ${paymentId}`))
          violate('a contradiction raises an alarm', `${paymentId}, noticed by ${processName}`);
      }
    },
  };
}

/** Invariants of payments and balances, checked after every change. */
export type Model = ReturnType<typeof createModel>;
