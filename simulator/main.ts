/**
 * A simulator of the payment gateway and of a rate feed: a separate program that shares only the wire contract with
 * Kopeck. Its state survives kill -9, and it simulates failures on request. Its page is at /.
 */
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { join, resolve } from 'node:path';
import { openBank } from './bank.ts';
import { controlRoutes, ratePattern } from './control.ts';
import { createHttpServer, type Route, route } from './http.ts';
import { refundRoutes } from './refunds.ts';
import { wireRoutes } from './wire.ts';

function exitWith(why: string): never {
  console.error(why);
  process.exit(1);
}

function readSettings(environment: NodeJS.ProcessEnv) {
  const read = (name: string) => environment[name]?.trim() || undefined;
  const port = read('SIMULATOR_PORT') ?? '0';
  if (!/^\d{1,5}$/.test(port) || Number(port) > 65535)
    exitWith(`SIMULATOR_PORT must be a port, not "${port}".`);
  const rate = read('SIMULATOR_RATE') ?? '92.50';
  if (!ratePattern.test(rate)) exitWith(`SIMULATOR_RATE must be a decimal like 92.50, not "${rate}".`);
  return {
    port: Number(port),
    host: read('SIMULATOR_HOST') ?? '127.0.0.1',
    dir: resolve(read('SIMULATOR_DIR') ?? './data/simulator'),
    token: read('GATEWAY_TOKEN'),
    rate,
    followStdin: read('SIMULATOR_FOLLOW_STDIN') === '1',
  };
}

function pageRoutes(): Route[] {
  const file = (path: RegExp, name: string, contentType: string) => {
    const body = readFileSync(join(import.meta.dirname, name));
    return route('GET', path, () => ({ status: 200, body, contentType }));
  };
  return [
    file(/^\/$/, 'page.html', 'text/html'),
    file(/^\/page\.css$/, 'page.css', 'text/css'),
    file(/^\/page\.js$/, 'page.js', 'text/javascript'),
  ];
}

// Nothing to clean up: everything that was answered is on disk.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => process.exit(0));
const settings = readSettings(process.env);
if (settings.followStdin) {
  // The parent process has ended, perhaps by kill -9.
  for (const event of ['close', 'end', 'error']) process.stdin.on(event, () => process.exit(0));
  process.stdin.resume();
}
const bank = await openBank(settings.dir, settings.rate, exitWith).catch(error => exitWith(error.message));
const routes = [
  ...wireRoutes(bank, settings.token),
  ...controlRoutes(bank),
  ...refundRoutes(bank),
  ...pageRoutes(),
];
const { host, port: wantedPort } = settings;
const server = createHttpServer({ routes, host, beforeAnswer: bank.flushed }).listen(wantedPort, host);
await once(server, 'listening').catch(error =>
  exitWith(`SIMULATOR_PORT ${settings.port} on ${settings.host} cannot be used: ${error.code}.`),
);
const { address, family, port } = server.address() as AddressInfo;
process.stdout.write(`simulator ready at http://${family === 'IPv6' ? `[${address}]` : address}:${port}\n`);
