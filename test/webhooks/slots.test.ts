import { test as base, expect } from 'vitest';
import { newId } from '../../src/base/ids.ts';
import { createDeliverySlots } from '../../src/webhooks/delivery/slots.ts';
import { manualClock } from '../helpers/clock.ts';

const quick = { isHanging: false, isExclusive: false };
const failed = { isDelivered: false, hasHung: true };
const test = base.extend('clock', () => manualClock());

test('an attempt of before the lease was lost does not end the one after it was taken again', ({ clock }) => {
  const endpointId = newId('whe', clock);
  const slots = createDeliverySlots(clock.monotonicMs);
  slots.add(endpointId);
  const endFirst = slots.begin(endpointId, 12n, quick)!;
  // The lease is lost and taken again; the event is still due, so it is sent again.
  slots.remove(endpointId);
  slots.add(endpointId);
  const endSecond = slots.begin(endpointId, 12n, quick)!;
  endFirst(failed);
  expect(slots.inFlight()).toEqual([{ endpointId, eventId: 12n }]);
  clock.advance(60_000);
  expect(slots.idle(5_000)).toEqual([]);
  endSecond(failed);
  expect(slots.inFlight()).toEqual([]);
  clock.advance(5_000);
  expect(slots.idle(5_000)).toEqual([endpointId]);
});

test('nothing begins for an endpoint that was removed', ({ clock }) => {
  const endpointId = newId('whe', clock);
  const slots = createDeliverySlots(clock.monotonicMs);
  expect(slots.begin(endpointId, 1n, quick)).toBeUndefined();
  slots.add(endpointId);
  expect(slots.begin(endpointId, 1n, quick)).toBeDefined();
  expect(slots.begin(endpointId, 2n, { ...quick, isExclusive: true })).toBeUndefined();
});

/** So many endpoints, and as many attempts as there are slots. */
function fill(slots: ReturnType<typeof createDeliverySlots>, clock: ReturnType<typeof manualClock>): number {
  let begun = 0;
  for (let nth = 0; nth < 400; nth++) slots.add(newId('whe', clock));
  for (const { endpoints, limit } of slots.plan())
    for (const { endpointId } of endpoints.slice(0, limit))
      if (slots.begin(endpointId, 1n, quick)) begun += 1;
  return begun;
}

test('as many attempts are under way as there are quick slots', ({ clock }) => {
  expect(fill(createDeliverySlots(clock.monotonicMs), clock)).toBe(256);
});
