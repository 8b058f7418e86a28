import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Counter, collectDefaultMetrics, Gauge, Registry } from 'prom-client';
import { countOpenAlarms } from '../alarms/index.ts';
import { OperatorError } from '../base/operator-error.ts';
import type { Settings } from '../base/settings.ts';
import { countUnfinished } from '../payments/index.ts';
import type { RequestLog } from '../request-log/index.ts';
import type { Cleanup } from './graceful-shutdown.ts';
import { isOwnHost } from './own-host.ts';
import type { SharedParts } from './shared-parts.ts';

/** Metrics of this process, and gauges that are read from the database. The HTTP server adds its own. */
export function createMetrics({
  db,
  heartbeat,
  clockOffset,
  requestLog,
}: Pick<SharedParts, 'db' | 'heartbeat' | 'clockOffset' | 'requestLog'>): Registry {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  new Gauge({ name: 'kopeck_processes', help: 'Processes of the service', registers: [registry] }).set(1);
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
  if (requestLog) countMissing(registry, requestLog);
  gaugeFromDatabase(registry, 'kopeck_alarms_open', 'Open alarms', 'kind', () => countOpenAlarms(db));
  gaugeFromDatabase(registry, 'kopeck_payments_unfinished', 'Unfinished payments', 'state', () =>
    countUnfinished(db),
  );
  return registry;
}

function countMissing(registry: Registry, requestLog: RequestLog): void {
  new Counter({
    name: 'kopeck_request_log_missing_total',
    help: 'Requests that are not in the request log',
    labelNames: ['reason'],
    registers: [registry],
    collect() {
      this.reset();
      for (const [reason, count] of Object.entries(requestLog.lost())) this.inc({ reason }, count);
    },
  });
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

/**
 * Serves the metrics of all processes at a port of their own: they cost a query, and they are nobody else's business.
 * Returns the address.
 */
export async function serveMetrics(
  { metricsHost, metricsPort }: Settings,
  readMetrics: () => Promise<string>,
  cleanups: Cleanup[],
): Promise<string> {
  let reading: Promise<string> | undefined;
  const server = createServer(async (request, response) => {
    if (!isOwnHost(request.headers.host, metricsHost)) return void response.writeHead(403).end();
    if (request.url !== '/metrics') return void response.writeHead(404).end();
    // Scrapes that arrive together share one reading.
    reading ??= readMetrics().finally(() => {
      reading = undefined;
    });
    const text = await reading.catch(() => undefined);
    if (text === undefined) return void response.writeHead(503, { 'retry-after': '2' }).end();
    response.writeHead(200, { 'content-type': Registry.PROMETHEUS_CONTENT_TYPE }).end(text);
  });
  server.listen(metricsPort, metricsHost);
  await once(server, 'listening').catch(({ code, message }: NodeJS.ErrnoException) => {
    throw new OperatorError(
      code === 'EADDRINUSE'
        ? `METRICS_PORT ${metricsPort} on ${metricsHost} is in use: stop the program that has it, or set another.`
        : `METRICS_PORT ${metricsPort} on ${metricsHost} cannot be used (${message}): set another.`,
    );
  });
  cleanups.push(async () => {
    server.closeAllConnections();
    server.close();
  });
  const { address, port } = server.address() as AddressInfo;
  return `http://${address.includes(':') ? `[${address}]` : address}:${port}/metrics`;
}
