import { readFileSync } from 'node:fs';
import { type Queryable, readRows } from '../src/db/postgres/index.ts';

export const signaturesFile = new URL('signatures.txt', import.meta.url);

interface Signature {
  name: string;
  line: string;
}

/** What callers depend on: each function with its arguments and result, and the fields of the composite types among them. */
export const readSignatures = (db: Queryable) =>
  readRows<Signature>(db, {
    text: `SELECT p.proname AS name,
                  format('%s(%s) RETURNS %s', p.proname, pg_get_function_arguments(p.oid), pg_get_function_result(p.oid)) AS line
             FROM pg_proc p WHERE p.pronamespace = current_schema()::regnamespace
           UNION ALL
           SELECT c.relname, format('%s (%s)', c.relname, string_agg(a.attname || ' ' || format_type(a.atttypid, a.atttypmod), ', ' ORDER BY a.attnum))
             FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid
            WHERE c.relnamespace = current_schema()::regnamespace AND c.relkind = 'c' AND NOT a.attisdropped GROUP BY c.oid`,
  });

/** Every signature that was ever committed, by the name of the function or composite type. */
export function releasedSignatures(): Map<string, string> {
  const lines = readFileSync(signaturesFile, 'utf8').split('\n').filter(Boolean);
  return new Map(lines.map(line => [/^\w+/.exec(line)![0], line]));
}

/** One message for each name that no longer means what it was released with. */
export const changedSignatures = (signatures: Signature[], released: Map<string, string>) =>
  signatures
    .filter(({ name, line }) => released.has(name) && released.get(name) !== line)
    .map(({ name, line }) => `${name} was released as\n  ${released.get(name)}\nand is now\n  ${line}`);
