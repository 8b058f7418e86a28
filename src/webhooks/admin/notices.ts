import type { Id } from '../../base/ids.ts';
import type { AuditContext } from '../../db/audit/index.ts';
import { type NoticeKind, writeNotice } from '../../db/notices/index.ts';
import type { Queryable } from '../../db/postgres/index.ts';
import type { Mode } from '../../ledger/index.ts';

/** The whole team learns where its events go, and that a secret is new, also when support changes it. */
export const notifyOfChange = (
  tx: Queryable,
  { clock, actor }: AuditContext,
  kind: Extract<NoticeKind, `endpoint_${string}`>,
  { partnerId, mode, url }: { partnerId: Id<'prt'>; mode: Mode | null; url: string },
) => writeNotice(tx, clock, partnerId, kind, { mode, url, actor });
