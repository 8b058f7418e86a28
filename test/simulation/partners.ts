import type { PaymentRequest } from '../../src/payments/create/request.ts';
import type { Account } from './accounts.ts';
import type { Answer } from './answering.ts';
import type { Bank, Qr } from './bank.ts';
import type { Histories, History } from './histories.ts';
import type { Keys } from './keys.ts';
import type { Processes } from './processes.ts';
import type { Quotes } from './quotes.ts';
import type { Script, Span, World } from './world.ts';

interface Known {
  paymentId: string;
  status: string;
  /** In which the partner saw it. */
  history: History;
}

/** A payment that a partner wants, and the last answer about it. */
interface Intent {
  account: Account;
  mode: 'live' | 'test';
  key: string;
  qr: Qr;
  /** The locked quote that it is asked with. */
  quoteId: string | undefined;
  known: Known | undefined;
  /** An answer was lost, so a payment may exist that the partner has not seen. */
  inDoubt: boolean;
  underWay: number;
  tries: number;
}

/** One request, what was known when it was sent, and the history of the process that has answered it. */
interface Asked {
  intent: Intent;
  knownBefore: Known | undefined;
  history: History;
}

export interface PartnersOptions {
  accounts: Account[];
  processes: Processes;
  bank: Bank;
  histories: Histories;
  newQr: (index: number) => Qr;
  /** In runs where partners lock quotes. */
  quotes: Quotes | undefined;
  /** In runs where partners have API keys. */
  keys: Keys | undefined;
}

const answeredWithinMs = 90_000;
/** For the end of its payment: a minute by the clock of its process. */
const waitsForMs = 59_900;
/** The service is being compared with the bank side, or the key has ended: the partner must repeat its request. */
const notNow = ['maintenance', 'unauthorized'];
const repeatsWithinMs = 90_000;

type Payment = Extract<Answer, { outcome: 'payment' }>['payment'];

/** Partners who request payments, and repeat with the same key until the payment is over. */
export function createPartners(
  world: World,
  { accounts, processes, bank, histories, newQr, quotes, keys }: PartnersOptions,
) {
  const { random, scheduler, trace, violate } = world;
  const asked: Intent[] = [];
  let asking = 0;

  const nameOf = ({ account, key }: Intent) => `${account.partnerId} ${key}`;

  function sendAfter(delayMs: number, intent: Intent): void {
    asking += 1;
    scheduler.after(delayMs, { run: () => send(intent) });
  }

  function send(intent: Intent): void {
    const reachable = processes.running();
    intent.tries += 1;
    intent.underWay += 1;
    const sentMs = scheduler.nowMs();
    const asked = { intent, knownBefore: intent.known };
    const { account, mode, key, qr, quoteId } = intent;
    const { partnerId, limits } = account;
    const request: PaymentRequest = {
      ...{ qrUrl: qr.url, idempotencyKey: key, quoteId },
      ...{ amountKopecks: undefined, externalId: null, metadata: new Map() },
    };
    if (reachable.length === 0) {
      receive({ ...asked, history: histories.current() }, { outcome: 'broken' });
      return;
    }
    const process = random.pick(reachable);
    trace.add(nameOf(intent), `asks ${process.name} to pay ${qr.qrcId.slice(14, 18)} in ${mode}`);
    const use = keys?.use(intent);
    process.request({ partnerId, mode, limits, apiKey: use?.key }, request, answer => {
      const tookMs = scheduler.nowMs() - sentMs;
      if (tookMs > answeredWithinMs && !process.hasStalled)
        violate('everybody is answered within 90 seconds', `${nameOf(intent)}, after ${tookMs} ms`);
      if (world.script) checkWaited(intent, answer);
      use?.answered(answer, process);
      receive({ ...asked, history: process.history }, answer);
    });
  }

  /** Nothing fails but one process, so every live payment ends before its request must be answered. */
  function checkWaited(intent: Intent, answer: Answer): void {
    if (answer.outcome !== 'payment' || answer.payment.mode === 'test') return;
    const { status, createdAt } = answer.payment;
    if (status === 'processing' && scheduler.nowMs() < createdAt.getTime() + waitsForMs)
      violate('a request waits for the end of its payment', nameOf(intent));
  }

  function receive(asked: Asked, answer: Answer): void {
    const { intent } = asked;
    intent.underWay -= 1;
    asking -= 1;
    trace.add(nameOf(intent), `gets ${describe(answer)}`);
    if (answer.outcome === 'payment') receivePayment(asked, answer.payment);
    else if (answer.outcome === 'refused') receiveRefusal(asked, answer.code);
    else intent.inDoubt = true;

    const isOver =
      (answer.outcome === 'refused' && !notNow.includes(answer.code)) ||
      (answer.outcome === 'payment' && answer.payment.status !== 'processing');
    if (!isOver) sendAfter(pauseMs(intent), intent);
    else if (!world.faultsStoppedMs && intent.tries < 6 && random.chance(0.25))
      sendAfter(pauseMs(intent), intent);
  }

  const describe = (answer: Answer) =>
    answer.outcome === 'payment'
      ? `${answer.payment.paymentId} ${answer.payment.status}`
      : answer.outcome === 'refused'
        ? answer.code
        : answer.outcome;

  const pauseMs = ({ tries }: Intent) => random.between(0, Math.min(2_000 * 2 ** tries, 1_800_000));

  /**
   * Of a lost history the same payment may be unfinished once more until the bank side was asked, and may end
   * differently if the bank side gave false answers or an operator had decided.
   */
  const mayDiffer = (before: Known, history: History, { paymentId, status }: Payment) =>
    before.history !== history &&
    (status === 'processing' ||
      before.history.model.isBeyondTruth(paymentId) ||
      history.model.isBeyondTruth(paymentId));

  function receivePayment({ intent, knownBefore, history }: Asked, payment: Payment): void {
    const { paymentId, status, amountKopecks, partnerId, mode } = payment;
    // What the bank side never had is not brought back, nor are test payments: the key is free again.
    if (intent.known && isForgotten(intent, intent.known)) intent.known = undefined;
    const { known } = intent;
    const isLate = isForgotten(intent, payment);
    if (known && known.paymentId !== paymentId && !isLate)
      violate('one payment id per key', `${nameOf(intent)}: ${known.paymentId}, then ${paymentId}`);
    // An answer read before the end may arrive after it, but not to a request sent after the end.
    const before = status === 'processing' ? knownBefore : known;
    if (
      before?.paymentId === paymentId &&
      before.status !== 'processing' &&
      before.status !== status &&
      !mayDiffer(before, history, payment)
    )
      violate('a partner never sees a terminal status change', `${paymentId}: ${before.status}, ${status}`);
    const { account, qr } = intent;
    if (amountKopecks !== qr.amountKopecks || partnerId !== account.partnerId || mode !== intent.mode)
      violate('a partner gets its own payment', `${nameOf(intent)}: ${paymentId}`);
    if (intent.quoteId !== undefined) quotes!.sawPayment(intent.quoteId, payment);
    const booked = history.model.find(paymentId);
    if (!booked || (status !== 'processing' && booked.status !== status))
      violate('an answer to a partner agrees with the books', `${paymentId}: ${status}; ${booked?.status}`);
    history.model.markReported(paymentId);
    if (!isLate && (!known || known.status === 'processing')) intent.known = { paymentId, status, history };
  }

  const isForgotten = ({ mode }: Intent, { paymentId }: { paymentId: string }) =>
    histories.isForgotten(paymentId) || (mode === 'test' && histories.isLost(paymentId));

  /** Of two concurrent requests one may be refused before the other goes ahead; after that, none may. */
  function receiveRefusal({ intent, knownBefore, history }: Asked, code: string): void {
    if (notNow.includes(code) || (knownBefore && isForgotten(intent, knownBefore))) return;
    const { account, mode, key, known, inDoubt, underWay } = intent;
    if (knownBefore)
      violate('a payment that a partner has seen is not refused later', `${knownBefore.paymentId}: ${code}`);
    if (known || inDoubt || underWay > 0) return;
    const left = history.model.books.payments
      .filter(payment => payment.partnerId === account.partnerId && payment.mode === mode)
      .find(payment => payment.key === key && payment.status !== 'rejected');
    // An earlier of the two answers may have shown one that is forgotten by now.
    if (left && !isForgotten(intent, left))
      violate('a refusal leaves no payment behind', `${nameOf(intent)} ${code}: ${left.paymentId}`);
  }

  function repeatSome(): void {
    for (const intent of asked) if (random.chance(0.6)) sendAfter(random.between(0, repeatsWithinMs), intent);
  }

  /** Some customers decide only after the quote has expired. */
  function want(intent: Intent): void {
    if (!quotes) {
      sendCopies(intent);
      return;
    }
    asking += 1;
    quotes.lockFor(intent, quoteId => {
      asking -= 1;
      intent.quoteId = quoteId;
      const mayExpire = quoteId !== undefined && !world.script;
      sendCopies(intent, mayExpire && random.chance(0.4) ? random.between(0, 90_000) : 0);
    });
  }

  /** Sends the request once, or several times at the same moment. */
  function sendCopies(intent: Intent, decidedAfterMs = 0): void {
    asked.push(intent);
    for (let copies = !world.script && random.chance(0.3) ? random.between(2, 3) : 1; copies > 0; copies--)
      sendAfter(decidedAfterMs + (random.chance(0.5) ? 0 : random.between(0, 5_000)), intent);
  }

  const newIntent = (account: Account, mode: Intent['mode'], key: string, qr: Qr): Intent => ({
    ...{ account, mode, key, qr, quoteId: undefined, known: undefined },
    ...{ inDoubt: false, underWay: 0, tries: 0 },
  });

  /** What comes beside the payment shows in a second one. */
  function planScript({ mode, beside }: Script): void {
    const qr = newQr(0);
    bank.addQr(qr);
    for (let count = 1; count <= (beside ? 2 : 1); count++) {
      asking += 1;
      const run = () => {
        asking -= 1;
        want(newIntent(accounts[0]!, mode, `key ${count}`, qr));
      };
      scheduler.after(1_000 + (count - 1) * 20_000, { run });
    }
  }

  return {
    plan: ({ busyMs }: Span) => {
      if (world.script) return planScript(world.script);
      // Few codes for many payments, so that they conflict.
      const { maxPayments } = world;
      const qrs = Array.from({ length: random.between(1, maxPayments / 2) }, (_, index) => newQr(index));
      for (const qr of qrs) bank.addQr(qr);
      for (let count = random.between(2, maxPayments); count > 0; count--) {
        const [account, mode] = [random.pick(accounts), random.chance(0.8) ? 'live' : 'test'] as const;
        const intent = newIntent(account, mode, `key ${count}`, random.pick(qrs));
        scheduler.after(random.between(0, busyMs), { run: () => want(intent) });
      }
    },
    /** Many repeat what they have asked for, finished or not. */
    repeatSome,
    isDone: () => asking === 0,
  };
}

export type Partners = ReturnType<typeof createPartners>;
