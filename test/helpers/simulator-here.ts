import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { openBank } from '../../simulator/bank.ts';
import { controlRoutes } from '../../simulator/control.ts';
import { createHttpServer } from '../../simulator/http.ts';
import { refundRoutes } from '../../simulator/refunds.ts';
import { wireRoutes } from '../../simulator/wire.ts';
import { afterFile } from './after-file.ts';
import { newFolder } from './folders.ts';
import { callJson, type Simulator } from './simulator.ts';

/** The simulated bank in this process: it starts at once, and takes no processor of its own. */
export async function startSimulatorHere(): Promise<Pick<Simulator, 'address' | 'call'>> {
  const bank = await openBank(join(newFolder(), 'simulator'), '92.50', why => {
    throw new Error(why);
  });
  const host = '127.0.0.1';
  const routes = [...wireRoutes(bank, undefined), ...controlRoutes(bank), ...refundRoutes(bank)];
  const server = createHttpServer({ routes, host, beforeAnswer: bank.flushed }).listen(0, host);
  await once(server, 'listening');
  afterFile(() => {
    server.closeAllConnections();
    server.close();
  });
  const address = `http://${host}:${(server.address() as AddressInfo).port}`;
  return { address, call: (method, path, body, token) => callJson(`${address}${path}`, method, body, token) };
}
