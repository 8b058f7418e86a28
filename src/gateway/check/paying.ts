import type { Id } from '../../base/ids.ts';
import { isVoided, operationNumberIn } from '../answers.ts';
import { describeReply, type Reply } from './client.ts';
import {
  type Check,
  expectOrder,
  expectStaysFinal,
  fail,
  failAccepted,
  firstOrder,
  getOrder,
  newPaymentId,
  orderIn,
  refusalOf,
  sendOrder,
  sendVoid,
  shownOrder,
  skip,
  type World,
} from './world.ts';

/** As long as the service makes it at most, of the characters that it uses. */
const longReference = 'Kp-_'.repeat(256);
const pollEveryMs = 500;
const atOnce = 5;
/** A void arrives while the PUT is with the bank: which of them is first is then known, and how far the PUT is differs. */
const voidAfterMs = [5, 15, 40];

async function pollUntilFinal(world: World, paymentId: string) {
  const untilMs = world.clock.monotonicMs() + world.finalTimeoutMs;
  for (;;) {
    const order = await shownOrder(world, paymentId);
    if (order.outcome !== 'accepted' || world.clock.monotonicMs() >= untilMs) return order;
    await world.clock.sleep(pollEveryMs);
  }
}

/** Describes an answer that denies an order which another answer confirmed. */
const describeDenial = (reply: Reply) =>
  `one answer is ${describeReply(reply)}: Kopeck releases the money of an order that was accepted`;

async function payAndVoidAtOnce(world: World, delayMs: number): Promise<void> {
  const paymentId = newPaymentId(world);
  const [paid, voided] = await Promise.all([
    sendOrder(world, paymentId),
    world.clock.sleep(delayMs).then(() => sendVoid(world, paymentId)),
  ]);
  const order = orderIn(paid, world.amountKopecks);
  if (order && isVoided(voided)) fail('the PUT was accepted and the void answered voided, for the same id');
  if (order) {
    world.accepted.push({ paymentId, orderId: order.orderId, reference: 'check' });
    if (expectOrder(world, 'the void', voided).orderId !== order.orderId)
      fail('the void answered another order than the PUT');
    return;
  }
  if (refusalOf(paid) !== 'voided') fail(`the PUT: ${describeReply(paid)}, neither an order nor 409 VOIDED`);
  if (!isVoided(voided)) fail(`the PUT was rejected as voided, and the void: ${describeReply(voided)}`);
  await expectNoOrder(world, paymentId);
}

async function expectNoOrder(world: World, paymentId: Id<'pay'>): Promise<void> {
  const after = await getOrder(world, paymentId);
  if (orderIn(after, world.amountKopecks)) failAccepted(world, 'GET shows an order afterwards');
  world.neverPaid.push(paymentId);
}

/** Nothing may be paid: neither now nor, as far as can be seen, later. */
async function expectNotPaid(world: World, what: string, amountKopecks: unknown): Promise<void> {
  const paymentId = newPaymentId(world);
  const reply = await sendOrder(world, paymentId, { amountKopecks: amountKopecks as number });
  const after = await getOrder(world, paymentId);
  for (const { body } of [reply, after])
    if (body?.state === 'accepted' || body?.state === 'succeeded')
      failAccepted(world, `${what} was ${body.state}`);
  if (reply.status === 0 || reply.status >= 500) fail(`${what}: ${describeReply(reply)}, not 4xx`);
}

/** Checks that place orders. Each depends only on the first, so that one mistake is reported once. */
export const payingChecks: Check[] = [
  {
    name: 'paying',
    rule: 'PUT answers 200 {order_id, state, reason}; GET shows its state until it is final. `succeeded` and `declined` never change.',
    run: async world => {
      const paymentId = newPaymentId(world);
      const reply = await sendOrder(world, paymentId, { reference: longReference });
      const placed = expectOrder(world, 'PUT', reply);
      const { orderId } = placed;
      world.accepted.push({ paymentId, orderId, reference: longReference });
      const final = await pollUntilFinal(world, paymentId);
      expectStaysFinal('the PUT', placed, final);
      if (final.orderId !== orderId) fail('GET shows another order_id than PUT');
      if (final.outcome === 'accepted')
        fail('the order has no outcome yet: does the test stand finish orders?');
      if (final.outcome === 'declined')
        fail(`the test stand declined the order (${final.code}): use a code that it pays`);
    },
  },
  {
    name: 'same order again',
    rule: 'A repeated PUT returns the existing order with its order_id and its state, and pays nothing.',
    run: async world => {
      const { paymentId, orderId } = firstOrder(world);
      for (let repeat = 0; repeat < 2; repeat++) {
        const reply = await sendOrder(world, paymentId, { reference: 'another-reference' });
        if (refusalOf(reply)) fail(describeDenial(reply));
        const repeated = expectOrder(world, 'PUT', reply);
        if (repeated.orderId !== orderId) fail('it has another order_id: a new order');
        expectStaysFinal('the repeated PUT', repeated, await shownOrder(world, paymentId));
      }
    },
  },
  {
    name: 'same order at once',
    rule: 'PUTs of one id at the same time make one order: the id is recorded before the bank is called, with a unique key. All get that order; none gets BUSY, VOIDED or UNAVAILABLE, which say that nothing was accepted.',
    run: async world => {
      const paymentId = newPaymentId(world);
      const replies = await Promise.all(Array.from({ length: atOnce }, () => sendOrder(world, paymentId)));
      const orderIds = new Set(replies.flatMap(reply => orderIn(reply, world.amountKopecks)?.orderId ?? []));
      const [orderId] = orderIds;
      if (orderIds.size > 1) fail(`${orderIds.size} orders were made for one id`);
      if (orderId) world.accepted.push({ paymentId, orderId, reference: 'check' });
      const denial = replies.find(refusalOf);
      if (orderId && denial) fail(describeDenial(denial));
      const unreadable = replies.find(reply => !orderIn(reply, world.amountKopecks));
      if (unreadable) fail(describeReply(unreadable));
      const now = await shownOrder(world, paymentId);
      for (const reply of replies) expectStaysFinal('one of the PUTs', expectOrder(world, 'PUT', reply), now);
    },
  },
  {
    name: 'same id, another amount',
    rule: 'A PUT of a known id with another amount changes nothing: 409 {"code": "ORDER_MISMATCH"}, or the existing order.',
    run: async world => {
      const { paymentId, orderId } = firstOrder(world);
      const amountKopecks = Number(world.amountKopecks) + 1;
      const reply = await sendOrder(world, paymentId, { amountKopecks });
      if (refusalOf(reply)) fail(describeDenial(reply));
      if (reply.status === 0 || reply.status >= 500) fail(describeReply(reply));
      if (reply.status === 200 && reply.body?.order_id !== orderId) fail('a new order was made');
      if (reply.status === 200 && reply.body?.amount_kopecks === amountKopecks)
        fail('the order has the new amount');
      const after = await shownOrder(world, paymentId);
      if (after.orderId !== orderId) fail('GET shows another order afterwards');
    },
  },
  {
    name: 'void after paying',
    rule: 'The void of an accepted order returns it unchanged; it is never `voided`.',
    run: async world => {
      const { paymentId, orderId } = firstOrder(world);
      const before = await shownOrder(world, paymentId);
      const reply = await sendVoid(world, paymentId);
      if (isVoided(reply)) fail('an accepted order was voided: Kopeck releases money that was paid');
      const voided = expectOrder(world, 'the void', reply);
      const after = await shownOrder(world, paymentId);
      for (const order of [voided, after])
        if (order.orderId !== orderId || order.outcome !== before.outcome)
          fail(`the order was ${before.outcome} and is ${order.outcome}`);
    },
  },
  {
    name: 'paying after void',
    rule: 'A PUT of a voided id is rejected with 409 {"code": "VOIDED"}, every time and without limit: store voided ids.',
    run: async world => {
      const paymentId = newPaymentId(world);
      const voided = await sendVoid(world, paymentId);
      if (!isVoided(voided)) skip('an unknown order cannot be voided');
      for (let repeat = 0; repeat < 2; repeat++) {
        const reply = await sendOrder(world, paymentId);
        if (orderIn(reply, world.amountKopecks))
          failAccepted(world, `the PUT was ${describeReply(reply)}: it may be paid twice`);
        if (refusalOf(reply) !== 'voided') fail(`the PUT: ${describeReply(reply)}, not 409 VOIDED`);
      }
      await expectNoOrder(world, paymentId);
    },
  },
  {
    name: 'paying and void at once',
    rule: 'Either the order is accepted and the void returns it, or it is voided and the PUT is rejected: decide both under one lock.',
    run: async world => {
      for (const delayMs of voidAfterMs) await payAndVoidAtOnce(world, delayMs);
    },
  },
  {
    name: 'changed QR code',
    rule: 'A PUT with another fingerprint than the code has now: 409 {"code": "QR_CHANGED"}, and nothing is paid.',
    run: async world => {
      const paymentId = newPaymentId(world);
      const reply = await sendOrder(world, paymentId, { fingerprint: 'of-other-data' });
      if (orderIn(reply, world.amountKopecks))
        failAccepted(world, `${describeReply(reply)}, not 409 QR_CHANGED`);
      if (refusalOf(reply) !== 'qr_changed') fail(`${describeReply(reply)}, not 409 QR_CHANGED`);
      await expectNoOrder(world, paymentId);
    },
  },
  {
    name: 'invalid amounts',
    rule: 'An amount that is zero, negative, not whole or missing is answered with a 4xx, and nothing is paid.',
    run: async world => {
      await expectNotPaid(world, 'an amount of 0', 0);
      await expectNotPaid(world, 'a negative amount', -Number(world.amountKopecks));
      await expectNotPaid(world, 'half a kopeck', Number(world.amountKopecks) + 0.5);
      await expectNotPaid(world, 'an order without an amount', undefined);
    },
  },
  {
    name: 'large amounts',
    rule: 'Amounts are 64-bit integers: one that is not the amount of the code is not paid, whatever its lowest bits are.',
    run: async world => {
      if (world.qr?.amountKopecks == null) skip('the code has no fixed amount: a large one would be paid');
      for (const bits of [16, 32, 53])
        await expectNotPaid(
          world,
          `the amount of the code plus 2^${bits}`,
          Number(world.amountKopecks) + 2 ** bits,
        );
    },
  },
  {
    name: 'reference',
    rule: 'The reference of the first PUT comes back unchanged in GET, up to 1 024 characters.',
    run: async world => {
      const { paymentId, reference } = firstOrder(world);
      const { body } = await getOrder(world, paymentId);
      if (body && !('reference' in body))
        skip('it is not stored: lost payments cannot be rebuilt from their orders');
      if (body?.reference !== reference) fail('GET returns another text than the first PUT sent');
    },
  },
  {
    name: 'operation number',
    rule: 'What SBP calls a succeeded order: 1 to 64 ASCII characters without spaces, the same in every answer; an adapter without it leaves it out.',
    run: async world => {
      const { paymentId } = firstOrder(world);
      const [{ body: first = {} }, { body: second }] = [
        await getOrder(world, paymentId),
        await getOrder(world, paymentId),
      ];
      if (first.state !== 'succeeded') skip('the order has not succeeded');
      const { operationNumber } = operationNumberIn(first);
      if (operationNumber === undefined) skip('it is not given: accountants do not see it');
      if (operationNumber === null) fail('it is not a text of 1 to 64 ASCII characters without spaces');
      if (second?.operation_number !== operationNumber) fail('two answers have different ones');
    },
  },
];
