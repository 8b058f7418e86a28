import { type Id, type IdKind, idFromUuid } from '../../base/ids.ts';
import type { Queryable, Statement } from './pool.ts';

export const readRows = async <Row extends object>(db: Queryable, statement: Statement): Promise<Row[]> =>
  (await db.query<Row>(statement)).rows;

/** The first row, if there is one. */
export const findRow = async <Row extends object>(
  db: Queryable,
  statement: Statement,
): Promise<Row | undefined> => (await db.query<Row>(statement)).rows[0];

/** The first row of a statement that always gives one. */
export async function readRow<Row extends object>(db: Queryable, statement: Statement): Promise<Row> {
  const row = await findRow<Row>(db, statement);
  if (!row) throw new Error('a statement that always gives a row has given none');
  return row;
}

/** The only column of the first row, if there is one. */
export async function findValue<Value>(db: Queryable, statement: Statement): Promise<Value | undefined> {
  const row = await findRow<Record<string, Value>>(db, statement);
  return row && Object.values(row)[0];
}

/** The only column of a statement that always gives a row. */
export const readValue = async <Value>(db: Queryable, statement: Statement): Promise<Value> =>
  Object.values(await readRow<Record<string, Value>>(db, statement))[0]!;

/** The only column of all rows. */
export const readValues = async <Value>(db: Queryable, statement: Statement): Promise<Value[]> =>
  (await readRows<Record<string, Value>>(db, statement)).flatMap(row => Object.values(row));

/** Whether the statement has found or changed a row. */
export const hasRow = async (db: Queryable, statement: Statement): Promise<boolean> =>
  (await db.query(statement)).rowCount! > 0;

/** The columns of these rows, for `unnest`. */
export const columnsOf = <Row>(rows: Row[], ...names: (keyof Row)[]): unknown[][] =>
  names.map(name => rows.map(row => row[name]));

/** As the database has it: with a UUID instead of each id. */
export type Stored<Shown> = { [Field in keyof Shown]: StoredValue<Shown[Field]> };
type StoredValue<Value> = Value extends Id<IdKind> ? string : Value;

/** The kind of each field that is an id. */
type IdKinds<Shown> = {
  [Field in keyof Shown as Shown[Field] extends Id<IdKind> | null ? Field : never]: NonNullable<
    Shown[Field]
  > extends `${infer Kind extends IdKind}_${string}`
    ? Kind
    : never;
};

/** Makes ids of the UUIDs in a row. The row itself is changed: to copy it would take as long as to read it. */
export function withIds<Shown extends object>(kinds: IdKinds<Shown>) {
  const fields = Object.entries<IdKind>(kinds);
  return (row: object): Shown => {
    const shown = row as Record<string, unknown>;
    for (const [field, kind] of fields)
      if (shown[field] !== null) shown[field] = idFromUuid(kind, shown[field] as string);
    return shown as Shown;
  };
}
