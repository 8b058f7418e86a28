import { expect, test, vi } from 'vitest';
import type { Gateway } from '../../src/gateway/index.ts';
import { decidePayment, startRecovery } from '../../src/payments/index.ts';
import { newLink, partnerAt } from '../helpers/api.ts';
import { notePauses } from '../helpers/noted-pauses.ts';
import { startRecoveryWorld } from './recovery-world.ts';

const { clock, deps, audit, address, newCustomer, accepted, openMany, endAll, statusOf } =
  await startRecoveryWorld();

/** The pauses of the polls, and of the search for dead processes. */
async function firstPauses(): Promise<number[]> {
  const noted = notePauses(clock);
  const { stop } = startRecovery({ ...deps, clock: noted.clock });
  await vi.waitFor(() => expect(noted.pauses).toHaveLength(2), 60_000);
  await stop();
  return noted.pauses.toSorted((a, b) => a - b);
}

test('without unfinished payments it asks every other second, otherwise when the first one is due', async () => {
  expect(await firstPauses()).toEqual([1_500, 2_000]);
  const paymentId = await accepted(await newCustomer());
  // Due 2 s later.
  expect(await firstPauses()).toEqual([1_000, 1_500]);
  clock.advance(1_400);
  expect(await firstPauses()).toEqual([600, 1_500]);
  await decidePayment(audit, paymentId, { outcome: 'failed', reason: 'test' });
});

test('many due payments are polled without a pause in between', async () => {
  const customer = await newCustomer();
  await openMany(customer, 60);
  const polls: PromiseWithResolvers<{ outcome: 'unknown'; why: string }>[] = [];
  const poll: Gateway['poll'] = () => polls[polls.push(Promise.withResolvers()) - 1]!.promise;
  const end = (one?: (typeof polls)[0]) => one?.resolve({ outcome: 'unknown', why: 'a test' });
  // A pause would last until the end of the test.
  const sleep: typeof clock.sleep = (_ms, signal) =>
    new Promise(resolve => signal?.addEventListener('abort', () => resolve()));
  const { stop } = startRecovery({
    ...deps,
    clock: { ...clock, sleep },
    gateway: { ...deps.gateway, poll },
  });
  try {
    for (let ended = 0; ended < 10; ended++) {
      await vi.waitFor(() => expect(polls).toHaveLength(50 + ended), 60_000);
      end(polls[ended]);
    }
    await vi.waitFor(() => expect(polls).toHaveLength(60), 60_000);
  } finally {
    for (const one of polls) end(one);
    await stop();
  }
  await endAll();
});

test('places to poll: live polls that hang do not delay a test payment', async () => {
  const customer = await newCustomer();
  await openMany(customer, 60);
  let release = () => {};
  const released = new Promise<void>(done => (release = done));
  const poll = vi.fn<Gateway['poll']>(async () => {
    await released;
    return { outcome: 'unknown', why: 'a test' };
  });
  const { stop } = startRecovery({ ...deps, gateway: { ...deps.gateway, poll } });
  try {
    await clock.until(() => expect(poll).toHaveBeenCalledTimes(50));
    const partner = partnerAt(address, customer.testKey);
    const { json } = await partner.pay({ qr_url: newLink(10_002) });
    expect(json.status).toBe('processing');
    clock.advance(60_000);
    await clock.until(async () => expect(await statusOf(json.id)).toMatchObject({ status: 'succeeded' }));
    // And test mode takes no place of live mode, nor live mode more than its own.
    expect(poll).toHaveBeenCalledTimes(50);
  } finally {
    release();
    await stop();
  }
  await endAll();
});
