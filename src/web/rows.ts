import type { Clock } from '../base/clock.ts';
import { csvLine } from '../base/csv.ts';
import type { Id } from '../base/ids.ts';
import { parseDay } from '../base/instants.ts';
import { formatKopecks, formatMicroUsdt, formatRate } from '../base/money.ts';
import type { Queryable } from '../db/postgres/index.ts';
import type { Keyring } from '../db/secrets/index.ts';
import { type Mode, openStatement, writeStatement } from '../ledger/index.ts';
import {
  type FoundPayment,
  type findRefunded,
  type Payment,
  type PaymentFilter,
  personWhoPaid,
  readFoundPayments,
} from '../payments/index.ts';
import type { LoggedRequest } from '../request-log/index.ts';
import {
  type checkPartner,
  type Delivery,
  type Endpoint,
  type findDelivery,
  formatEventId,
  type Webhook,
} from '../webhooks/index.ts';
import { csrfTokenOf, type WebApp } from './csrf.ts';
import { Download, type Refused, refuse } from './replies.ts';

/** What the console and the portal both show of things; the console adds whose they are. */

export type PaymentStatus = Exclude<Payment['status'], 'rejected'>;

export const paymentRow = (payment: Payment) => ({
  payment_id: payment.paymentId,
  mode: payment.mode,
  status: payment.status as PaymentStatus,
  status_detail: payment.statusDetail,
  error_code: payment.errorCode,
  external_id: payment.externalId,
  recipient: payment.recipient,
  amount_rub: formatKopecks(payment.amountKopecks),
  amount_usdt: formatMicroUsdt(payment.microUsdt),
  rate: formatRate(payment.rateE4),
  created_at: payment.createdAt.toISOString(),
  settled_at: payment.settledAt?.toISOString() ?? null,
});

/** What only the page of one payment shows. */
export const paymentFacts = (
  payment: Payment,
  /** The one that created it; null: not in the request log, or no more. */
  requestId: string | null,
  refunded: Awaited<ReturnType<typeof findRefunded>>,
) => ({
  qr_url: payment.qrUrl,
  idempotency_key: payment.idempotencyKey,
  /** Null: a key of the API paid. */
  paid_by: personWhoPaid(payment),
  metadata: payment.metadata,
  api_request_id: requestId,
  refunded: refunded
    ? { rub: formatKopecks(refunded.kopecks), usdt: formatMicroUsdt(refunded.microUsdt) }
    : null,
});

/** More than a spreadsheet is pleasant with; the pages name this limit, too. */
const maxExported = 50_000;

const csvColumns = [
  'payment_id',
  'created_at',
  'settled_at',
  'partner_id',
  'partner',
  'mode',
  'status',
  'status_detail',
  'error_code',
  'amount_rub',
  'amount_usdt',
  'rate',
  'recipient',
  'external_id',
  'qrc_id',
] as const;
const onlyForOperators: readonly string[] = ['partner_id', 'partner', 'qrc_id'];

type CsvRow = Partial<Record<(typeof csvColumns)[number], string | null>>;

/** The payments as CSV, newest first. If there are more than the limit, the last line says so. */
export async function* writePayments(
  db: Queryable,
  filters: PaymentFilter[],
  toRow: (payment: FoundPayment) => CsvRow,
  { isForOperators = false, max = maxExported } = {},
): AsyncGenerator<string> {
  const columns = csvColumns.filter(column => isForOperators || !onlyForOperators.includes(column));
  yield csvLine([...columns]);
  for await (const { payments, hasMore } of readFoundPayments(db, filters, max)) {
    const rows = payments.map(toRow);
    yield rows.map(row => csvLine(columns.map(column => row[column] ?? null))).join('');
    if (hasMore)
      yield csvLine([`Only the newest ${max} payments are in this file: choose a shorter period.`]);
  }
}

export const loggedRequestRow = (request: LoggedRequest) => ({
  request_id: request.requestId,
  at: request.at.toISOString(),
  mode: request.mode,
  key_id: request.keyId,
  // Null: it was not valid HTTP.
  method: request.method,
  path: request.path,
  payment_id: request.paymentId,
  status: request.status,
  error_code: request.errorCode,
  duration_ms: request.durationMs,
});

export const deliveryRow = (delivery: Delivery) => ({
  event_id: formatEventId(delivery.eventId),
  endpoint_id: delivery.endpointId,
  event: `payment.${delivery.outcome}`,
  event_at: delivery.eventAt.toISOString(),
  payment_id: delivery.paymentId,
  external_id: delivery.externalId,
  state: delivery.state,
  attempts: delivery.attempts,
  next_attempt_at: delivery.nextAt?.toISOString() ?? null,
  last_attempt: delivery.lastAttempt && {
    at: delivery.lastAttempt.at.toISOString(),
    http_status: delivery.lastAttempt.status,
    error: delivery.lastAttempt.error,
  },
});

type FoundDelivery = NonNullable<Awaited<ReturnType<typeof findDelivery>>>;

/** The signature is made for each attempt and not stored, and so not among the headers. */
export const deliveryDetail = <Row>({ headers, body, attempts }: FoundDelivery, delivery: Row) => ({
  delivery,
  request: { headers, body },
  attempts: attempts.map(({ attempt, at, status, error, responseBody, durationMs }) => ({
    attempt,
    at: at.toISOString(),
    http_status: status,
    error,
    // The beginning of it, if the event was not accepted.
    response_body: responseBody,
    duration_ms: durationMs,
  })),
});

export const endpointRow = (webhook: Webhook, states: Endpoint[]) => ({
  endpoint_id: webhook.endpointId,
  is_first: webhook.isFirst,
  mode: webhook.mode,
  url: webhook.url,
  state: states.find(one => one.endpointId === webhook.endpointId)?.state ?? webhook.state,
  waiting: webhook.waiting,
  given_up: webhook.givenUp,
  events: webhook.events,
  has_ed25519: webhook.ed25519,
});

type Checked = Extract<Awaited<ReturnType<typeof checkPartner>>, { outcome: 'checked' }>;

export const checkResult = ({ check, reEnabled }: Checked) => ({
  can_receive: check.canReceive,
  passed: check.passed,
  re_enabled: reEnabled,
  results: check.results.map(({ name, expected, status, error, passed, problem, durationMs }) => ({
    name,
    expected,
    answered: `${status ?? error}`,
    passed,
    problem,
    duration_ms: durationMs,
  })),
});

interface OpenSession {
  sessionId: string;
  address: string;
  userAgent: string;
  createdAt: Date;
  lastSeenAt: Date;
  endsAt: Date;
}

export const sessionRow = (session: OpenSession, ownId: string) => ({
  session_id: session.sessionId,
  address: session.address,
  user_agent: session.userAgent,
  created_at: session.createdAt.toISOString(),
  last_seen_at: session.lastSeenAt.toISOString(),
  ends_at: session.endsAt.toISOString(),
  is_this_one: session.sessionId === ownId,
});

/** What the session of a page has in both apps. */
export const sessionTimes = (
  { keyring }: { keyring: Keyring },
  app: WebApp,
  token: string,
  session: { endsAt: Date },
) => ({
  /** Sent as `X-CSRF-Token` with every request that changes something. */
  csrf_token: csrfTokenOf(keyring.active(), app, token),
  ends_at: session.endsAt.toISOString(),
});

/** The statement of a day, with the same bytes as from the API. */
export async function statementOf(
  { db, clock }: { db: Queryable; clock: Clock },
  account: { partnerId: Id<'prt'>; mode: Mode },
  wanted: { day: string; format: 'csv' | 'json' },
): Promise<Download | Refused> {
  const day = parseDay(wanted.day);
  const statement = day && (await openStatement(db, clock, account, day));
  if (!statement) return refuse(400, 'invalid_request', 'This day does not exist or has not started.');
  if (statement === 'pruned') return refuse(404, 'not_found', 'The test data of this day was deleted.');
  const name = `statement-${account.partnerId}-${account.mode}-${statement.day}.${wanted.format}`;
  return new Download(name, writeStatement(db, statement, wanted.format));
}
