/** `leave`: the database is another one by now. Nobody is given time to go elsewhere, since nothing could be done for them. */
export type Manner = 'drain' | 'leave';

/** Stops one part of the service and drains what it has under way. */
export type Cleanup = (manner?: Manner) => Promise<void>;

/**
 * The graceful shutdown. Each part adds its cleanup when it starts; they run in reverse order, so that a part drains
 * before what it depends on closes: first the server, at the end the database.
 */
export async function shutDown(cleanups: Cleanup[], manner: Manner = 'drain'): Promise<void> {
  for (const cleanup of cleanups.toReversed()) await cleanup(manner);
}
