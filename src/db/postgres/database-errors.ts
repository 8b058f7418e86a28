import pg from 'pg';

/** The SQLSTATE of an error (appendix A of the manual); undefined for errors that are not the server's. */
export const sqlStateOf = (error: unknown) => (error instanceof pg.DatabaseError ? error.code : undefined);

/**
 * Data out of range (22…), a broken constraint (23…) or a limit of the server, such as a value too long for its index
 * (54…): errors that a single item of a batch can cause.
 */
export const isItemError = (error: unknown) => /^(2[23]|54)/.test(sqlStateOf(error) ?? '');

/** Without an answer in time: a statement under way may or may not have been carried out. */
export class NotAnsweringError extends Error {}

/** The address leads to a history that must not be joined. Only the cluster or an operator can change that. */
export class OldHistoryError extends NotAnsweringError {}

/** Messages of the driver when a connection fails or ends; it gives such errors no code. */
const lostConnection =
  /^(timeout exceeded when trying to connect|Connection terminated|Query read timeout|The server does not support SSL|Client has encountered a connection error)/;

/**
 * What a proxy or a server that is not in service answers: the connection failed (08), it stops or starts (57P), or it is
 * read-only (25006), as a standby is.
 */
const notInService = /^(08|57P|25006)/;

/** The database is not reached, or was lost: a statement under way may or may not have been carried out. */
export function isDatabaseUnreachable(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  if (error instanceof NotAnsweringError) return true;
  if (error instanceof pg.DatabaseError) return notInService.test(error.code ?? '');
  // A name with several addresses: each was tried.
  if (error instanceof AggregateError) return error.errors.every(isDatabaseUnreachable);
  return 'syscall' in error || (error.constructor === Error && lostConnection.test(error.message));
}

/** The server stopped waiting (statement timeout, lock timeout, deadlock) or is out of resources. */
const overloaded = /^(57014|55P03|40P01|53)/;

/** The database is unreachable or overloaded: a later retry may succeed. */
export const isDatabaseUnavailable = (error: unknown) =>
  isDatabaseUnreachable(error) || overloaded.test(sqlStateOf(error) ?? '');
