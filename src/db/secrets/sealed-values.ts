import { hasRow, type Queryable, readRows } from '../postgres/index.ts';

/** Each derives keys of its own. Changing one makes what is stored unreadable. */
export const purposes = {
  webhookSecrets: 'webhook secrets',
  signingKeys: 'signing keys',
  operatorCodes: 'operator codes',
} as const;

/** A column with sealed values, each bound to an id in its row. */
export interface SealedColumn {
  what: 'webhook secrets' | 'one-time code secrets';
  purpose: string;
  table: string;
  /** The column of the id, which is unique. */
  id: string;
  idKind: 'prt' | 'whe' | 'wsk' | 'opr';
  column: string;
  /** SQL: in which rows `v`; all if it is not set. */
  where?: string;
}

const ofWebhooks = {
  what: 'webhook secrets',
  purpose: purposes.webhookSecrets,
  table: 'endpoints',
  id: 'endpoint_id',
} as const;

/** The first endpoint has the UUID of its partner, and its secret is bound to the partner. */
const ofFirst = { ...ofWebhooks, idKind: 'prt', where: 'v.is_first' } as const;
const ofFurther = { ...ofWebhooks, idKind: 'whe', where: 'NOT v.is_first' } as const;

export const sealedColumns: SealedColumn[] = [
  { ...ofFirst, column: 'secret' },
  { ...ofFirst, column: 'old_secret' },
  { ...ofFurther, column: 'secret' },
  { ...ofFurther, column: 'old_secret' },
  {
    what: 'webhook secrets',
    purpose: purposes.signingKeys,
    table: 'signing_keys',
    id: 'id',
    idKind: 'wsk',
    column: 'private_key',
  },
  {
    what: 'one-time code secrets',
    purpose: purposes.operatorCodes,
    table: 'operators',
    id: 'id',
    idKind: 'opr',
    column: 'totp_secret',
  },
];

const nameOf = (id: string) => `'\\x02'::bytea || decode(${id}, 'hex')`;

/** SQL: whether the key `k` of secret_keys has sealed the value. A value without a name is of the first key. */
export const isSealedBy = (value: string, k: string) => `(CASE WHEN ${k}.is_first
  THEN NOT EXISTS (SELECT FROM secret_keys o WHERE NOT o.is_first AND substring(${value} FROM 1 FOR 5) = ${nameOf('o.id')})
  ELSE substring(${value} FROM 1 FOR 5) = ${nameOf(`${k}.id`)} END)`;

const isHashedBy = (k: string) => `coalesce(a.hash_key = ${k}.id, ${k}.is_first)`;

/** SQL: revoked and expired API keys need no secret key, since they are refused whatever is presented. */
const isUsable = 'a.revoked_at IS NULL AND (a.expires_at > now()) IS NOT FALSE';

/** SQL: one row per value, with its key. */
const allValues = [
  ...sealedColumns.map(
    ({ what, table, column, where = 'true' }) =>
      `SELECT k.id, '${what}' AS what FROM ${table} v JOIN secret_keys k ON ${isSealedBy(`v.${column}`, 'k')}
        WHERE v.${column} IS NOT NULL AND ${where}`,
  ),
  `SELECT k.id, 'API keys' AS what FROM api_keys a JOIN secret_keys k ON ${isHashedBy('k')} WHERE ${isUsable}`,
].join(' UNION ALL ');

export interface ValueCount {
  keyId: string;
  what: SealedColumn['what'] | 'API keys';
  count: number;
}

export const countValues = (db: Queryable) =>
  readRows<ValueCount>(db, {
    text: `SELECT id AS "keyId", what, count(*)::int AS count FROM (${allValues}) AS v GROUP BY id, what ORDER BY what`,
  });

/** Counts what was sealed with keys that this process does not have. */
export async function countOfUnknownKeys(
  db: Queryable,
  knownIds: string[],
): Promise<{ count: number; ids: string[] }> {
  const ofOthers = { text: 'SELECT FROM secret_keys WHERE id <> ALL ($1)', values: [knownIds] };
  if (!(await hasRow(db, ofOthers))) return { count: 0, ids: [] };
  const counts = (await countValues(db)).filter(({ keyId }) => !knownIds.includes(keyId));
  return {
    count: counts.reduce((sum, { count }) => sum + count, 0),
    ids: [...new Set(counts.map(({ keyId }) => keyId))],
  };
}

/** API keys whose hash was made under another key than this one, the latest used first. */
export const listKeysLeft = (db: Queryable, activeId: string, limit: number) =>
  readRows<{ apiKeyId: string; partner: string; mode: string; lastUsedAt: Date | null }>(db, {
    text: `SELECT a.id AS "apiKeyId", p.name AS partner, a.mode, a.last_used_at AS "lastUsedAt"
             FROM api_keys a JOIN partners p ON p.id = a.partner_id JOIN secret_keys k ON k.id = $1
            WHERE ${isUsable} AND NOT ${isHashedBy('k')}
            ORDER BY a.last_used_at DESC NULLS LAST, a.id LIMIT $2`,
    values: [activeId, limit],
  });

export const listSecretKeys = (db: Queryable) =>
  readRows<{ keyId: string; activeFrom: Date | null; activeUntil: Date | null }>(db, {
    text: `SELECT id AS "keyId", active_from AS "activeFrom", active_until AS "activeUntil"
             FROM secret_keys ORDER BY active_until NULLS LAST, id`,
  });
