import Type from 'typebox';
import { csvLine } from '../../base/csv.ts';
import { parseInstant } from '../../base/instants.ts';
import {
  type AuditFilter,
  type AuditLine,
  compareHeads,
  listAudit,
  readAudit,
} from '../../db/audit/index.ts';
import type { Queryable } from '../../db/postgres/index.ts';
import {
  Download,
  Instant,
  pageOf,
  paging,
  readFields,
  readNumber,
  refuse,
  StatementFormat,
  Text,
} from '../../web/index.ts';
import type { ConsoleDeps } from '../deps.ts';
import { get } from '../route.ts';

const filters = {
  actor: Type.Optional(Text),
  action: Type.Optional(Text),
  subject: Type.Optional(Text),
  since: Type.Optional(Instant),
  until: Type.Optional(Instant),
};

type Asked = { [Name in keyof typeof filters]?: string };

/** Undefined when one of the times does not exist. */
const readFilter = ({ actor, action, subject, since, until }: Asked): AuditFilter | undefined =>
  readFields(read => ({
    actor,
    action,
    subject,
    since: read(since, parseInstant),
    until: read(until, parseInstant),
  }));

const refuseFilter = refuse(422, 'invalid_request', 'This time does not exist.');

/** The audit log: who changed what, as a list and as a file. */
export const auditRoutes = [
  get('/audit', 'see', { query: { ...filters, ...paging } }, async (request, { db }) => {
    const { limit, after = '' } = request.query;
    const filter = readFilter(request.query);
    if (!filter) return refuseFilter;
    const [ms, id] = after.split('.').map(readNumber);
    const at = ms === undefined ? undefined : new Date(Number(ms));
    const place = at && !Number.isNaN(at.getTime()) && id !== undefined ? { at, auditId: id } : undefined;
    const lines = await listAudit(db, filter, { after: place, limit: limit + 1 });
    return pageOf(lines, limit, last => `${last.at.getTime()}.${last.auditId}`, auditRow);
  }),
  get('/audit/heads', 'see', {}, (_request, deps) => headsState(deps)),
  get('/audit/export', 'see', { query: { ...filters, format: StatementFormat } }, (request, { db }) => {
    const { format } = request.query;
    const filter = readFilter(request.query);
    if (!filter) return refuseFilter;
    const write = format === 'csv' ? writeCsv : writeJson;
    return new Download(`audit.${format}`, write(db, filter));
  }),
];

/** How the log compares with the heads that have left the database. */
export interface AuditHeadsState {
  state: 'off' | 'contained' | 'missing' | 'unreachable';
  /** How many there are. */
  kept: number;
  /** The first of those that the log does not contain. */
  missing: { place: number; hash: string }[];
}

async function headsState({ db, auditHeads }: ConsoleDeps): Promise<AuditHeadsState> {
  if (!auditHeads) return { state: 'off', kept: 0, missing: [] };
  // Why they cannot be read is in the log of the worker, and `kopeck doctor` says it.
  const kept = await auditHeads.list().catch(() => undefined);
  if (!kept) return { state: 'unreachable', kept: 0, missing: [] };
  const { missing } = await compareHeads(db, kept);
  const state = missing.length > 0 ? 'missing' : 'contained';
  return { state, kept: kept.length, missing: missing.slice(0, 3) };
}

async function* writeCsv(db: Queryable, filter: AuditFilter): AsyncGenerator<string> {
  yield csvLine(['audit_id', 'at', 'actor', 'action', 'subject', 'before', 'after']);
  const text = (value: unknown) => (value === null ? null : JSON.stringify(value));
  for await (const page of readAudit(db, filter))
    yield page
      .map(auditRow)
      .map(row =>
        csvLine([
          row.audit_id,
          row.at,
          row.actor,
          row.action,
          row.subject,
          text(row.before),
          text(row.after),
        ]),
      )
      .join('');
}

async function* writeJson(db: Queryable, filter: AuditFilter): AsyncGenerator<string> {
  let comma = '[\n';
  for await (const page of readAudit(db, filter)) {
    yield comma + page.map(line => JSON.stringify(auditRow(line))).join(',\n');
    comma = ',\n';
  }
  yield comma === '[\n' ? '[]\n' : '\n]\n';
}

export const auditRow = (line: AuditLine) => ({
  audit_id: `${line.auditId}`,
  at: line.at.toISOString(),
  actor: line.actor,
  action: line.action,
  subject: line.subject,
  before: line.before,
  after: line.after,
});
