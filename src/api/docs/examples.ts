import { type ApiDocument, exampleOf, type Schema } from './reference/document.ts';

/**
 * The examples of the OpenAPI document are one morning of one partner in test mode: order-42 is paid, order-43 is
 * declined, order-44 is still processing. They are written by hand; a test checks that ids, times, amounts, balances and
 * the signature agree.
 */

const recipient = 'Test recipient';
const rate = '92.5000';

const qrUrls = {
  succeeded:
    'https://qr.nspk.ru/AD10004MV5CJ3D638358RO81129CE63P?type=02&bank=100000000004&sum=30510&cur=RUB&crc=B754',
  failed: 'https://qr.nspk.ru/AD10004MV5CJ3D638358RO81129CE643?type=02&sum=10001&cur=RUB',
  processing: 'https://qr.nspk.ru/AD10004MV5CJ3D638358RO81129CE644?type=02&sum=10002&cur=RUB',
};

export const partnerId = 'prt_01m7ddqjw0e008ytbvz7zrnnnw';
export const idempotencyKey = '0b7a3c1e-5d0f-4a57-9d43-9a2f7f0c1b2d';

/** An example as OpenAPI wants it: in an object, by name. */
const named = <Value>(summary: string, value: Value) => ({ summary, value });
/** For a response that is always the same but for its values. */
export const only = <Value>(summary: string, value: Value) => ({ example: named(summary, value) });

/** An object that a schema without references describes, from the examples of its fields. */
export const described = (schema: object) =>
  exampleOf(schema as Schema, {} as ApiDocument) as Record<string, unknown>;
/** The only response of such an object, to this request. */
export const answered = (summary: string, schema: object, request_id: string) =>
  only(summary, { ...described(schema), request_id });

export const paymentRequests = {
  succeeded: named('Order-42: a payment that succeeds', {
    qr_url: qrUrls.succeeded,
    amount_rub: '305.10',
    external_id: 'order-42',
    metadata: { cart: 'A-1007' },
  }),
  failed: named('Order-43: .01 is declined in test mode', {
    qr_url: qrUrls.failed,
    amount_rub: '100.01',
    external_id: 'order-43',
  }),
  processing: named('Order-44: .02 is processing for 30 seconds in test mode', {
    qr_url: qrUrls.processing,
    amount_rub: '100.02',
    external_id: 'order-44',
  }),
};

export const succeeded = {
  id: 'pay_01m7facgbve00a84p7s7mf3jgj',
  object: 'payment',
  mode: 'test',
  status: 'succeeded',
  status_detail: null,
  external_id: 'order-42',
  recipient,
  amount_rub: '305.10',
  amount_usdt: '3.298379',
  rate,
  currency: 'RUB',
  settlement_currency: 'USDT',
  created_at: '2026-11-15T10:00:00.123000+00:00',
  settled_at: '2026-11-15T10:00:00.187000+00:00',
  error: null,
  metadata: { cart: 'A-1007' },
};

const failed = {
  ...succeeded,
  id: 'pay_01m7fanndge00b7addvmap4jjy',
  status: 'failed',
  status_detail: 'gateway_declined',
  external_id: 'order-43',
  amount_rub: '100.01',
  amount_usdt: '1.081190',
  created_at: '2026-11-15T10:05:00.208000+00:00',
  settled_at: '2026-11-15T10:05:00.264000+00:00',
  error: {
    code: 'gateway_declined',
    message: 'The payment was declined by the bank or the recipient.',
  },
  metadata: {},
};

const processing = {
  ...succeeded,
  id: 'pay_01m7faytgne00bzewkz6ndvmn2',
  status: 'processing',
  status_detail: 'awaiting_gateway',
  external_id: 'order-44',
  amount_rub: '100.02',
  amount_usdt: '1.081298',
  created_at: '2026-11-15T10:10:00.341000+00:00',
  settled_at: null,
  metadata: {},
};

export const paymentAnswers = {
  succeeded: named('Paid; the debit is final', succeeded),
  failed: named('Declined; the USDT were returned', failed),
  processing: named('Debited, and the outcome is not known yet', processing),
};

/** Newest first, before the outcome of order-44 is known. */
export const paymentList = only('The three payments of the morning', {
  data: [processing, failed, succeeded],
  has_more: false,
  next_cursor: null,
  request_id: 'req_01m7faz01ge00amrhezmc0m9ns',
});

/** Three days later the recipient of order-42 has returned a part. In live mode, where recipients do it. */
const { metadata, ...paid } = succeeded;
const refunded = { ...paid, mode: 'live', refunded_rub: '100.00', refunded_usdt: '1.081081', metadata };

const event = <Outcome extends string, Data>(
  id: string,
  outcome: Outcome,
  created_at: string,
  data: Data,
) => ({ id, event: `payment.${outcome}` as const, created_at, data });

export const events = {
  succeeded: event('evt_17', 'succeeded', '2026-11-15T10:00:00.187000+00:00', succeeded),
  failed: event('evt_18', 'failed', '2026-11-15T10:05:00.264000+00:00', failed),
  refunded: event('evt_57', 'refunded', '2026-11-18T09:30:00.412000+00:00', refunded),
};

/** Order-44 has no event yet. */
export const eventList = only('One event for each final payment', {
  data: [events.succeeded, events.failed],
  has_more: false,
  next_cursor: 'evt_18',
  request_id: 'req_01m7faz10re008w0kbkwpdjcac',
});

/** Signs the webhooks below, so that readers can test their code with them. */
export const webhookSecret = 'whsec_YW4gZXhhbXBsZSBvZiBhIHdlYmhvb2sgc2VjcmV0IDEu';

export const webhookHeaders = {
  succeeded: {
    'X-Service-Event': 'payment.succeeded',
    'X-Service-Delivery': 'whd_01m7facgdvfzessheaza0psnqg',
    'X-Service-Payment-Id': 'pay_01m7facgbve00a84p7s7mf3jgj',
    'X-Service-Signature': 't=1794736800,v1=47845e0963cc72b29fcc65f64def69f39e1a6d99778af1781b2795a9c756f4c5',
    'webhook-id': 'evt_17',
    'webhook-timestamp': '1794736800',
    'webhook-signature': 'v1,K0GO6KRzEYm2GoBO/97lEfxEBXlpAyILVI3WFBnWLUU=',
  },
  failed: {
    'X-Service-Event': 'payment.failed',
    'X-Service-Delivery': 'whd_01m7fannf8ey69c74r04djet1k',
    'X-Service-Payment-Id': 'pay_01m7fanndge00b7addvmap4jjy',
    'X-Service-Signature': 't=1794737100,v1=d0791ff299eca07521222e0f380712ecb4c951c78f65ca5306fb0a197de3dd17',
    'webhook-id': 'evt_18',
    'webhook-timestamp': '1794737100',
    'webhook-signature': 'v1,7uZ7u4Cuz5MpF7fC+XDBRCHZ8vaR/07Fpn2IIp8jsS4=',
  },
  refunded: {
    'X-Service-Event': 'payment.refunded',
    'X-Service-Delivery': 'whd_01m7pzvqtwf4srdgbzv43tja25',
    'X-Service-Payment-Id': 'pay_01m7facgbve00a84p7s7mf3jgj',
    'X-Service-Signature': 't=1794994200,v1=bb17ab623501016134ab367193f2a7e9ddfaa62ca3b177883bb2bfdcdbd443e0',
    'webhook-id': 'evt_57',
    'webhook-timestamp': '1794994200',
    'webhook-signature': 'v1,lr2QmRGf8FrPCfRnEOcwJ8GhJ19rZBTNojd/uksC24I=',
  },
};

const freshness = { as_of: 1794736740, max_age_sec: 300, stale: false };

export const quoteRequest = {
  plain: named('Before order-42 is paid', { amount_rub: '305.10' }),
  locked: named('The same, and the price has to hold', { amount_rub: '305.10', lock: true }),
};

const quoted = (amount_usdt: string, rate: string) => ({
  ...{ amount_rub: '305.10', amount_usdt, rate, pair: 'USDT/RUB', fee_rub: '0.00' },
  ...freshness,
});

/** The customer of order-42 did not take the time, so that it was paid without it. */
export const lockedQuote = {
  ...quoted('3.314954', '92.0375'),
  quote_id: 'qte_01m7fabamwe0099a62t2sndsmw',
  expires_at: '2026-11-15T10:00:21.500000+00:00',
  request_id: 'req_01m7fabamwe00sj90sm2ds1qyd',
};

export const quote = {
  plain: named('305.10 / 92.5, rounded up to the sixth place', {
    ...quoted('3.298379', rate),
    request_id: 'req_01m7fab960e00ay0bqevhg5794',
  }),
  locked: named('The rate is 0.5% lower, and holds for a minute', lockedQuote),
};

export const resolveRequest = only('The code of order-42', { qr_url: qrUrls.succeeded });

export const clockRequest = only('The wait of order-44', { advance_sec: 30 });

/** The error of a payment for order-42, had there been less money. */
export const insufficientBalance = {
  code: 'insufficient_balance',
  message: 'The balance does not cover the payment; top it up.',
  request_id: 'req_01m7facgbpe008z2p0prvd1rms',
  retryable: false,
  same_key: true,
  required_usdt: '3.298379',
  balance_usdt: '0.500000',
};

/** A detail of a malformed request. */
export const missingField = (...loc: string[]) => ({ loc, msg: 'Field required', type: 'missing' });
export const notAnInteger = (...loc: string[]) => ({
  loc,
  msg: 'Input should be a valid integer, unable to parse string as an integer',
  type: 'int_parsing',
});
