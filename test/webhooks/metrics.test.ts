import { Registry } from 'prom-client';
import { expect, test } from 'vitest';
import { createWebhookMetrics } from '../../src/webhooks/index.ts';

const at = new Date('2026-11-16T12:00:00Z');
const settledAt = new Date('2026-11-16T11:59:57Z');
const attempt = {
  ...({ partnerId: 'prt_1', endpointId: 'whe_1', mode: 'live', eventId: 1n, attempt: 1 } as const),
  ...{
    hasHung: false,
    isDelivered: false,
    status: null,
    error: null,
    responseBody: null,
    durationMs: 500,
    nextAt: at,
    at,
  },
};

test('attempts are counted by result, and the lag when the event is delivered', async () => {
  const registry = new Registry();
  const { observeAttempt } = createWebhookMetrics(registry);
  observeAttempt({ ...attempt, status: 404 }, settledAt);
  observeAttempt({ ...attempt, status: 999 }, settledAt);
  observeAttempt({ ...attempt, error: 'timeout', nextAt: null }, settledAt);
  observeAttempt({ ...attempt, status: 200, isDelivered: true, nextAt: null }, settledAt);
  const lines = (await registry.metrics()).split('\n');
  for (const line of [
    'kopeck_delivery_attempt_seconds_count{mode="live",result="status_4xx"} 1',
    'kopeck_delivery_attempt_seconds_count{mode="live",result="status_9xx"} 1',
    'kopeck_delivery_attempt_seconds_count{mode="live",result="timeout"} 1',
    'kopeck_delivery_attempt_seconds_count{mode="live",result="delivered"} 1',
    'kopeck_delivery_lag_seconds_sum{mode="live"} 3.5',
    'kopeck_delivery_lag_seconds_count{mode="live"} 1',
    'kopeck_deliveries_given_up_total{mode="live"} 1',
  ])
    expect(lines).toContain(line);
});
