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
  /** When somebody could find something to send, or a payment that ends and has to be told of. */
  nextToSendMs(): Promise<number>;
  /** Somebody has changed something past these connections: payments, webhooks, or the rate. */
  changed(): Promise<void>;
  hooksChanged(by: 'processes' | 'operator'): Promise<void>;
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
  /** In runs where partners have webhooks. */
  webhooks: WebhookWatch | undefined;
  /** Hears that a process wanted to end a payment that has ended the other way, or cannot end this way. */
  onContradiction(owner: string, paymentId: string): void;
}

/** Who watches the webhooks. */
export interface WebhookWatch {
  onChange(by: 'processes' | 'operator'): Promise<void>;
  onRead(owner: string, rows: { partner_id: string; event_id: bigint }[]): void;
  onRecordingFailed(owner: string, eventIds: bigint[]): void;
  /** When the first event is due. */
  firstDueMs(): number;
  /** Whether any partner is served by this process. */
  isServing(instance: number): boolean;
  /** When anybody who sends should look. */
  nextDueMs(): number;
}

const nothing: pg.QueryResult = { rows: [], rowCount: 0, command: '', oid: 0, fields: [] };
const functions = ['payments_open', 'payments_finish', 'deliveries_end'];
const isRead = ({ name = '', text }: Statement) => /^\s*SELECT/.test(text) && !functions.includes(name);
const isUpdate = ({ name, text }: Statement) => /^\s*UPDATE/.test(text) || name === 'acquire webhook leases';
const changesWebhooks = [
  'deliveries_end',
  'acquire webhook leases',
  'renew webhook leases',
  'release webhook leases',
  'payments_finish',
];
const changesOnlyWebhooks = changesWebhooks.filter(name => name !== 'payments_finish');

export function createSimulatedDatabase(world: World, options: DatabaseOptions): SimulatedDatabase {
  // What was read stays true until its table is written: nobody else uses this database.
  const known = new Map<string, pg.QueryResult>();
  let open: OpenPayments | undefined;

  function forget(table: RegExp): void {
    for (const read of known.keys()) if (table.test(read)) known.delete(read);
  }

  async function paymentsChanged(): Promise<void> {
    forget(/payments/);
    open = await options.onChange();
  }

  async function changed(): Promise<void> {
    await paymentsChanged();
    await hooksChanged('processes');
  }

  async function hooksChanged(by: 'processes' | 'operator'): Promise<void> {
    forget(/webhooks/);
    await options.webhooks?.onChange(by);
  }

  const dueMs = ({ dueMs, owners }: OpenPayments) =>
    owners.every(options.isAlive) ? (dueMs ?? Number.POSITIVE_INFINITY) : world.scheduler.nowMs();

  async function nextDueMs(): Promise<number> {
    open ??= await readOpenPayments(world.pool);
    return dueMs(open);
  }

  async function execute(owner: string, statement: Statement): Promise<pg.QueryResult> {
    if (findsNothing(statement)) return nothing;
    if (statement.name === 'read due deliveries') return readToSend(owner, statement);
    if (statement.name === 'claim due payments') return claim(owner, statement);
    if (isRead(statement)) return read(owner, statement);
    const result = await world.pool.query(statement);
    if (statement.name === 'acquire webhook leases') inAnyOrder(result.rows, 'partner_id');
    world.trace.add(owner, `${labelOf(statement)} ${describe(result)}`);
    if (!isUpdate(statement) || result.rowCount) await observeChange(statement.name ?? '');
    return result;
  }

  const labelOf = ({ name, text }: Statement) => name ?? text.trim().slice(0, 24);

  async function read(owner: string, statement: Statement): Promise<pg.QueryResult> {
    const key = JSON.stringify([statement.text, statement.values]);
    const result = known.get(key) ?? (await world.pool.query(statement));
    known.set(key, result);
    world.trace.add(owner, `${labelOf(statement)} gives ${result.rows.length}`);
    return result;
  }

  async function observeChange(name: string): Promise<void> {
    if (!changesOnlyWebhooks.includes(name)) await paymentsChanged();
    if (changesWebhooks.includes(name)) await hooksChanged('processes');
  }

  /** As the books show, so that nobody has to be asked. */
  function findsNothing({ name, values }: Statement): boolean {
    if (name === 'renew webhook leases') return !options.webhooks!.isServing(values![0] as number);
    if (name !== 'acquire webhook leases' && name !== 'read due deliveries') return false;
    return options.webhooks!.firstDueMs() > world.scheduler.nowMs();
  }

  /** Changes nothing that partners or the books could notice. */
  async function claim(owner: string, statement: Statement): Promise<pg.QueryResult> {
    if (open && (open.dueMs ?? Number.POSITIVE_INFINITY) > world.scheduler.nowMs()) return nothing;
    const result = await world.pool.query(statement);
    if (result.rows.length === 0) return nothing;
    inAnyOrder(result.rows, 'payment_id');
    world.trace.add(owner, `claims ${result.rows.length}`);
    forget(/open_payments/);
    open = undefined;
    return result;
  }

  /** The statement leaves the order open, and the ids in it are random. */
  function inAnyOrder<Key extends string>(rows: Record<Key, string | bigint>[], key: Key): void {
    world.random.shuffle(rows.sort((a, b) => (a[key] < b[key] ? -1 : 1)));
  }

  async function readToSend(owner: string, statement: Statement): Promise<pg.QueryResult> {
    const result = await world.pool.query(statement);
    inAnyOrder(result.rows, 'event_id');
    world.trace.add(owner, `finds ${result.rows.length} to send`);
    options.webhooks!.onRead(owner, result.rows);
    return result;
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
    hooksChanged,
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
              if (statement.name === 'deliveries_end')
                options.webhooks!.onRecordingFailed(owner, statement.values![1] as bigint[]);
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
    nextDueMs,
    nextToSendMs: async () => Math.min(await nextDueMs(), options.webhooks!.nextDueMs()),
  };
}

async function readOpenPayments(pool: Pool): Promise<OpenPayments> {
  const { rows } = await pool.query<OpenPayments>({
    name: 'next due',
    text: `SELECT (extract(epoch FROM min(next_at)) * 1000)::float8 AS "dueMs",
                  coalesce(array_agg(lease_holder) FILTER (WHERE lease_holder IS NOT NULL), '{}') AS owners FROM open_payments`,
  });
  return rows[0]!;
}
