import type { FastifyInstance } from 'fastify';
import { Gauge } from 'prom-client';
import { errors as apiErrors } from '../../base/errors.ts';
import { createSeries } from '../../telemetry/index.ts';
import type { ApiDeps } from '../deps.ts';

export type RequestMetrics = ReturnType<typeof createRequestMetrics>;

/** Counts every request by its route: a path that a caller made up adds no series. */
export function createRequestMetrics({ metrics, admission }: Pick<ApiDeps, 'metrics' | 'admission'>) {
  const { counter, histogram } = createSeries(metrics);
  const durations = histogram({
    name: 'http_request_duration_seconds',
    help: 'Time from request to answer',
    labelNames: ['method', 'route', 'status'],
    buckets: [0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 90],
  });
  const errors = counter({
    name: 'kopeck_api_errors_total',
    help: 'Requests that were answered with an error of the API',
    labelNames: ['route', 'code'],
  });
  // Prometheus does not count the first value of a series as an increase: without these the first refusals raise no alert.
  for (const [code, { status }] of Object.entries(apiErrors))
    if (status >= 500) errors('/v1/payments', code).inc(0);
  new Gauge({
    name: 'kopeck_admission_places',
    help: 'Requests on their way to a debit (taken), and how many there may be (all)',
    labelNames: ['state'],
    registers: [metrics],
    collect() {
      for (const [state, count] of Object.entries(admission.places())) this.set({ state }, count);
    },
  });
  return (method: string, route: string, status: number, ms: number, errorCode?: string) => {
    durations(method, route, `${status}`).observe(ms / 1000);
    if (errorCode !== undefined) errors(route, errorCode).inc();
  };
}

export function measure(server: FastifyInstance, count: RequestMetrics): void {
  server.addHook('onResponse', ({ method, routeOptions, errorCode }, { statusCode, elapsedTime }, done) => {
    count(method, routeOptions.url ?? 'unknown', statusCode, elapsedTime, errorCode);
    done();
  });
}
