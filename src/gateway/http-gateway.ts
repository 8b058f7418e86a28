import { Agent, request } from 'undici';
import { type Clock, systemClock } from '../base/clock.ts';
import type { Id } from '../base/ids.ts';
import { OperatorError } from '../base/operator-error.ts';
import { type Answer, readObject, readOrder, readPage, readRefusal, readResolving } from './answers.ts';
import { createBreaker } from './breaker.ts';
import { type Exchange, storable } from './exchange.ts';
import type { Gateway, KnownOrder, Order, Resolution, Unknown } from './gateway.ts';

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
  /** Hears of every conversation about a code or an order when it is over; nobody waits for it. */
  onExchange?: (exchange: Exchange) => void;
}

type Subject = Pick<Exchange, 'call' | 'paymentId' | 'qrUrl'> & { body: object | undefined };

const maxAnswerBytes = 64 * 1024;
const maxListBytes = 1024 * 1024;

/** The gateway's wire contract over HTTP. Whatever is not written there is an unknown outcome. */
export function createHttpGateway(options: HttpGatewayOptions): Gateway {
  const { resolveTimeoutMs = 10_000, payTimeoutMs = 50_000, pollTimeoutMs = 10_000 } = options;
  const base = options.url.replace(/\/+$/, '');
  const agent = new Agent({ connections: 256, connect: { timeout: 5_000 } });
  const { clock = systemClock, onExchange } = options;
  const breaker = createBreaker(clock, isOpen => options.onReachable?.(!isOpen));

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
    return { status: response.statusCode, body: readObject(text), text };
  }

  /** Makes a call whose conversation goes on record, and reads its answer or what broke it. */
  async function converse<Result extends { outcome: string }>(
    subject: Subject,
    attempt: () => Promise<Answer>,
    read: (answer: Answer) => Result,
    readError: (error: unknown) => Result,
  ): Promise<Result> {
    const startedAtMs = clock.nowMs();
    const started = performance.now();
    let answer: Answer | undefined;
    let error: string | null = null;
    let result: Result;
    try {
      answer = await attempt();
      result = read(answer);
    } catch (thrown) {
      error = describeError(thrown);
      result = readError(thrown);
    }
    if (onExchange) {
      const { body, ...about } = subject;
      onExchange({
        ...about,
        startedAtMs,
        durationMs: Math.round(performance.now() - started),
        status: answer?.status ?? null,
        outcome: result.outcome,
        request: body ? storable(JSON.stringify(body), options.token) : null,
        response: answer ? storable(answer.text, options.token) : null,
        error,
      });
    }
    return result;
  }

  async function resolve(qrUrl: string): Promise<Resolution> {
    if (!breaker.letsPass()) return { outcome: 'gateway_unavailable' };
    const body = { qr_url: qrUrl };
    return converse<Resolution>(
      { call: 'resolve', paymentId: undefined, qrUrl, body },
      () => call('POST', '/qr/resolve', body, resolveTimeoutMs),
      readResolving,
      error => ({ outcome: isTimeout(error) ? 'qr_unresolvable' : 'gateway_unavailable' }),
    );
  }

  /** Runs a call on an order; a call that breaks in any way leaves the outcome unknown. */
  const ask = <Result extends { outcome: string }>(
    subject: Subject,
    attempt: () => Promise<Answer>,
    read: (answer: Answer) => Result,
  ): Promise<Result | Unknown> =>
    converse<Result | Unknown>(subject, attempt, read, error => ({
      outcome: 'unknown',
      why: describeError(error),
    }));

  const about = (name: Exchange['call'], { paymentId }: KnownOrder): Subject => ({
    call: name,
    paymentId,
    qrUrl: undefined,
    body: undefined,
  });

  const orderPath = (paymentId: Id<'pay'>) => `/orders/${paymentId}`;

  return {
    resolve,
    pay: (order: Order) => {
      const { qrUrl } = order;
      const body = {
        qr_url: qrUrl,
        qrc_id: order.qrcId,
        amount_kopecks: Number(order.amountKopecks),
        fingerprint: order.fingerprint,
      };
      return ask(
        { ...about('pay', order), qrUrl, body },
        () => call('PUT', orderPath(order.paymentId), body, payTimeoutMs),
        answer => readRefusal(answer) ?? readOrder(answer, order.amountKopecks),
      );
    },
    poll: order =>
      ask(
        about('poll', order),
        () => call('GET', orderPath(order.paymentId), undefined, pollTimeoutMs),
        answer =>
          answer.status === 404 && answer.body?.code === 'ORDER_UNKNOWN'
            ? ({ outcome: 'order_unknown' } as const)
            : readOrder(answer, order.amountKopecks),
      ),
    void: order =>
      ask(
        about('void', order),
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

const noList = (why: string) =>
  new OperatorError(
    `The list of orders cannot be had from the bank side (${why}): check GATEWAY_URL and that it answers.`,
  );

const isTimeout = (error: unknown) =>
  error instanceof Error && /Timeout|Abort/.test(error.name) && !/Connect/.test(error.name);

function describeError(error: unknown): string {
  if (!(error instanceof Error)) return 'an unknown error';
  const { code } = error as NodeJS.ErrnoException;
  // A time-out has a number there that says nothing.
  return typeof code === 'string' ? code : error.name;
}
