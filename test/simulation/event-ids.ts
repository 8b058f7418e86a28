import type { BookedPayment } from './books.ts';
import type { World } from './world.ts';

/** The event ids of a whole run, also of histories that were lost: partners may have got any of them. */
export interface EventIds {
  check(payments: Pick<BookedPayment, 'paymentId' | 'eventId'>[]): void;
}

export function createEventIds({ violate, trace }: World): EventIds {
  const paymentOf = new Map<string, string>();
  return {
    check: payments => {
      for (const { paymentId, eventId } of payments) {
        if (eventId === null) continue;
        const first = paymentOf.get(eventId) ?? paymentId;
        paymentOf.set(eventId, first);
        if (first !== paymentId)
          violate(
            'no event id names two payments',
            `event ${eventId}: ${trace.nameOf(first)} and ${trace.nameOf(paymentId)}`,
          );
      }
    },
  };
}
