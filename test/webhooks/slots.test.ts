import { expect, test } from 'vitest';
import { newId } from '../../src/base/ids.ts';
import { createDeliverySlots } from '../../src/webhooks/delivery/slots.ts';
import { manualClock } from '../helpers/clock.ts';

const quick = { isHanging: false, isExclusive: false };
const failed = { isDelivered: false, hasHung: true };

test('an attempt of before the lease was lost does not end the one after it was taken again', () => {
  const clock = manualClock();
  const partnerId = newId('prt', clock);
  const slots = createDeliverySlots(clock.monotonicMs);
  slots.add(partnerId);
  const endFirst = slots.begin(partnerId, 12n, quick)!;
  // The lease is lost and taken again; the event is still due, so it is sent again.
  slots.remove(partnerId);
  slots.add(partnerId);
  const endSecond = slots.begin(partnerId, 12n, quick)!;
  endFirst(failed);
  expect(slots.inFlight()).toEqual([12n]);
  clock.advance(60_000);
  expect(slots.idle(5_000)).toEqual([]);
  endSecond(failed);
  expect(slots.inFlight()).toEqual([]);
  clock.advance(5_000);
  expect(slots.idle(5_000)).toEqual([partnerId]);
});

test('nothing begins for a partner that was removed', () => {
  const clock = manualClock();
  const partnerId = newId('prt', clock);
  const slots = createDeliverySlots(clock.monotonicMs);
  expect(slots.begin(partnerId, 1n, quick)).toBeUndefined();
  slots.add(partnerId);
  expect(slots.begin(partnerId, 1n, quick)).toBeDefined();
  expect(slots.begin(partnerId, 2n, { ...quick, isExclusive: true })).toBeUndefined();
});
