import { isOrderUnknown, isVoided, readPage, readRefundPage, readResolveAnswer } from '../answers.ts';
import { listPath } from '../transport.ts';
import { type CheckRequest, describeReply, resolveCode } from './client.ts';
import {
  type Check,
  expectUnknown,
  fail,
  getOrder,
  isClientError,
  newPaymentId,
  sendVoid,
  skip,
  type World,
} from './world.ts';

/** The five calls; none of them can pay, not even if the token is not checked. */
function harmlessCalls(world: World): CheckRequest[] {
  const order = `/orders/${newPaymentId(world)}`;
  return [
    { method: 'POST', path: '/qr/resolve', body: { qr_url: unknownLink } },
    { method: 'PUT', path: order, body: {} },
    { method: 'GET', path: order },
    { method: 'POST', path: `${order}/void` },
    { method: 'GET', path: listPath('orders', world.startedAt, 1) },
  ];
}

async function expectUnauthorized(world: World, token: string | null): Promise<void> {
  if (!world.client.hasToken) skip('no token is given');
  for (const call of harmlessCalls(world)) {
    const reply = await world.client.send({ ...call, token });
    if (reply.status !== 401 && reply.status !== 403)
      fail(`${call.method} ${call.path.split('?', 1)[0]}: ${describeReply(reply)}, not 401`);
  }
}

/** Well-formed, of no code. */
const unknownLink = 'https://qr.nspk.ru/AS100000000000000000000000000000?type=01&bank=100000000000';

/** As far back as Kopeck reads once an hour. */
const refundDaysMs = 31 * 86_400_000;

/** Checks that make no order. */
export const readingChecks: Check[] = [
  {
    name: 'list of orders',
    rule: 'GET /orders answers 200 {orders, next_cursor}, also while there are none.',
    run: async ({ client, startedAt }) => {
      const reply = await client.send({ method: 'GET', path: listPath('orders', startedAt, 1) });
      if (reply.status !== 200 || !readPage(reply.body)) fail(describeReply(reply));
    },
  },
  {
    name: 'list of refunds',
    rule: 'GET /refunds answers 200 {refunds, next_cursor}, also while there are none; an adapter without refunds answers 404.',
    run: async ({ client, startedAt }) => {
      const since = new Date(startedAt.getTime() - refundDaysMs);
      const reply = await client.send({ method: 'GET', path: listPath('refunds', since, 1_000) });
      if (reply.status === 404) skip('the adapter has no list of refunds: refunds are not booked');
      if (reply.status !== 200 || !readRefundPage(reply.body)) fail(describeReply(reply));
    },
  },
  {
    name: 'missing token',
    rule: 'Every call without the token is answered 401, and does nothing.',
    run: world => expectUnauthorized(world, null),
  },
  {
    name: 'wrong token',
    rule: 'Every call with another token is answered 401, and does nothing.',
    run: world => expectUnauthorized(world, 'not-the-token-of-this-gateway'),
  },
  {
    name: 'unknown order',
    rule: 'GET of an id that was never accepted: 404 {"code": "ORDER_UNKNOWN"}. Any other 404 is read as an unknown outcome.',
    run: async world => {
      const reply = await getOrder(world, newPaymentId(world));
      if (!isOrderUnknown(reply)) fail(`${describeReply(reply)}, not 404 ORDER_UNKNOWN`);
    },
  },
  {
    name: 'void of an unknown order',
    rule: 'Voiding an id that was never accepted: 200 {"state": "voided"}, every time. It stays an unknown order.',
    run: async world => {
      const paymentId = newPaymentId(world);
      for (const when of ['first', 'repeated']) {
        const reply = await sendVoid(world, paymentId);
        if (!isVoided(reply)) fail(`the ${when} void: ${describeReply(reply)}, not 200 with state voided`);
      }
      world.neverPaid.push(paymentId);
      await expectUnknown(world, paymentId, 'after the void');
    },
  },
  {
    name: 'unknown QR code',
    rule: 'A code that does not exist: 404 {"code": "QR_CODE_NOT_FOUND"}; if the bank cannot tell, 422 {"code": "QR_UNRESOLVABLE"}.',
    run: async ({ client }) => {
      const reply = await resolveCode(client, unknownLink);
      const isUnresolvable = reply.status === 422 && reply.body?.code === 'QR_UNRESOLVABLE';
      if (!isUnresolvable && readResolveAnswer(reply).outcome !== 'invalid_qr') fail(describeReply(reply));
    },
  },
  {
    name: 'malformed requests',
    rule: 'What cannot be read is answered with a 4xx: neither 200 nor 5xx. A list with an unknown cursor does not start again.',
    run: async ({ client, startedAt }) => {
      const calls: [string, CheckRequest][] = [
        ['a body that is not JSON', { method: 'POST', path: '/qr/resolve', body: '{"qr_url":' }],
        ['a body without qr_url', { method: 'POST', path: '/qr/resolve', body: {} }],
        ['an unknown cursor', { method: 'GET', path: listPath('orders', startedAt, 1, 'not a cursor') }],
      ];
      for (const [what, call] of calls) {
        const reply = await client.send(call);
        if (!isClientError(reply)) fail(`${what}: ${describeReply(reply)}, not 4xx`);
      }
    },
  },
];

/** After the orders of the run: before them there may be none. */
export const sinceCheck: Check = {
  name: 'since',
  rule: 'The list has no orders from before `since`.',
  run: async ({ client, startedAt }) => {
    const tomorrow = new Date(startedAt.getTime() + 86_400_000);
    const reply = await client.send({ method: 'GET', path: listPath('orders', tomorrow, 1) });
    const page = readPage(reply.body);
    if (!page) fail(describeReply(reply));
    if (page.orders.length > 0 || page.nextCursor !== null)
      fail(
        `${page.orders.length} orders, and ${page.nextCursor ? 'more' : 'no more'}, since a time tomorrow`,
      );
  },
};

/** With `Z` or an offset. */
export const hasTimeZone = (text: string) => /^\d{4}-\d\d-\d\dT\d\d:\d\d.*(?:Z|[+-]\d\d:\d\d)$/.test(text);

/** Checks of the code that is to be paid, before anything is paid. */
export const qrChecks: Check[] = [
  {
    name: 'reading the QR code',
    rule: '200 with qrc_id, scenario, recipient, recipient_id, amount_kopecks (an integer or null), purpose, expires_at (a time with Z or an offset, or null) and fingerprint.',
    run: async world => {
      const reply = await resolveCode(world.client, world.qrUrl);
      const read = readResolveAnswer(reply);
      if (reply.status !== 200) fail(describeReply(reply));
      if (read.outcome !== 'resolved') fail('a field is missing or has another type');
      world.qr = read.qr;
      if (read.qr.amountKopecks !== null) world.amountKopecks = read.qr.amountKopecks;
      const { expires_at: expiresAt } = reply.body!;
      const isTime = typeof expiresAt === 'string' && hasTimeZone(expiresAt);
      if (expiresAt !== null && !isTime) fail(`expires_at is ${JSON.stringify(expiresAt)?.slice(0, 60)}`);
      if (read.qr.fingerprint === '') fail('an empty fingerprint');
    },
  },
  {
    name: 'fingerprint',
    rule: 'The fingerprint changes only if the data of the code do: no time and nothing random in it.',
    run: async world => {
      const qr = world.qr ?? skip('the QR code could not be read');
      const reply = await resolveCode(world.client, world.qrUrl);
      const read = readResolveAnswer(reply);
      if (read.outcome !== 'resolved') fail(describeReply(reply));
      if (read.qr.fingerprint !== qr.fingerprint) fail('it changed between two calls');
    },
  },
];
