import type { FastifyInstance } from 'fastify';
import { collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import { countOpenAlarms } from '../../alarms/index.ts';
import { countUnfinished } from '../../payments/index.ts';
import type { ApiDeps } from '../deps.ts';

/** Prometheus metrics at /metrics: those of all processes on this port, and gauges that are read from the database. */
export function measure(
  server: FastifyInstance,
  {
    db,
    heartbeat,
    clockOffset,
    shareMetrics,
  }: Pick<ApiDeps, 'db' | 'heartbeat' | 'clockOffset' | 'shareMetrics'>,
): void {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  const durations = new Histogram({
    name: 'http_request_duration_seconds',
    help: 'Time from request to answer',
    labelNames: ['method', 'route', 'status'],
    buckets: [0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 90],
    registers: [registry],
  });
  // Looking up a series by its labels costs more than observing a value.
  const series = new Map<string, ReturnType<typeof durations.labels>>();
  server.addHook('onResponse', (request, reply, done) => {
    const route = request.routeOptions.url ?? 'unknown';
    const name = `${request.method} ${route} ${reply.statusCode}`;
    const found = series.get(name) ?? durations.labels(request.method, route, `${reply.statusCode}`);
    series.set(name, found);
    found.observe(reply.elapsedTime / 1000);
    done();
  });
  const serving = new Gauge({
    name: 'kopeck_processes',
    help: 'Processes that serve this port',
    registers: [registry],
  });
  server.addHook('onListen', async () => serving.set(1));
  new Gauge({
    name: 'kopeck_clock_offset_seconds',
    help: "Clock of the machine less the database's",
    // Values of several processes would be added up otherwise.
    labelNames: ['process'],
    registers: [registry],
    collect() {
      this.set({ process: heartbeat.instance }, clockOffset().ms / 1_000);
    },
  });
  gaugeFromDatabase(registry, 'kopeck_alarms_open', 'Open alarms', 'kind', () => countOpenAlarms(db));
  gaugeFromDatabase(registry, 'kopeck_payments_unfinished', 'Unfinished payments', 'state', () =>
    countUnfinished(db),
  );
  const readAll = shareMetrics(registry);
  server.get('/metrics', { schema: { hide: true } }, async (_request, reply) =>
    reply.type(registry.contentType).send(await readAll()),
  );
}

/** Read on every scrape; without a database the gauge has no value rather than an old one. */
function gaugeFromDatabase(
  registry: Registry,
  name: string,
  help: string,
  label: string,
  read: () => Promise<Map<string, number>>,
): void {
  new Gauge({
    name,
    help,
    labelNames: [label],
    registers: [registry],
    // All processes read the same database.
    aggregator: 'first',
    async collect() {
      this.reset();
      const counts = await read().catch(() => new Map<string, number>());
      for (const [value, count] of counts) this.set({ [label]: value }, count);
    },
  });
}
