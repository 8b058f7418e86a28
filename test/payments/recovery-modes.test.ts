import { expect, test, vi } from 'vitest';
import type { Gateway } from '../../src/gateway/index.ts';
import { decidePayment, startRecovery } from '../../src/payments/index.ts';
import { newLink, partnerAt } from '../helpers/api.ts';
import { startRecoveryWorld } from './recovery-world.ts';

const { clock, deps, audit, address, newCustomer, accepted, statusOf } = await startRecoveryWorld();

test('places to poll: live polls that hang do not delay a test payment', async () => {
  const customer = await newCustomer();
  const live = await Promise.all(Array.from({ length: 60 }, () => accepted(customer)));
  clock.advance(2_000);
  let release = () => {};
  const released = new Promise<void>(done => (release = done));
  const poll = vi.fn<Gateway['poll']>(async () => {
    await released;
    return { outcome: 'unknown', why: 'a test' };
  });
  const { stop } = startRecovery({ ...deps, gateway: { ...deps.gateway, poll } });
  try {
    await expect.poll(() => poll.mock.calls.length).toBe(50);
    const partner = partnerAt(address, customer.testKey);
    const { json } = await partner.pay({ qr_url: newLink(10_002) });
    expect(json.status).toBe('processing');
    clock.advance(60_000);
    await expect.poll(() => statusOf(json.id)).toMatchObject({ status: 'succeeded' });
    // And test mode takes no place of live mode, nor live mode more than its own.
    expect(poll).toHaveBeenCalledTimes(50);
  } finally {
    release();
    await stop();
  }
  for (const id of live) await decidePayment(audit, id, { outcome: 'failed', reason: 'test' });
});
