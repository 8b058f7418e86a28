/**
 * A PostgreSQL server as this process uses it: pools, transactions, servers of one address, dedicated connections and their
 * messages, its clock, its limits, and what its errors mean. It knows no table of Kopeck: those belong to the parts and modules above.
 */
export { connectionsPerProcess, readConnectionLimits } from './connection-limits.ts';
export {
  type ClockOffset,
  clockColumn,
  type DatabaseClock,
  describeOffset,
  exceeds,
  type Measure,
  openDatabaseClock,
  readClock,
} from './database-clock.ts';
export {
  isDatabaseUnavailable,
  isDatabaseUnreachable,
  isItemError,
  NotAnsweringError,
  OldHistoryError,
  sqlStateOf,
} from './database-errors.ts';
export { openDedicatedConnection, ping, tryConnection, withConnection } from './dedicated-connection.ts';
export { listen } from './listen.ts';
export { createPartnerReads, openOutsidePools, openReadPool, type PartnerReads } from './outside-pools.ts';
export {
  lockTimeoutMs,
  openConnections,
  openPool,
  type Pool,
  type Queryable,
  retryOnDeadlock,
  type Statement,
  transaction,
  withCircuitBreaker,
} from './pool.ts';
export { refuseTransactionPooling } from './pooler.ts';
export {
  columnsOf,
  findRow,
  findValue,
  hasRow,
  readRow,
  readRows,
  readValue,
  readValues,
  type Stored,
  withIds,
} from './reads.ts';
export { describeAsynchronous, readStandbys } from './standbys.ts';
export { commitsWithoutWaiting } from './unawaited-commit.ts';
