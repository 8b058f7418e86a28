import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { OperatorError } from '../base/operator-error.ts';
import type { Settings } from '../base/settings.ts';

/** Whether sockets can share a port. Elsewhere Node has no way for it, and one process serves. */
export const sharesPort = process.platform === 'linux';

/**
 * The port to listen on, which is free now. The sockets of the service share their port, and would share it with another program of
 * the same user as well: so one that shares nothing comes first.
 */
export async function findPort({ host, port }: Pick<Settings, 'host' | 'port'>): Promise<number> {
  const probe = createServer().listen({ host, port, exclusive: true });
  try {
    await once(probe, 'listening');
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    const messages: Record<string, string> = {
      EADDRINUSE: `PORT ${port} on ${host} is in use: stop the program that has it, or set PORT to another.`,
      EACCES: `PORT ${port} needs more permissions than this user has: set PORT above 1023.`,
      EADDRNOTAVAIL: `HOST ${host} is not an address of this machine: correct it.`,
      ENOTFOUND: `HOST ${host} is not an address of this machine: correct it.`,
    };
    throw code && messages[code] ? new OperatorError(messages[code]) : error;
  }
  const { port: found } = probe.address() as AddressInfo;
  probe.close();
  await once(probe, 'close');
  return found;
}
