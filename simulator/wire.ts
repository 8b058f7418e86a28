import { setTimeout as sleep } from 'node:timers/promises';
import { type Answer, ok, refusal } from './answer.ts';
import { type Bank, type Order, orderNow } from './bank.ts';
import { type CallName, type Fault, kinds, type Stage } from './faults.ts';
import { type Route, route } from './http.ts';
import { BadInput, type Fields, fieldsOf, integer, text } from './input.ts';
import { isExpired, isOneTime, type Qr, qrOfForeignLink, readLink, resolved } from './qr.ts';
import { refundsOf } from './refunds.ts';

const anyLink = /^.{1,2048}$/s;
const maxReference = 1_024;

/** The wire contract of the gateway, which Kopeck calls. */
export function wireRoutes(bank: Bank, token: string | undefined): Route[] {
  const { orders } = bank.state;
  const orderPath = /^\/orders\/([\w-]{1,128})$/;
  const voidPath = /^\/orders\/([\w-]{1,128})\/void$/;
  const qrcIdOf = (paymentId: string) => orders.get(paymentId)?.qrc_id ?? null;
  const routes = [
    route('POST', /^\/qr\/resolve$/, ({ body }) => {
      const qrUrl = text(fieldsOf(body), 'qr_url', anyLink);
      const call = { on: 'resolve', qrcId: readLink(qrUrl)?.qrcId ?? null } as const;
      return withFaults(bank, call, () => resolve(bank, qrUrl));
    }),
    route('PUT', orderPath, ({ params: [paymentId = ''], body }) => {
      const request = readRequest(paymentId, body);
      const call = { on: 'pay', qrcId: request.qrcId, paymentId } as const;
      return withFaults(bank, call, () => pay(bank, request));
    }),
    route('GET', orderPath, ({ params: [paymentId = ''] }) =>
      withFaults(bank, { on: 'poll', qrcId: qrcIdOf(paymentId) }, () => poll(bank, paymentId)),
    ),
    route('POST', voidPath, ({ params: [paymentId = ''] }) =>
      withFaults(bank, { on: 'void', qrcId: qrcIdOf(paymentId) }, () => voidOrder(bank, paymentId)),
    ),
    route('GET', /^\/orders$/, ({ query }) => list(bank, query)),
    route('GET', /^\/refunds$/, ({ query }) =>
      withFaults(bank, { on: 'refunds', qrcId: null }, () => listRefunds(bank, query)),
    ),
  ];
  return routes.map(open => ({ ...open, token }));
}

function findQr({ state }: Bank, qrUrl: string): Qr | undefined {
  const link = readLink(qrUrl);
  return link && (state.qrs.get(link.qrcId) ?? qrOfForeignLink(link));
}

function resolve(bank: Bank, qrUrl: string): Answer {
  const qr = findQr(bank, qrUrl);
  if (!qr) return refusal(404, 'QR_CODE_NOT_FOUND', 'There is no such QR code.');
  if (isExpired(qr, Date.now())) return refusal(410, 'QR_EXPIRED', 'The QR code has expired.');
  const answer = resolved(qr);
  const isWrong =
    answer.amount_kopecks !== null && takeFault(bank, 'amount', { on: 'resolve', qrcId: qr.qrc_id });
  return ok(isWrong ? { ...answer, amount_kopecks: answer.amount_kopecks! + 1 } : answer);
}

type PayRequest = ReturnType<typeof readRequest>;

function readRequest(paymentId: string, body: unknown) {
  const fields = fieldsOf(body);
  const qrUrl = text(fields, 'qr_url', anyLink);
  const qrcId = text(fields, 'qrc_id', /^\w{16,64}$/);
  if (readLink(qrUrl)?.qrcId !== qrcId) throw new BadInput('"qr_url" is not a link of "qrc_id".');
  const amountKopecks = integer(fields, 'amount_kopecks', 1);
  const fingerprint = text(fields, 'fingerprint');
  return { paymentId, qrUrl, qrcId, amountKopecks, fingerprint, reference: readReference(fields) };
}

/** Any text: the gateway does not interpret it. */
function readReference({ reference }: Fields): string | undefined {
  if (reference === undefined || reference === null) return undefined;
  if (typeof reference === 'string' && reference.length <= maxReference) return reference;
  throw new BadInput(`"reference" must be a string of at most ${maxReference} characters.`);
}

function pay(bank: Bank, request: PayRequest): Answer {
  const { paymentId, qrcId, amountKopecks } = request;
  const known = bank.state.orders.get(paymentId);
  if (known && (known.qrc_id !== qrcId || known.asked_kopecks !== amountKopecks)) {
    return refusal(409, 'ORDER_MISMATCH', 'This id belongs to an order with a different QR code or amount.');
  }
  if (known) return ok(orderNow(known, Date.now()));
  if (bank.state.voided.has(paymentId))
    return refusal(409, 'VOIDED', 'This id was voided and cannot be used again.');
  const qr = findQr(bank, request.qrUrl);
  const reason = declineReason(bank, qr);
  if (reason) return placeOrder(bank, request, { state: 'declined', reason });
  if (resolved(qr!).fingerprint !== request.fingerprint) {
    return refusal(409, 'QR_CHANGED', 'The QR code has changed since it was resolved.');
  }
  // The fingerprint is right and the amount is not: the caller has invented it.
  if ((qr!.amount_kopecks ?? amountKopecks) !== amountKopecks) {
    return placeOrder(bank, request, { state: 'declined', reason: 'VALIDATION_ERROR' });
  }
  return placeOrder(bank, request, chooseOutcome(bank, qrcId));
}

function declineReason({ state }: Bank, qr: Qr | undefined): string | undefined {
  const nowMs = Date.now();
  if (!qr) return 'QR_CODE_NOT_FOUND';
  if (isExpired(qr, nowMs)) return 'QR_EXPIRED';
  if (qr.scenario.startsWith('C2B_SUBSCRIPTION')) return 'OPERATION_NOT_SUPPORTED';
  const order = isOneTime(qr.qrc_id) && state.lastOrders.get(qr.qrc_id);
  const orderState = order ? orderNow(order, nowMs).state : 'declined';
  if (orderState === 'succeeded') return 'QR_ALREADY_PAID';
  return orderState === 'accepted' ? 'OPERATION_IN_PROGRESS' : undefined;
}

type Outcome = Pick<Order, 'state' | 'reason'> & { end?: Order['end'] };

function chooseOutcome(bank: Bank, qrcId: string): Outcome {
  const fault = takeFault(bank, 'outcome', { on: 'pay', qrcId });
  const reason = fault?.reason ?? null;
  if (fault?.kind === 'decline') return { state: 'declined', reason };
  if (fault?.kind !== 'finish_later') return { state: 'succeeded', reason };
  const at = new Date(Date.now() + fault.ms!).toISOString();
  return { state: 'accepted', reason: null, end: { at, state: fault.outcome!, reason } };
}

function placeOrder(bank: Bank, request: PayRequest, { state, reason, end = null }: Outcome): Answer {
  const { paymentId, qrcId, amountKopecks, reference } = request;
  const isReferenceKept = !takeFault(bank, 'reference', { on: 'pay', qrcId });
  const errorKopecks = takeFault(bank, 'amount', { on: 'pay', qrcId }) ? 1 : 0;
  const now = new Date().toISOString();
  const order: Order = {
    payment_id: paymentId,
    order_id: `ord_${String(bank.state.orders.size + 1).padStart(9, '0')}`,
    state,
    reason,
    amount_kopecks: amountKopecks + errorKopecks,
    qrc_id: qrcId,
    created_at: now,
    updated_at: now,
    ...(reference !== undefined && isReferenceKept ? { reference } : {}),
    asked_kopecks: amountKopecks,
    end,
  };
  bank.record({ type: 'order', order });
  return ok(orderNow(order, Date.now()));
}

function poll(bank: Bank, paymentId: string): Answer {
  const order = bank.state.orders.get(paymentId);
  if (!order) return refusal(404, 'ORDER_UNKNOWN', 'No order was accepted under this id.');
  const refunds = refundsOf(bank, paymentId);
  return ok({ ...orderNow(order, Date.now()), ...(refunds.length > 0 ? { refunds } : {}) });
}

function voidOrder(bank: Bank, paymentId: string): Answer {
  const order = bank.state.orders.get(paymentId);
  if (order) return ok(orderNow(order, Date.now()));
  if (!bank.state.voided.has(paymentId)) bank.record({ type: 'void', payment_id: paymentId });
  return ok({ state: 'voided' });
}

function readPageQuery(query: URLSearchParams): { sinceMs: number; from: number; limit: number } {
  const { since = '', cursor = '0', limit = '100' } = Object.fromEntries(query);
  const sinceMs = since === '' ? 0 : Date.parse(since);
  if (Number.isNaN(sinceMs)) throw new BadInput('"since" must be a time like 2026-11-15T10:00:00Z.');
  if (!/^\d{1,9}$/.test(cursor)) throw new BadInput('"cursor" must be a next_cursor of this list.');
  if (!/^\d{1,4}$/.test(limit) || +limit < 1 || +limit > 1000)
    throw new BadInput('"limit" must be 1 to 1000.');
  return { sinceMs, from: Number(cursor), limit: Number(limit) };
}

/** The cursor of a page is the index of its first item among all. */
function pageOf<Item extends { created_at: string }>(all: Item[], query: URLSearchParams) {
  const { sinceMs, from, limit } = readPageQuery(query);
  const page: Item[] = [];
  let index = from;
  for (; index < all.length && page.length < limit; index++)
    if (Date.parse(all[index]!.created_at) >= sinceMs) page.push(all[index]!);
  return { page, next_cursor: index < all.length ? `${index}` : null };
}

function list({ state }: Bank, query: URLSearchParams): Answer {
  const { page, next_cursor } = pageOf(state.ordersByArrival, query);
  const nowMs = Date.now();
  return ok({ orders: page.map(order => orderNow(order, nowMs)), next_cursor });
}

function listRefunds({ state }: Bank, query: URLSearchParams): Answer {
  const { page, next_cursor } = pageOf([...state.refunds.values()], query);
  return ok({ refunds: page, next_cursor });
}

export interface Call {
  on: CallName;
  qrcId: string | null;
  paymentId?: string;
}

const sayNothingAccepted = ['busy', 'unavailable', 'changed_qr'];

/** The first fault for this stage of the call, counted as used. */
export function takeFault({ state, record }: Bank, stage: Stage, call: Call): Fault | undefined {
  // These answers mean that no order was accepted. The contract relies on it, so an accepted order never gets one.
  const isAccepted = call.on === 'pay' && state.orders.has(call.paymentId ?? '');
  for (const fault of state.faults.values()) {
    const fits = fault.on === call.on && (fault.qrc_id === null || fault.qrc_id === call.qrcId);
    if (!fits || kinds[fault.kind].stage !== stage) continue;
    if (isAccepted && sayNothingAccepted.includes(fault.kind)) continue;
    if (fault.times !== null) record({ type: 'fault_used', id: fault.id });
    return fault;
  }
  return undefined;
}

/** Carries a call out with the faults that are set for it: delayed, refused, or its answer damaged. */
export async function withFaults(bank: Bank, call: Call, carryOut: () => Answer): Promise<Answer> {
  const delay = takeFault(bank, 'wait', call);
  if (delay) {
    await bank.flushed();
    // The call goes on even if the client disconnects meanwhile.
    await sleep(delay.ms);
  }
  const refusing = takeFault(bank, 'before', call);
  if (refusing) return failureAnswer(refusing);
  const answer = carryOut();
  const damaging = takeFault(bank, 'answer', call);
  if (!damaging) return answer;
  const damages = { answer_lost: 'lost', broken_json: 'cut', stall: 'stalled' } as const;
  return { ...answer, damage: damages[damaging.kind as keyof typeof damages] };
}

const refusals: Partial<Record<Fault['kind'], Answer>> = {
  busy: refusal(429, 'BUSY', 'Too many orders at once.'),
  unavailable: refusal(503, 'UNAVAILABLE', 'Temporarily unavailable.'),
  changed_qr: refusal(409, 'QR_CHANGED', 'The QR code has changed since it was resolved.'),
  unresolvable: refusal(422, 'QR_UNRESOLVABLE', 'The details of the QR code are not available right now.'),
};

function failureAnswer({ kind, status = 502, body }: Fault): Answer {
  if (kind !== 'http_error') return refusals[kind] ?? { status: 0, body: null, damage: 'lost' };
  const page = `<html><body><h1>${status}</h1></body></html>`;
  return { status, body: body ?? page, contentType: 'text/html' };
}
