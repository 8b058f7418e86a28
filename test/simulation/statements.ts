import type pg from 'pg';
import type { Statement } from '../../src/db/pool.ts';
import { furtherEndpoints } from '../../src/webhooks/endpoint-tables.ts';
import { isWriteOfRecovery } from './history-watch.ts';

export const nothing: pg.QueryResult = { rows: [], rowCount: 0, command: '', oid: 0, fields: [] };
/** What a claim answers that finds nothing due: when the first one will be. */
export const noneBefore = (firstDueMs: number | undefined): pg.QueryResult => ({
  ...nothing,
  rows: [
    { payment_id: null, endpoint: null, first_due: firstDueMs === undefined ? null : new Date(firstDueMs) },
  ],
});
const functions = [
  'payments_open',
  'quotes_lock',
  'payments_finish',
  'deliveries_end',
  'further_deliveries_end',
];
export const isRead = ({ name = '', text }: Statement) =>
  /^\s*SELECT/.test(text) && !functions.includes(name) && !isWriteOfRecovery(text);
/** Without what says of which endpoints. */
export const nameOf = ({ name = '' }: Statement) => name.replace(furtherEndpoints.suffix, '');
export const isUpdate = (statement: Statement) =>
  /^\s*UPDATE/.test(statement.text) || nameOf(statement) === 'acquire webhook leases';
export const changesWebhooks = [
  'deliveries_end',
  'further_deliveries_end',
  'acquire webhook leases',
  'renew webhook leases',
  'release webhook leases',
];
/** Also of a payment that ends when it is opened. */
export const writesEvents = ['payments_open', 'payments_finish'];
export const ofKeys = ['note key uses', 'note key addresses'];
