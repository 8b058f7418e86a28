import pg from 'pg';
import { idFromUuid } from '../../src/base/ids.ts';
import type { Pool, Queryable, Statement } from '../../src/db/pool.ts';
import type { World } from './world.ts';

/** The real database, one statement at a time. */
export interface SimulatedDatabase {
  /** The connection of one process: when a statement runs, and whether its answer arrives, is a matter of chance. */
  connectionOf(owner: string): Queryable;
  /** When the first unfinished payment is due, or now, if somebody must be found dead first. */
  nextDueMs(): Promise<number>;
  /** Somebody has changed something past these connections: payments, or the rate. */
  changed(): Promise<void>;
  rateChanged(): void;
}

export interface OpenPayments {
  /** When the first of them is due. */
  dueMs: number | null;
  owners: number[];
}

export interface DatabaseOptions {
  isAlive(instance: number): boolean;
  /** Hears of every change to payments right after it was committed, and says how things stand in `open_payments`. */
  onChange(): Promise<OpenPayments>;
  /** Hears that a process wanted to end a payment that has ended the other way, or cannot end this way. */
  onContradiction(owner: string, paymentId: string): void;
}

const nothing: pg.QueryResult = { rows: [], rowCount: 0, command: '', oid: 0, fields: [] };
const isRead = ({ name, text }: Statement) =>
  /^\s*SELECT/.test(text) && name !== 'payments_open' && name !== 'payments_finish';

export function createSimulatedDatabase(world: World, options: DatabaseOptions): SimulatedDatabase {
  // What was read stays true until its table is written: nobody else uses this database.
  const known = new Map<string, pg.QueryResult>();
  let open: OpenPayments | undefined;

  function forget(table: RegExp): void {
    for (const read of known.keys()) if (table.test(read)) known.delete(read);
  }

  async function changed(): Promise<void> {
    forget(/payments/);
    open = await options.onChange();
  }

  const dueMs = ({ dueMs, owners }: OpenPayments) =>
    owners.every(options.isAlive) ? (dueMs ?? Number.POSITIVE_INFINITY) : world.scheduler.nowMs();

  async function execute(owner: string, statement: Statement): Promise<pg.QueryResult> {
    const label = statement.name ?? statement.text.trim().slice(0, 24);
    if (isRead(statement)) {
      const key = JSON.stringify([statement.text, statement.values]);
      const result = known.get(key) ?? (await world.pool.query(statement));
      known.set(key, result);
      world.trace.add(owner, `${label} gives ${result.rows.length}`);
      return result;
    }
    if (statement.name === 'claim due payments') return claim(owner, statement);
    const result = await world.pool.query(statement);
    world.trace.add(owner, `${label} ${describe(result)}`);
    await changed();
    return result;
  }

  /** Changes nothing that partners or the books could notice. */
  async function claim(owner: string, statement: Statement): Promise<pg.QueryResult> {
    if (open && (open.dueMs ?? Number.POSITIVE_INFINITY) > world.scheduler.nowMs()) return nothing;
    const result = await world.pool.query(statement);
    if (result.rows.length === 0) return nothing;
    inAnyOrder(result.rows);
    world.trace.add(owner, `claims ${result.rows.length}`);
    forget(/open_payments/);
    open = undefined;
    return result;
  }

  /** The statement leaves the order open, and the ids in it are random. */
  function inAnyOrder(rows: { payment_id: string }[]): void {
    world.random.shuffle(rows.sort((a, b) => (a.payment_id < b.payment_id ? -1 : 1)));
  }

  const describe = ({ rows, rowCount }: pg.QueryResult) =>
    rows.map(row => row.verdict ?? row.standing ?? '').join(' ') || `changes ${rowCount}`;

  function lookForContradictions(owner: string, { values }: Statement, { rows }: pg.QueryResult): void {
    const [, , ids, outcomes] = values as [unknown, unknown, string[], string[]];
    rows.forEach(({ changed, standing }, index) => {
      const agrees = (standing === 'succeeded') === (outcomes[index] === 'succeeded');
      if (!changed && (standing === 'processing' || !agrees))
        options.onContradiction(owner, idFromUuid('pay', ids[index]!));
    });
  }

  async function executeAndWatch(owner: string, statement: Statement): Promise<pg.QueryResult | undefined> {
    try {
      return await execute(owner, statement);
    } catch (error) {
      const why = error instanceof pg.DatabaseError ? `${error.message} ${error.where ?? ''}` : String(error);
      world.violate('the database never has to refuse a statement', `${statement.text}: ${why}`);
      return undefined;
    }
  }

  return {
    changed,
    rateChanged: () => forget(/rates/),
    connectionOf: owner => ({
      query: <Row extends pg.QueryResultRow>(statement: Statement) =>
        new Promise<pg.QueryResult<Row>>((resolve, reject) => {
          const { random, scheduler, faults } = world;
          const delayMs = () =>
            random.chance(faults.databaseSlow) ? random.between(1, 6_000) : random.between(0, 3);
          const fails = random.chance(faults.databaseError * (isRead(statement) ? 1 : 3));
          const runs = !fails || random.chance(0.5);
          const answer = (result: pg.QueryResult | undefined) => {
            if (fails) {
              world.trace.add(owner, `loses its connection, statement ${runs ? '' : 'not '}run`);
              return reject(new Error('Connection terminated unexpectedly'));
            }
            if (!result) return;
            if (statement.name === 'payments_finish') lookForContradictions(owner, statement, result);
            resolve(result);
          };
          scheduler.after(delayMs(), {
            owner,
            run: async () => {
              const result = runs ? await executeAndWatch(owner, statement) : undefined;
              if (random.chance(0.7)) return answer(result);
              scheduler.after(delayMs(), { owner, run: () => answer(result) });
            },
            afterDeath: async () => void (await executeAndWatch(`${owner} (dead)`, statement)),
          });
        }),
    }),
    nextDueMs: async () => {
      open ??= await readOpenPayments(world.pool);
      return dueMs(open);
    },
  };
}

async function readOpenPayments(pool: Pool): Promise<OpenPayments> {
  const { rows } = await pool.query<OpenPayments>({
    name: 'next due',
    text: `SELECT (extract(epoch FROM min(next_at)) * 1000)::float8 AS "dueMs",
                  coalesce(array_agg(owner) FILTER (WHERE owner IS NOT NULL), '{}') AS owners FROM open_payments`,
  });
  return rows[0]!;
}
