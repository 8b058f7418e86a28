import type { FastifyInstance } from 'fastify';
import { collectDefaultMetrics, Histogram, Registry } from 'prom-client';

/** Prometheus metrics of this process at /metrics. */
export function measure(server: FastifyInstance): void {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  const durations = new Histogram({
    name: 'http_request_duration_seconds',
    help: 'Time from request to answer',
    labelNames: ['method', 'route', 'status'],
    buckets: [0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 90],
    registers: [registry],
  });
  // Finding a series by its labels costs more than adding to it.
  const series = new Map<string, ReturnType<typeof durations.labels>>();
  server.addHook('onResponse', (request, reply, done) => {
    const route = request.routeOptions.url ?? 'unknown';
    const name = `${request.method} ${route} ${reply.statusCode}`;
    const found = series.get(name) ?? durations.labels(request.method, route, `${reply.statusCode}`);
    series.set(name, found);
    found.observe(reply.elapsedTime / 1000);
    done();
  });
  server.get('/metrics', { schema: { hide: true } }, async (_request, reply) =>
    reply.type(registry.contentType).send(await registry.metrics()),
  );
}
