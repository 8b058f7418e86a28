import type { Registry } from 'prom-client';
import { createSeries, type DatabaseGauge } from '../telemetry/index.ts';
import type { AttemptResult } from './delivery/recorder.ts';

/** More are not counted: a partner's endpoint may be down for days. */
const maxCounted = 100_000;

export const webhookGauges: DatabaseGauge[] = [
  {
    name: 'kopeck_deliveries_pending',
    help: `Events that are not delivered yet: waiting for the first attempt, or failing; at most ${maxCounted} are counted`,
    labels: ['state'],
    sql: `SELECT ARRAY[s.state], s.count
            FROM (SELECT count(*) FILTER (WHERE attempts = 0) AS waiting, count(*) FILTER (WHERE attempts > 0) AS failing
                    FROM (SELECT attempts FROM deliveries WHERE failed_at IS NULL LIMIT ${maxCounted}) AS d) AS n
           CROSS JOIN LATERAL (VALUES ('waiting', n.waiting), ('failing', n.failing)) AS s (state, count)`,
  },
  {
    name: 'kopeck_delivery_overdue_seconds',
    help: 'How long ago the attempt was due that waits longest, without suspended webhooks',
    labels: [],
    sql: `SELECT ARRAY[]::text[], greatest(0, coalesce(extract(epoch FROM $1::timestamptz - min(d.next_at)), 0))
            FROM endpoints w
           CROSS JOIN LATERAL (SELECT next_at FROM deliveries WHERE endpoint_id = w.endpoint_id AND failed_at IS NULL
                                ORDER BY next_at, event_id LIMIT 1) AS d
           WHERE w.suspended_at IS NULL`,
  },
  {
    name: 'kopeck_webhooks',
    help: 'Webhook endpoints of partners, by state',
    labels: ['state'],
    sql: `SELECT ARRAY[s.state], s.count
            FROM (SELECT count(*) AS all, count(suspended_at) AS suspended FROM endpoints) AS w
           CROSS JOIN LATERAL (VALUES ('active', w.all - w.suspended), ('suspended', w.suspended)) AS s (state, count)`,
  },
];

export type WebhookMetrics = ReturnType<typeof createWebhookMetrics>;

/** What a process measures of the events that it sends. */
export function createWebhookMetrics(registry: Registry) {
  const { counter, histogram } = createSeries(registry);
  const attempts = histogram({
    name: 'kopeck_delivery_attempt_seconds',
    help: 'Attempts to deliver an event, by result',
    labelNames: ['mode', 'result'],
    buckets: [0.01, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
  });
  const lags = histogram({
    name: 'kopeck_delivery_lag_seconds',
    help: 'From the end of a payment until its event was delivered',
    labelNames: ['mode'],
    buckets: [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 1_800, 7_200, 43_200],
  });
  const givenUp = counter({
    name: 'kopeck_deliveries_given_up_total',
    help: 'Events whose last attempt has failed',
    labelNames: ['mode'],
  });
  // From 0 on: otherwise the first one is no increase.
  for (const mode of ['live', 'test']) givenUp(mode).inc(0);
  return {
    /** After each attempt; `settledAt` is when the payment ended. */
    observeAttempt: (result: AttemptResult, settledAt: Date) => {
      const { mode, at, durationMs, isDelivered, nextAt } = result;
      attempts(mode, resultOf(result)).observe(durationMs / 1_000);
      if (isDelivered)
        lags(mode).observe(Math.max(0, at.getTime() + durationMs - settledAt.getTime()) / 1_000);
      else if (nextAt === null) givenUp(mode).inc();
    },
  };
}

/** A status is the endpoint's, so only its class is a label. */
const resultOf = ({ isDelivered, status, error }: AttemptResult) =>
  isDelivered ? 'delivered' : (error ?? `status_${Math.floor((status ?? 0) / 100)}xx`);
