import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { openBank } from './bank.ts';
import { controlRoutes } from './control.ts';
import { createHttpServer, type Route, route } from './http.ts';
import { refundRoutes } from './refunds.ts';
import { wireRoutes } from './wire.ts';

export interface SimulatorSettings {
  port: number;
  host: string;
  dir: string;
  token: string | undefined;
  rate: string;
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

/** Listens until it is closed; `exitWith` is for what it cannot go on with. */
export async function startSimulator(settings: SimulatorSettings, exitWith: (why: string) => never) {
  const { port: wantedPort, host, dir, token, rate } = settings;
  const bank = await openBank(dir, rate, exitWith).catch(error => exitWith(error.message));
  const routes = [...wireRoutes(bank, token), ...controlRoutes(bank), ...refundRoutes(bank), ...pageRoutes()];
  const server = createHttpServer({ routes, host, beforeAnswer: bank.flushed }).listen(wantedPort, host);
  await once(server, 'listening').catch(error =>
    exitWith(`SIMULATOR_PORT ${wantedPort} on ${host} cannot be used: ${error.code}.`),
  );
  const { address, family, port } = server.address() as AddressInfo;
  return {
    address: `http://${family === 'IPv6' ? `[${address}]` : address}:${port}`,
    close: async () => {
      server.closeAllConnections();
      server.close();
      await bank.flushed();
      await bank.close();
    },
  };
}
