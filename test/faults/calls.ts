import { randomUUID } from 'node:crypto';
import { request } from 'undici';
import { errors } from '../../src/base/errors.ts';
import type { Call, Order, Result } from './history.ts';
import type { Program } from './programs.ts';
import type { Round } from './round.ts';
import type { Partner } from './world.ts';

/** Half of the codes can be paid more than once: the bank side itself would not refuse a second payment. */
export function newOrder(round: Round): Order {
  const [prefix, type] = round.random.chance(0.5) ? ['AD', '02'] : ['AS', '01'];
  const qrcId = `${prefix}${randomUUID().replaceAll('-', '').toUpperCase().slice(0, 30)}`;
  const kopecks = round.random.between(1_000, 500_000);
  const link = `https://qr.nspk.ru/${qrcId}?type=${type}&sum=${kopecks}&cur=RUB`;
  return { partner: round.random.pick(round.partners), key: randomUUID(), qrcId, link, kopecks };
}

/** Longer than any answer may take. */
const maxAnswerMs = 95_000;

export const pay = (round: Round, service: Program, order: Order, withinMs = maxAnswerMs): Promise<Call> =>
  record(round, 'pay', order, () =>
    send(round, order.partner, service, 'POST', '/v1/payments', withinMs, {
      headers: { 'idempotency-key': order.key, 'content-type': 'application/json' },
      body: JSON.stringify({ qr_url: order.link, external_id: order.key }),
    }),
  );

export const getPayment = (round: Round, service: Program, order: Order, paymentId: string): Promise<Call> =>
  record(round, 'get', order, () =>
    send(round, order.partner, service, 'GET', `/v1/payments/${paymentId}`, maxAnswerMs),
  );

export const readBalance = (round: Round, service: Program, partner: Partner): Promise<Call> =>
  record(round, 'balance', undefined, () => send(round, partner, service, 'GET', '/v1/balance', maxAnswerMs));

async function record(
  round: Round,
  what: Call['what'],
  order: Order | undefined,
  work: () => Promise<Result>,
): Promise<Call> {
  const startedMs = performance.now();
  const result = await work();
  const call = { what, startedMs, endedMs: performance.now(), result, ...(order ? { order } : {}) };
  round.calls.push(call);
  return call;
}

async function send(
  round: Round,
  partner: Partner,
  service: Program,
  method: 'GET' | 'POST',
  path: string,
  withinMs: number,
  options: { headers?: Record<string, string>; body?: string } = {},
): Promise<Result> {
  let status: number;
  let text: string;
  let retryAfter: unknown;
  try {
    const response = await request(`${service.address}${path}`, {
      method,
      dispatcher: round.world.agent,
      signal: AbortSignal.timeout(withinMs),
      headers: { authorization: `Bearer ${partner.key}`, ...options.headers },
      ...(options.body ? { body: options.body } : {}),
    });
    status = response.statusCode;
    retryAfter = response.headers['retry-after'];
    text = await response.body.text();
  } catch (error) {
    const { code, name } = error as NodeJS.ErrnoException;
    return { kind: 'unknown', why: typeof code === 'string' ? code : name };
  }
  if (status === 503 && !retryAfter) round.findings.push(`${path} answered 503 without Retry-After: ${text}`);
  return read(round, path, status, text);
}

function read(round: Round, path: string, status: number, text: string): Result {
  const body = JSON.parse(text);
  if (status === 200 && path === '/v1/balance') {
    return { kind: 'balance', usdt: body.balance_usdt };
  }
  if (status === 200) {
    return body.status === 'processing'
      ? { kind: 'unknown', why: 'processing', status, payment: body }
      : { kind: 'ok', payment: body };
  }
  const code: string = body.error?.code;
  if (errors[code as keyof typeof errors]?.status !== status || !body.error.request_id) {
    round.findings.push(`${path} answered ${status} with ${text}, which is not of the contract`);
  }
  if (code === 'internal_error') round.findings.push(`${path} answered with internal_error: ${text}`);
  const isUncertain = code === 'internal_error' || (code === 'gateway_unavailable' && !round.databaseIsWhole);
  return isUncertain ? { kind: 'unknown', why: code, status } : { kind: 'failed', status, code };
}
