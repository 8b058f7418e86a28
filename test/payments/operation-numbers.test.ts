import { beforeEach, expect, test, vi } from 'vitest';
import type { Id } from '../../src/base/ids.ts';
import { findOperationNumber, findPaymentOf, paymentTimeline } from '../../src/payments/index.ts';
import { reconcile } from '../../src/payments/reconciliation/reconcile.ts';
import { createPartnerWithKeys, partnerAt, setRate, startApi } from '../helpers/api.ts';
import { createTimedDatabase } from '../helpers/database.ts';
import { makeQr, openSimulator } from '../helpers/simulator.ts';

const { pool, clock } = await createTimedDatabase(new Date().toISOString());
const simulator = await openSimulator();
const { address, deps } = await startApi({ pool, clock, gatewayUrl: simulator.address });
const { partnerId, liveKey } = await createPartnerWithKeys(pool);
const partner = partnerAt(address, liveKey);
beforeEach(() => setRate(pool, clock));

const pay = async () => (await partner.pay({ qr_url: (await makeQr(simulator)).link })).json;
/** Numbers are stored one batch after another: when this one is answered, those before it are stored. */
const afterStored = (paymentId: Id<'pay'>, operationNumber = 'a-later-one') =>
  deps.writer.keepOperationNumber({ paymentId, operationNumber });
const numberOf = (paymentId: Id<'pay'>) => findOperationNumber(pool, { paymentId, status: 'succeeded' });
const givenTo = async (paymentId: Id<'pay'>) =>
  (await simulator.call('GET', `/orders/${paymentId}`)).body.operation_number as string;

test('the number of the answer that ends a payment is kept and in its timeline, and a later one changes nothing', async () => {
  const { id, status } = await pay();
  expect(status).toBe('succeeded');
  await afterStored(id);
  const number = await givenTo(id);
  expect(number).toMatch(/^A\d{31}$/);
  expect(await numberOf(id)).toBe(number);
  const timeline = await paymentTimeline(pool, (await findPaymentOf(pool, partnerId, id))!);
  expect(timeline.find(({ what }) => what === 'succeeded')!.facts).toMatchObject({
    operation_number: number,
  });
});

test.each([
  ['that cannot be used', null],
  ['that cannot be stored', 'a\0b'],
])('a number %s changes nothing of a payment', async (_case, operationNumber) => {
  const warn = vi.spyOn(deps.log, 'warn');
  const logged = new Promise<void>(resolve => void warn.mockImplementationOnce(() => resolve()));
  vi.spyOn(deps.gateway, 'pay').mockResolvedValueOnce({
    outcome: 'succeeded',
    orderId: 'o',
    operationNumber,
  });
  const { id, status } = await pay();
  expect(status).toBe('succeeded');
  await logged;
  await deps.writer.keepOperationNumber({ paymentId: id, operationNumber: 'the-first' });
  expect(await numberOf(id)).toBe('the-first');
});

test('a payment ends while its number cannot be stored, and reconciliation reads the number from the list', async () => {
  const keep = vi.spyOn(deps.writer, 'keepOperationNumber').mockReturnValueOnce(new Promise(() => {}));
  const { id, status } = await pay();
  expect(status).toBe('succeeded');
  expect(keep).toHaveBeenCalledOnce();
  expect(await numberOf(id)).toBeUndefined();

  const now = clock.nowMs();
  // The orders of the tests before differ, and so are compared twice.
  const atOnce = { ...deps, clock: { ...clock, sleep: async () => {} } };
  await reconcile(atOnce, 'test', { from: new Date(now - 600_000), until: new Date(now + 60_000) });
  expect(await numberOf(id)).toBe(await givenTo(id));
});
