import type { Agent, buildConnector } from 'undici';
import { undici } from './undici.ts';

/**
 * Connections of one client. It remembers the errors of its connections: nothing that was sent is the cause of one that cannot
 * be made.
 */
export function createAgent({
  maxConnections,
  connectTimeoutMs,
}: {
  maxConnections: number;
  connectTimeoutMs: number;
}): { agent: Agent; isConnectError(error: unknown): boolean } {
  const { Agent, buildConnector } = undici();
  const connectErrors = new WeakSet<Error>();
  const connectOnce = buildConnector({ timeout: connectTimeoutMs });
  const connect: buildConnector.connector = (options, done) =>
    connectOnce(options, (...result) => {
      if (result[0]) connectErrors.add(result[0]);
      done(...result);
    });
  return {
    agent: new Agent({ connections: maxConnections, connect }),
    isConnectError: error => error instanceof Error && connectErrors.has(error),
  };
}
