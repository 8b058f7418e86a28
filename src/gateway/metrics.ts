import type { Registry } from 'prom-client';
import { createSeries, prometheus } from '../telemetry/index.ts';
import type { GatewayCall } from './call.ts';

/** What a process measures of the payment gateway. */
export function createGatewayMetrics(registry: Registry) {
  const { Counter, Gauge } = prometheus();
  const registers = [registry];
  const calls = createSeries(registry).histogram({
    name: 'kopeck_gateway_call_seconds',
    help: 'Calls to the payment gateway, by what was read from the answer',
    labelNames: ['call', 'outcome'],
    buckets: [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 50],
  });
  const breaker = new Gauge({
    name: 'kopeck_gateway_breaker_open',
    help: 'Processes that do not reach the payment gateway and refuse new payments',
    registers,
  });
  return {
    observeCall: ({ call, outcome, durationMs }: Pick<GatewayCall, 'call' | 'outcome' | 'durationMs'>) =>
      calls(call, outcome).observe(durationMs / 1_000),
    setBreaker: (isOpen: boolean) => breaker.set(isOpen ? 1 : 0),
    /** Counts the calls that are missing from the call log. */
    countLost: (read: () => number) =>
      void new Counter({
        name: 'kopeck_gateway_calls_not_logged_total',
        help: 'Calls that are missing from the log of gateway calls',
        registers,
        collect() {
          this.reset();
          this.inc(read());
        },
      }),
  };
}
