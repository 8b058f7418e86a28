import { Agent, request } from 'undici';
import { type Clock, systemClock } from '../base/clock.ts';
import type { Id } from '../base/ids.ts';
import { OperatorError } from '../base/operator-error.ts';
import { createBreaker } from './breaker.ts';
import type {
  DeclineCode,
  Gateway,
  ListedOrder,
  Order,
  OrderAnswer,
  OrderPage,
  Resolution,
  Unknown,
} from './gateway.ts';

export interface HttpGatewayOptions {
  url: string;
  token: string | undefined;
  /** From the start of a call to the last byte of its answer. */
  resolveTimeoutMs?: number;
  payTimeoutMs?: number;
  pollTimeoutMs?: number;
  clock?: Clock;
  /** Hears when the bank side no longer answers, and when it does again. */
  onReachable?(isReachable: boolean): void;
}

interface Answer {
  status: number;
  body: Record<string, unknown> | undefined;
}

const maxAnswerBytes = 64 * 1024;
const maxListBytes = 1024 * 1024;

/** The gateway's wire contract over HTTP. Whatever is not written there is an unknown outcome. */
export function createHttpGateway(options: HttpGatewayOptions): Gateway {
  const { resolveTimeoutMs = 10_000, payTimeoutMs = 50_000, pollTimeoutMs = 10_000 } = options;
  const base = options.url.replace(/\/+$/, '');
  const agent = new Agent({ connections: 256, connect: { timeout: 5_000 } });
  const breaker = createBreaker(options.clock ?? systemClock, isOpen => options.onReachable?.(!isOpen));

  async function call(...request: Parameters<typeof exchange>): Promise<Answer> {
    try {
      const answer = await exchange(...request);
      if (answer.status < 500) breaker.answered();
      else breaker.failed();
      return answer;
    } catch (error) {
      breaker.failed();
      throw error;
    }
  }

  async function exchange(
    method: 'GET' | 'PUT' | 'POST',
    path: string,
    body: unknown,
    timeoutMs: number,
    maxBytes = maxAnswerBytes,
  ): Promise<Answer> {
    const response = await request(`${base}${path}`, {
      method,
      dispatcher: agent,
      signal: AbortSignal.timeout(timeoutMs),
      headers: {
        ...(options.token ? { authorization: `Bearer ${options.token}` } : {}),
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    let text = '';
    for await (const chunk of response.body.setEncoding('utf8')) {
      text += chunk;
      if (text.length > maxBytes) throw new Error('the answer is too long');
    }
    return { status: response.statusCode, body: readObject(text) };
  }

  async function resolve(qrUrl: string): Promise<Resolution> {
    if (!breaker.letsPass()) return { outcome: 'gateway_unavailable' };
    let answer: Answer;
    try {
      answer = await call('POST', '/qr/resolve', { qr_url: qrUrl }, resolveTimeoutMs);
    } catch (error) {
      return { outcome: isTimeout(error) ? 'qr_unresolvable' : 'gateway_unavailable' };
    }
    const { status, body } = answer;
    if (status === 200) return readResolution(body);
    if (
      (status === 404 && body?.code === 'QR_CODE_NOT_FOUND') ||
      (status === 410 && body?.code === 'QR_EXPIRED')
    ) {
      return { outcome: 'invalid_qr' };
    }
    return { outcome: status === 503 ? 'gateway_unavailable' : 'qr_unresolvable' };
  }

  /** Runs a call on an order; a call that breaks in any way leaves the outcome unknown. */
  async function ask<Result>(
    attempt: () => Promise<Answer>,
    read: (answer: Answer) => Result,
  ): Promise<Result | Unknown> {
    try {
      return read(await attempt());
    } catch (error) {
      return { outcome: 'unknown', why: describeError(error) };
    }
  }

  const orderPath = (paymentId: Id<'pay'>) => `/orders/${paymentId}`;

  return {
    resolve,
    pay: (order: Order) =>
      ask(
        () =>
          call(
            'PUT',
            orderPath(order.paymentId),
            {
              qr_url: order.qrUrl,
              qrc_id: order.qrcId,
              amount_kopecks: Number(order.amountKopecks),
              fingerprint: order.fingerprint,
            },
            payTimeoutMs,
          ),
        answer => readRefusal(answer) ?? readOrder(answer, order.amountKopecks),
      ),
    poll: order =>
      ask(
        () => call('GET', orderPath(order.paymentId), undefined, pollTimeoutMs),
        answer =>
          answer.status === 404 && answer.body?.code === 'ORDER_UNKNOWN'
            ? ({ outcome: 'order_unknown' } as const)
            : readOrder(answer, order.amountKopecks),
      ),
    void: order =>
      ask(
        () => call('POST', `${orderPath(order.paymentId)}/void`, undefined, pollTimeoutMs),
        answer =>
          answer.status === 200 && answer.body?.state === 'voided'
            ? ({ outcome: 'voided' } as const)
            : readOrder(answer, order.amountKopecks),
      ),
    listOrders: async (since, cursor) => {
      const query = new URLSearchParams({
        since: since.toISOString(),
        limit: '1000',
        ...(cursor ? { cursor } : {}),
      });
      const { status, body } = await call(
        'GET',
        `/orders?${query}`,
        undefined,
        pollTimeoutMs,
        maxListBytes,
      ).catch(error => {
        throw noList(describeError(error));
      });
      const page = status === 200 && readPage(body);
      if (!page) throw noList(`status ${status}`);
      return page;
    },
    close: () => agent.destroy(),
  };
}

function readObject(text: string): Record<string, unknown> | undefined {
  try {
    const value = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** PostgreSQL stores no NUL: what carries one could not be put on record. */
const isStorableText = (value: unknown): value is string =>
  typeof value === 'string' && !value.includes('\0');

function readResolution(body: Record<string, unknown> | undefined): Resolution {
  const { qrc_id, scenario, recipient, recipient_id, amount_kopecks, purpose, fingerprint } = body ?? {};
  const texts = [qrc_id, scenario, recipient, recipient_id, purpose, fingerprint];
  const amountIsFine =
    amount_kopecks === null || (Number.isSafeInteger(amount_kopecks) && Number(amount_kopecks) > 0);
  if (!texts.every(isStorableText) || !amountIsFine) return { outcome: 'qr_unresolvable' };
  const [qrcId, scenarioName, recipientName, recipientId, purposeText, print] = texts as string[];
  return {
    outcome: 'resolved',
    qr: {
      qrcId: qrcId!,
      scenario: scenarioName!,
      recipient: recipientName!,
      recipientId: recipientId!,
      amountKopecks: amount_kopecks === null ? null : BigInt(amount_kopecks as number),
      purpose: purposeText!,
      fingerprint: print!,
    },
  };
}

const refusals = {
  '409 QR_CHANGED': 'qr_changed',
  '409 VOIDED': 'voided',
  '429 BUSY': 'gateway_busy',
  '503 UNAVAILABLE': 'gateway_unavailable',
} as const;

function readRefusal({ status, body }: Answer) {
  const code = refusals[`${status} ${body?.code}` as keyof typeof refusals];
  return code ? ({ outcome: 'refused', code } as const) : undefined;
}

/** The bank side's reasons, in the words of the contract; all others are plain refusals. */
const declineCodes = new Map<unknown, DeclineCode>(
  Object.entries({
    QR_EXPIRED: 'qr_expired',
    QR_CODE_NOT_FOUND: 'qr_expired',
    QR_ALREADY_PAID: 'qr_already_paid',
    ACCOUNT_BLOCKED: 'recipient_unavailable',
    ACCOUNT_CLOSED: 'recipient_unavailable',
    LIMIT_EXCEEDED: 'limit_exceeded',
    SUSPECTED_FRAUD: 'suspected_fraud',
  }),
);

/** "Declined" for one of these says only that the bank side does not know either. */
const reasonsThatProveNothing = new Set([
  'PAYER_BANK_TIMEOUT',
  'GATEWAY_TIMEOUT',
  'UNEXPECTED_GATEWAY_RESPONSE',
  'OPERATION_IN_PROGRESS',
  'UNKNOWN_ERROR',
]);

function readOrder({ status, body }: Answer, expectedKopecks: bigint): OrderAnswer | Unknown {
  const unknown = (why: string): Unknown => ({ outcome: 'unknown', why });
  if (status !== 200 || !body) return unknown(`status ${status}${body ? '' : ', no readable body'}`);
  const { order_id: orderId, state, reason, amount_kopecks: amountKopecks } = body;
  if (!isStorableText(orderId) || orderId === '') return unknown('an order without an id');
  if (amountKopecks !== undefined && amountKopecks !== Number(expectedKopecks)) {
    return { ...unknown(`an order over another amount (${amountKopecks} kopecks)`), contradicts: true };
  }
  if (state === 'accepted' || state === 'succeeded') return { outcome: state, orderId };
  if (state !== 'declined') return unknown(`a state of ${JSON.stringify(state)}`);
  if (reasonsThatProveNothing.has(String(reason))) return unknown(`declined for ${reason}`);
  return { outcome: 'declined', orderId, code: declineCodes.get(reason) ?? 'gateway_declined' };
}

const noList = (why: string) =>
  new OperatorError(
    `The list of orders cannot be had from the bank side (${why}): check GATEWAY_URL and that it answers.`,
  );

function readPage(body: Record<string, unknown> | undefined): OrderPage | undefined {
  const { orders, next_cursor: nextCursor } = body ?? {};
  if (!Array.isArray(orders) || !(nextCursor === null || typeof nextCursor === 'string')) return undefined;
  const read = orders.map(readListed);
  return read.every(order => order !== undefined) ? { orders: read, nextCursor } : undefined;
}

function readListed(order: unknown): ListedOrder | undefined {
  const { payment_id, order_id, state, amount_kopecks, created_at } = (order ?? {}) as Record<
    string,
    unknown
  >;
  const texts = [payment_id, order_id, state, created_at];
  const createdAt = new Date(String(created_at));
  const amountIsFine = Number.isSafeInteger(amount_kopecks) && Number(amount_kopecks) > 0;
  if (!texts.every(isStorableText) || Number.isNaN(createdAt.getTime()) || !amountIsFine) return undefined;
  const [paymentId, orderId, stateName] = texts as string[];
  return {
    paymentId: paymentId!,
    orderId: orderId!,
    state: stateName!,
    amountKopecks: BigInt(amount_kopecks as number),
    createdAt,
  };
}

const isTimeout = (error: unknown) =>
  error instanceof Error && /Timeout|Abort/.test(error.name) && !/Connect/.test(error.name);

function describeError(error: unknown): string {
  if (!(error instanceof Error)) return 'an unknown error';
  const { code } = error as NodeJS.ErrnoException;
  // A time-out has a number there that says nothing.
  return typeof code === 'string' ? code : error.name;
}
