/** Stops one part of the service and drains what it has under way. */
export type Cleanup = () => Promise<void>;

/**
 * The graceful shutdown. Each part adds its cleanup when it starts; they run in reverse order, so that a part drains
 * before what it depends on closes: first the server, at the end the database.
 */
export async function shutDown(cleanups: Cleanup[]): Promise<void> {
  for (const cleanup of cleanups.toReversed()) await cleanup();
}
