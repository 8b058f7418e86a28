import { Gauge, Registry } from 'prom-client';
import { createGatewayMetrics } from '../gateway/index.ts';
import { createPaymentMetrics } from '../payments/index.ts';
import { createRateMetrics } from '../rates/index.ts';
import { createWebhookMetrics } from '../webhooks/index.ts';

/** The metrics that modules of this process fill while they work. The HTTP server adds its own. */
export function createMeters() {
  const metrics = new Registry();
  const leader = new Gauge({
    name: 'kopeck_leader',
    help: 'Processes that were elected for a role',
    labelNames: ['role'],
    registers: [metrics],
  });
  return {
    metrics,
    paymentMetrics: createPaymentMetrics(metrics),
    gatewayMetrics: createGatewayMetrics(metrics),
    webhookMetrics: createWebhookMetrics(metrics),
    onRateAnswers: createRateMetrics(metrics),
    /** From when the bot runs in this process. */
    setBotLeader: (isLeading: boolean) => leader.set({ role: 'bot' }, isLeading ? 1 : 0),
  };
}
