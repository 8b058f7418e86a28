import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import { type Running, startCommand } from '../process.ts';

const program = join(import.meta.dirname, '..', '..', 'bin', 'kopeck');

/** Starts the service like `npm start`, by default with only its folder and its port set. */
export async function startService(dataDir: string, env: Record<string, string> = {}): Promise<Running> {
  return startCommand(program, ['start'], { DATA_DIR: dataDir, PORT: `${await freePort()}`, ...env });
}

export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  return port;
}
