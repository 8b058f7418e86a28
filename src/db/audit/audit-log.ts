import { type Queryable, readRows } from '../postgres/index.ts';

/** One line of the audit log: who changed what, when, from what to what. */
export interface AuditLine {
  auditId: bigint;
  at: Date;
  actor: string;
  action: string;
  subject: string;
  before: unknown;
  after: unknown;
}

/** Undefined: any. `since` is included, `until` is not. */
export interface AuditFilter {
  actor?: string | undefined;
  action?: string | undefined;
  subject?: string | undefined;
  since?: Date | undefined;
  until?: Date | undefined;
}

export type AuditCursor = Pick<AuditLine, 'at' | 'auditId'>;

/**
 * A page of the log, newest first. The statement contains only the conditions of the filter, so that each combination can
 * use the index that fits it.
 */
export async function listAudit(
  db: Queryable,
  filter: AuditFilter,
  { after, limit }: { after?: AuditCursor | undefined; limit: number },
): Promise<AuditLine[]> {
  const values: unknown[] = [limit];
  const given = (value: unknown) => `$${values.push(value)}`;
  const conditions = [
    ...(['actor', 'action', 'subject'] as const).flatMap(name =>
      filter[name] === undefined ? [] : [`${name} = ${given(filter[name])}`],
    ),
    ...(filter.since ? [`at >= ${given(filter.since)}`] : []),
    ...(filter.until ? [`at < ${given(filter.until)}`] : []),
    ...(after ? [`(at, id) < (${given(after.at)}, ${given(after.auditId)})`] : []),
  ];
  return readRows<AuditLine>(db, {
    text: `SELECT id AS "auditId", at, actor, action, subject, before, after FROM audit
            ${conditions.length > 0 ? `WHERE ${conditions.join(' AND ')}` : ''}
            ORDER BY at DESC, id DESC LIMIT $1`,
    values,
  });
}

const pageSize = 1_000;

/** All matching lines, page by page. Lines added meanwhile are newer than the first page and not included. */
export async function* readAudit(db: Queryable, filter: AuditFilter): AsyncGenerator<AuditLine[]> {
  for (let after: AuditCursor | undefined; ; ) {
    const page = await listAudit(db, filter, { after, limit: pageSize });
    if (page.length > 0) yield page;
    if (page.length < pageSize) return;
    after = page.at(-1)!;
  }
}
