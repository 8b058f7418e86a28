import { type Clock, instantOf } from '../base/clock.ts';
import { type Id, uuidFromId } from '../base/ids.ts';
import { createBatcher, sharedRead, whileOthersJoin } from '../db/batching/index.ts';
import { isItemError, type Queryable } from '../db/postgres/index.ts';
import { pruneOlder } from '../db/retention/index.ts';
import {
  formatTraceparent,
  parseTraceparent,
  type SpanOptions,
  type TraceContext,
  type Tracer,
} from '../telemetry/index.ts';

interface Saved {
  paymentId: Id<'pay'>;
  trace: TraceContext;
}

export type PaymentTraces = ReturnType<typeof createPaymentTraces>;

/** The traces of payments. Each is kept, so that polls and deliveries in other processes belong to it. */
export function createPaymentTraces(db: Queryable, clock: Clock, tracer: Tracer) {
  const write = createBatcher<Saved, undefined>({
    run: async items => {
      await db.query({
        name: 'save traces',
        text: `INSERT INTO payment_traces (payment_id, traceparent, at)
               SELECT p, t, $3 FROM unnest($1::uuid[], $2::text[]) AS i (p, t) ON CONFLICT DO NOTHING`,
        values: [
          items.map(({ paymentId }) => uuidFromId(paymentId)),
          items.map(({ trace }) => formatTraceparent(trace)),
          instantOf(clock),
        ],
      });
      return items.map(() => undefined);
    },
    isItemError,
    maxBatch: 256,
    maxWaiting: 1_000,
    gather: whileOthersJoin,
  });
  return {
    /** Returns when it is stored, or could not be: a payment does not depend on its trace. */
    save: (paymentId: Id<'pay'>, trace: TraceContext): Promise<void> =>
      write({ paymentId, trace }).catch(() => {}),
    /** Starts a span in the trace of a payment; in one of its own if it has none. */
    startSpan: async (paymentId: Id<'pay'>, name: string, options?: SpanOptions) => {
      const parent = await find(db, paymentId).catch(() => undefined);
      return tracer.start(name, { ...options, parent });
    },
  };
}

const find = sharedRead<Id<'pay'>, TraceContext | undefined>(async (db, paymentIds) => {
  const { rows } = await db.query<{ item: number; traceparent: string }>({
    name: 'find traces',
    text: `SELECT i.item::int, t.traceparent FROM unnest($1::uuid[]) WITH ORDINALITY AS i (payment_id, item)
             JOIN payment_traces t USING (payment_id)`,
    values: [paymentIds.map(uuidFromId)],
  });
  const found = new Map(rows.map(({ item, traceparent }) => [item, parseTraceparent(traceparent)]));
  return paymentIds.map((_id, index) => found.get(index + 1));
});

/** Longer than an event is sent again by itself. */
export const pruneTraces = (db: Queryable, clock: Clock) =>
  pruneOlder(db, clock, { table: 'payment_traces', since: 'at', keptDays: 7 });
