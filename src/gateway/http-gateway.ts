import type { Clock } from '../base/clock.ts';
import { type ConcurrencyLimit, createConcurrencyLimit } from '../base/concurrency-limit.ts';
import { OperatorError } from '../base/operator-error.ts';
import type { Tracer } from '../telemetry/index.ts';
import {
  type Answer,
  isOrderUnknown,
  isVoided,
  readOrder,
  readPage,
  readRefundPage,
  readRefusal,
  readResolveAnswer,
} from './answers.ts';
import { type Breaker, createBreaker, type FailureSource } from './breaker.ts';
import { type CallDeps, callGateway, type GatewayCall } from './call.ts';
import type { Gateway, KnownOrder, Order, Requester, Resolution, Unknown } from './gateway.ts';
import {
  createTransport,
  describeError,
  type GatewayRequest,
  isTimeout,
  type List,
  listPath,
  type Transport,
} from './transport.ts';

export interface HttpGatewayOptions extends Partial<Record<TimeoutName, number>> {
  url: string;
  token: string | undefined;
  clock: Clock;
  /** Called when the gateway no longer answers, and when it does again. */
  onReachable?(isReachable: boolean): void;
  onCall?: (call: GatewayCall) => void;
  tracer?: Tracer | undefined;
}

type TimeoutName = 'resolveTimeoutMs' | 'payTimeoutMs' | 'pollTimeoutMs';

interface Connection extends CallDeps, Record<TimeoutName, number> {
  transport: Transport;
  breaker: Breaker;
  resolves: ConcurrencyLimit;
}

/** The gateway's wire contract over HTTP. An answer that the contract does not list is an unknown outcome. */
export function createHttpGateway(options: HttpGatewayOptions): Gateway {
  const { url, token, clock, onCall, tracer } = options;
  const closing = new AbortController();
  const breaker = createBreaker({
    clock,
    signal: closing.signal,
    onChange: isOpen => options.onReachable?.(!isOpen),
    check: () => checkBankSide(connection),
  });
  const transport = createTransport({ clock, url, token, breaker });
  const connection: Connection = {
    transport,
    breaker,
    resolves: createConcurrencyLimit(),
    ...{ clock, token, onCall, tracer },
    resolveTimeoutMs: options.resolveTimeoutMs ?? 10_000,
    payTimeoutMs: options.payTimeoutMs ?? 50_000,
    pollTimeoutMs: options.pollTimeoutMs ?? 10_000,
  };
  return {
    resolve: (qrUrl, requester) => resolve(connection, qrUrl, requester),
    pay: order => pay(connection, order),
    poll: order => poll(connection, order),
    void: order => voidOrder(connection, order),
    listOrders: async (since, cursor) => (await readList(connection, readPage, 'orders', since, cursor))!,
    listRefunds: (since, cursor) => readList(connection, readRefundPage, 'refunds', since, cursor),
    close: () => {
      closing.abort();
      return transport.close();
    },
  };
}

/** Beyond the payments that a partner may have under way at once: previews, and requests that are refused later. */
const moreResolvesPerPartner = 30;

/**
 * The only call that the open circuit breaker skips: nothing has happened yet, so the payment can be refused. One
 * partner's slow QR codes take only its own share of the connections.
 */
async function resolve(connection: Connection, qrUrl: string, requester: Requester): Promise<Resolution> {
  const { breaker, transport, resolves, resolveTimeoutMs: timeoutMs } = connection;
  const { partnerId, limits, trace } = requester;
  const leave = resolves.enter(partnerId, limits.concurrent + moreResolvesPerPartner);
  if (!leave) return { outcome: 'gateway_busy' };
  try {
    const source = { partner: partnerId, qr: qrUrl };
    if (!breaker.allowsCall(source)) return { outcome: 'gateway_unavailable' };
    const body = { qr_url: qrUrl };
    return await callGateway<Resolution>(connection, {
      call: 'resolve',
      paymentId: undefined,
      qrUrl,
      body,
      trace,
      send: traceparent =>
        transport.call({ method: 'POST', path: '/qr/resolve', body, timeoutMs, source, traceparent }),
      read: readResolveAnswer,
      readError: error => ({ outcome: isTimeout(error) ? 'qr_unresolvable' : 'gateway_unavailable' }),
    });
  } finally {
    leave();
  }
}

interface OrderCall<Result> extends Omit<GatewayRequest, 'path' | 'source' | 'traceparent'> {
  call: GatewayCall['call'];
  qrUrl?: string;
  pathSuffix?: string;
  read(answer: Answer): Result;
}

/** A call about an order. If it breaks in any way, the outcome is unknown: the order may have been executed. */
const callOrder = <Result extends { outcome: string }>(
  connection: Connection,
  order: KnownOrder,
  { call, qrUrl, pathSuffix = '', read, ...request }: OrderCall<Result>,
): Promise<Result | Unknown> => {
  const path = `/orders/${order.paymentId}${pathSuffix}`;
  return callGateway<Result | Unknown>(connection, {
    call,
    paymentId: order.paymentId,
    qrUrl,
    ...(request.body ? { body: request.body } : {}),
    trace: order.trace,
    send: traceparent =>
      connection.transport.call({ ...request, path, source: sourceOf(order), traceparent }),
    read,
    readError: error => ({ outcome: 'unknown', why: describeError(error) }),
  });
};

const sourceOf = ({ partnerId, qrcId }: KnownOrder): FailureSource | undefined =>
  partnerId && qrcId ? { partner: partnerId, qr: qrcId } : undefined;

const pay = (connection: Connection, order: Order) =>
  callOrder(connection, order, {
    call: 'pay',
    method: 'PUT',
    qrUrl: order.qrUrl,
    body: {
      qr_url: order.qrUrl,
      qrc_id: order.qrcId,
      amount_kopecks: Number(order.amountKopecks),
      fingerprint: order.fingerprint,
      reference: order.reference,
    },
    timeoutMs: connection.payTimeoutMs,
    read: answer => readRefusal(answer) ?? readOrder(answer, order.amountKopecks),
  });

const poll = (connection: Connection, order: KnownOrder) =>
  callOrder(connection, order, {
    call: 'poll',
    method: 'GET',
    timeoutMs: connection.pollTimeoutMs,
    read: answer =>
      isOrderUnknown(answer)
        ? ({ outcome: 'order_unknown' } as const)
        : readOrder(answer, order.amountKopecks),
  });

const voidOrder = (connection: Connection, order: KnownOrder) =>
  callOrder(connection, order, {
    call: 'void',
    method: 'POST',
    pathSuffix: '/void',
    timeoutMs: connection.pollTimeoutMs,
    read: answer =>
      isVoided(answer) ? ({ outcome: 'voided' } as const) : readOrder(answer, order.amountKopecks),
  });

/** About no order and no QR code: if even this gets no answer, no partner is the cause. */
const checkBankSide = ({ transport, clock, pollTimeoutMs: timeoutMs }: Connection): Promise<void> =>
  transport.call({ method: 'GET', path: listPath('orders', new Date(clock.nowMs()), 1), timeoutMs }).then(
    () => {},
    // The circuit breaker has counted it.
    () => {},
  );

const ordersPerPage = 1_000;
/** A thousand orders of 3 KiB, of which 1 KiB is the reference. One page is in memory at a time. */
const maxPageBytes = 3 * 1024 * 1024;

/** An adapter from before refunds does not know the path. */
const isUnknownPath = (status: number) => status === 404 || status === 405 || status === 501;

async function readList<Page>(
  { transport, pollTimeoutMs: timeoutMs }: Connection,
  read: (body: Answer['body']) => Page | undefined,
  list: List,
  since: Date,
  cursor: string | undefined,
): Promise<Page | undefined> {
  const isOptional = list === 'refunds';
  const path = listPath(list, since, ordersPerPage, cursor);
  const request = { method: 'GET', path, timeoutMs, maxAnswerBytes: maxPageBytes } as const;
  const { status, body } = await transport
    .call(isOptional ? { ...request, isUncounted: true } : request)
    .catch(error => {
      throw listFailed(list, describeError(error));
    });
  if (isOptional && isUnknownPath(status)) return undefined;
  const page = status === 200 && read(body);
  if (!page) throw listFailed(list, `status ${status}`);
  return page;
}

const listFailed = (list: List, reason: string) =>
  new OperatorError(
    `The payment gateway returned no list of ${list} (${reason}): check GATEWAY_URL and that it responds.`,
  );
