import type { FastifyInstance } from 'fastify';
import { OperatorError } from '../../base/operator-error.ts';
import type { Settings } from '../../base/settings.ts';

/** Starts listening; an address that cannot be used is reported with the setting to change. */
export async function listen(server: FastifyInstance, { host, port }: Settings): Promise<string> {
  try {
    return await server.listen({ host, port });
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
}
