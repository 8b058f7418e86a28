import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Registry } from 'prom-client';
import { OperatorError } from '../base/operator-error.ts';
import type { Settings } from '../base/settings.ts';
import type { Cleanup } from './graceful-shutdown.ts';
import { isOwnHost } from './own-host.ts';

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
