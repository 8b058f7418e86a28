import type { Id } from '../../src/base/ids.ts';
import type {
  Gateway,
  KnownOrder,
  Order,
  OrderAnswer,
  OrderPage,
  PayRefusal,
  RefundPage,
  Unknown,
} from '../../src/gateway/gateway.ts';
import { noFaults } from './faults.ts';
import type { NewStep, Step } from './scheduler.ts';
import { type World, wireDelayMs } from './world.ts';

export interface Qr {
  url: string;
  qrcId: string;
  amountKopecks: bigint;
  /** Can be paid any number of times; otherwise only once. */
  reusable: boolean;
}

type Declined = Extract<OrderAnswer, { outcome: 'declined' }>['code'];

interface BankOrder {
  orderId: string;
  amountKopecks: bigint;
  qrcId: string;
  state: 'accepted' | 'succeeded' | 'declined';
  code: Declined;
  reference: string;
  createdAt: Date;
}

export interface BankOptions {
  /** A process is about to send a payment. */
  onPay(processName: string, paymentId: Id<'pay'>): void;
  onAccepted(paymentId: string): void;
  onPaid(paymentId: string, reference: string): void;
  /** What is still on its way to pay this never arrives. */
  isCutOff(paymentId: string): boolean;
  /** A process received an answer that contradicts an earlier one. */
  onContradiction(processName: string, paymentId: string): void;
  listRefunds(since: Date, cursor: string | undefined): RefundPage;
}

/** Few, so that most lists have several pages. */
const ordersPerPage = 3;

/** The bank side gave no list of its orders or refunds. */
export class NoListError extends Error {}

const unknown = (why: string): Unknown => ({ outcome: 'unknown', why });

/**
 * The bank side, behind the service's gateway interface. It keeps the promises of the gateway contract: an id is paid
 * at most once, and never after it was voided or refused. Everything else is random.
 */
export function createBank(world: World, options: BankOptions) {
  const { random, scheduler, trace } = world;
  const qrs = new Map<string, Qr>();
  const paidQrs = new Set<string>();
  const orders = new Map<string, BankOrder>();
  const refusals = new Map<string, PayRefusal>();
  const liedAbout = new Set<string>();

  function end(paymentId: string, order: BankOrder): void {
    const { qrcId } = order;
    const mayBePaid = qrs.get(qrcId)!.reusable || !paidQrs.has(qrcId);
    order.state = mayBePaid && !random.chance(world.faults.declined) ? 'succeeded' : 'declined';
    order.code = mayBePaid ? 'gateway_declined' : 'qr_already_paid';
    trace.add('bank', `${paymentId} has ${order.state}`);
    if (order.state === 'declined') return;
    paidQrs.add(qrcId);
    options.onPaid(paymentId, order.reference);
  }

  function accept({ paymentId, qrcId, amountKopecks, reference }: Order): BankOrder {
    const orderId = `order-${orders.size + 1}`;
    const createdAt = new Date(scheduler.nowMs());
    const terms = { orderId, amountKopecks, qrcId, reference, createdAt };
    const order: BankOrder = { ...terms, state: 'accepted', code: 'gateway_declined' };
    orders.set(paymentId, order);
    options.onAccepted(paymentId);
    if (!random.chance(world.faults.acceptedLater)) end(paymentId, order);
    else scheduler.after(processingMs(), { run: () => end(paymentId, order) });
    return order;
  }

  function processingMs(): number {
    if (world.script) return 1_000;
    if (random.chance(world.faults.heldForHours)) return random.between(7_000_000, 13_000_000);
    return random.chance(0.7) ? random.between(0, 8_000) : random.between(8_000, 300_000);
  }

  const describe = ({ state, orderId, code }: BankOrder): OrderAnswer =>
    state === 'declined' ? { outcome: state, orderId, code } : { outcome: state, orderId };

  /** The answer about an order, sometimes a false one. */
  function answerAbout(paymentId: string, order: BankOrder): OrderAnswer | Unknown {
    const answer = describe(order);
    if (!random.chance(world.faults.lie)) return answer;
    liedAbout.add(paymentId);
    switch (random.pick(['amount', 'order', 'state'])) {
      case 'amount':
        return { ...unknown('an order over another amount'), contradicts: true };
      case 'order':
        return { ...answer, orderId: `${order.orderId}-lie` };
      default:
        return answer.outcome === 'succeeded'
          ? { outcome: 'declined', orderId: order.orderId, code: 'gateway_declined' }
          : { outcome: 'succeeded', orderId: order.orderId };
    }
  }

  /** Another false answer: the order is unknown. */
  function pretendsUnknown(paymentId: string): boolean {
    const lies = random.chance(world.faults.lie / 2);
    if (lies) liedAbout.add(paymentId);
    return lies;
  }

  function pay(order: Order): OrderAnswer | PayRefusal | Unknown {
    const { paymentId } = order;
    const refusal = refusals.get(paymentId);
    if (refusal) return refusal;
    const known = orders.get(paymentId);
    if (known) return answerAbout(paymentId, known);
    if (options.isCutOff(paymentId)) return unknown('it has not arrived');
    if (random.chance(world.faults.refusal)) {
      const code = random.pick(['qr_changed', 'gateway_busy', 'gateway_unavailable'] as const);
      refusals.set(paymentId, { outcome: 'refused', code });
      return { outcome: 'refused', code };
    }
    return answerAbout(paymentId, accept(order));
  }

  function poll({ paymentId }: KnownOrder) {
    const order = orders.get(paymentId);
    return order && !pretendsUnknown(paymentId)
      ? answerAbout(paymentId, order)
      : ({ outcome: 'order_unknown' } as const);
  }

  function makeVoid({ paymentId }: KnownOrder) {
    const order = orders.get(paymentId);
    if (order && !pretendsUnknown(paymentId)) return answerAbout(paymentId, order);
    // One that was refused stays so: the refusal may still be on its way to the books.
    if (!order && !refusals.has(paymentId)) refusals.set(paymentId, { outcome: 'refused', code: 'voided' });
    return { outcome: 'voided' } as const;
  }

  let polls = 0;
  /** In a run with a script only messages about its order are hit, and not all of them. */
  function isSpared(what: string): boolean {
    if (!world.script) return false;
    if (what.startsWith('GET')) polls += 1;
    return !what.startsWith('PUT') && !(what.startsWith('GET') && polls === 1 && world.script.losesFirstPoll);
  }

  const isLate = () => world.faults.orderLate > 0 && random.chance(world.faults.orderLate);

  /** One request and its answer. The caller gives up after the timeout, but its request may still arrive later. */
  function exchange<Answer extends { outcome: string }>(
    processName: string,
    what: string,
    timeoutMs: number,
    noAnswer: Answer,
    atTheBank: () => Answer,
  ): Promise<Answer> {
    return new Promise(resolve => {
      const waiting: Step[] = [];
      const isPay = what.startsWith('PUT');
      const faults = isSpared(what) ? () => noFaults : () => world.faults;
      const onWayMs = () => (isPay && world.script?.payTakesMs) || wireDelayMs({ random, faults: faults() });
      const answerAfter = (delayMs: number, answer: Answer) =>
        waiting.push(
          scheduler.after(delayMs, {
            processName,
            run: () => {
              for (const step of waiting) scheduler.cancel(step);
              trace.add(processName, `receives the answer to ${what}: ${answer.outcome}`);
              resolve(answer);
            },
          }),
        );
      const arrive: NewStep = {
        run: () => {
          const answer = atTheBank();
          trace.add('bank', `${what} from ${processName}: ${answer.outcome}`);
          if (random.chance(faults().answerLost)) return breakOff();
          const readable = !random.chance(faults().answerUnreadable);
          answerAfter(wireDelayMs({ random, faults: faults() }), readable ? answer : noAnswer);
        },
      };
      /** The caller notices at once, or only at its timeout. */
      const breakOff = () =>
        void (random.chance(faults().noticed) && answerAfter(random.between(0, 3_000), noAnswer));

      answerAfter(timeoutMs, noAnswer);
      if (random.chance(faults().messageLost)) return breakOff();
      scheduler.after(isPay && isLate() ? random.between(10_000, 600_000) : onWayMs(), arrive);
      if (isPay && random.chance(faults().messageTwice))
        scheduler.after(random.between(0, 200_000), {
          run: () => trace.add('bank', `${what} again: ${atTheBank().outcome}`),
        });
    });
  }

  function portOf(processName: string): Gateway {
    const askAbout = async <Answer extends { outcome: string }>(
      method: string,
      { paymentId }: KnownOrder,
      timeoutMs: number,
      atTheBank: () => Answer | Unknown,
    ): Promise<Answer | Unknown> => {
      const noAnswer: Answer | Unknown = unknown('lost');
      const answer = await exchange(processName, `${method} ${paymentId}`, timeoutMs, noAnswer, atTheBank);
      if ('contradicts' in answer) options.onContradiction(processName, paymentId);
      return answer;
    };
    const list = async <Page>(what: string, read: () => Page): Promise<Page> => {
      const noAnswer: { outcome: string; page?: Page } = { outcome: 'lost' };
      const atTheBank = () => ({ outcome: 'listed', page: read() });
      const { page } = await exchange(processName, what, 10_000, noAnswer, atTheBank);
      if (!page) throw new NoListError(`the ${what} of the bank side was lost`);
      return page;
    };
    return {
      resolve: qrUrl =>
        exchange(processName, 'resolve', 10_000, { outcome: 'qr_unresolvable' }, () => {
          const qr = qrs.get(/AD\w+/.exec(qrUrl)![0]);
          if (!qr || random.chance(world.faults.unresolvable)) return { outcome: 'qr_unresolvable' };
          const { qrcId, amountKopecks } = qr;
          const recipient = { recipient: 'Shop', recipientId: 'shop', purpose: 'Goods' };
          return {
            outcome: 'resolved',
            qr: { qrcId, scenario: 'C2B', ...recipient, amountKopecks, fingerprint: 'as it is' },
          };
        }),
      pay: order => {
        options.onPay(processName, order.paymentId);
        return askAbout('PUT', order, 50_000, () => pay(order));
      },
      poll: order => askAbout('GET', order, 10_000, () => poll(order)),
      void: order => askAbout('void', order, 10_000, () => makeVoid(order)),
      listRefunds: (since, cursor) => list('refunds', () => options.listRefunds(since, cursor)),
      listOrders: (since, cursor) => list('list', () => listSince(since, Number(cursor ?? 0))),
      close: () => Promise.resolve(),
    };
  }

  /** New orders come last, so a position in the list stays valid. */
  function listSince(since: Date, position: number): OrderPage {
    const listed = [...orders]
      .map(([paymentId, order]) => ({ ...order, paymentId, operationNumber: null }))
      .filter(({ createdAt }) => createdAt >= since);
    const end = position + ordersPerPage;
    return { orders: listed.slice(position, end), nextCursor: end < listed.length ? `${end}` : null };
  }

  /** The real state of a payment id at the bank, whatever the bank answers about it, and what its order carries. */
  function truthOf(paymentId: string) {
    const order = orders.get(paymentId);
    const refusal = refusals.get(paymentId);
    const refused = refusal && (refusal.code === 'voided' ? 'voided' : 'refused');
    const truth: string = order?.state ?? refused ?? 'never_received';
    return { truth, amountKopecks: order?.amountKopecks, reference: order?.reference };
  }

  return {
    addQr: (qr: Qr) => void qrs.set(qr.qrcId, qr),
    portOf,
    truthOf,
    paidIds: () => [...orders].filter(([, { state }]) => state === 'succeeded').map(([id]) => id),
    hasLiedAbout: (paymentId: string) => liedAbout.has(paymentId),
  };
}

export type Bank = ReturnType<typeof createBank>;
