import pg from 'pg';
import { idFromUuid } from '../../src/base/ids.ts';
import { NotAnsweringError } from '../../src/db/postgres/database-errors.ts';
import type { Pool, Statement } from '../../src/db/postgres/pool.ts';
import {
  changesWebhooks,
  createHistoryWatch,
  isRead,
  isUpdate,
  nothing,
  writesEvents,
} from './history-watch.ts';
import type { World } from './world.ts';

export interface OpenPayments {
  /** When the first of them is due. */
  dueMs: number | null;
  leaseHolders: number[];
}

export interface DatabaseOptions {
  /** Of the history that it shows. */
  pool(): Pool;
  promotions: number;
  /** The sessions of this process have ended. */
  isCutOff(processName: string): boolean;
  isAlive(instance: number): boolean;
  /** Called after every committed change to payments, with the time when it was sent; returns the state of `open_payments`. */
  onChange(sentMs: number): Promise<OpenPayments>;
  /** In runs where partners have webhooks. */
  webhooks: WebhookWatch | undefined;
  /** A process tried to end a payment that has ended differently, or cannot end this way. */
  onContradiction(processName: string, paymentId: string): void;
}

/** Observes every statement about webhooks. */
export interface WebhookWatch {
  onChange(by: 'processes' | 'operator'): Promise<void>;
  onRead(processName: string, rows: { endpoint: string; event_id: bigint }[]): void;
  onRecordingFailed(processName: string, endpoints: string[], eventIds: bigint[]): void;
  /** When the next poll for deliveries could find one. */
  nextDueMs(): number;
}

/** A statement, and when its process sent it. */
type Sent = Statement & { sentMs: number };

export function createSimulatedDatabase(world: World, options: DatabaseOptions) {
  let open: OpenPayments | undefined;
  const history = createHistoryWatch(world, options);

  async function paymentsChanged(sentMs: number): Promise<void> {
    open = await options.onChange(sentMs);
  }

  async function changed(): Promise<void> {
    if (history.hasWork()) await history.refresh();
    await paymentsChanged(world.scheduler.nowMs());
    await webhooksChanged('processes');
  }

  const webhooksChanged = async (by: 'processes' | 'operator') => options.webhooks?.onChange(by);

  const dueMs = ({ dueMs, leaseHolders }: OpenPayments) =>
    leaseHolders.every(options.isAlive) ? (dueMs ?? Number.POSITIVE_INFINITY) : world.scheduler.nowMs();

  async function nextDueMs(): Promise<number> {
    if (open) return dueMs(open);
    const { rows } = await options.pool().query<OpenPayments>({
      name: 'next due',
      text: `SELECT (extract(epoch FROM min(next_at)) * 1000)::float8 AS "dueMs",
                    coalesce(array_agg(lease_holder) FILTER (WHERE lease_holder IS NOT NULL), '{}') AS "leaseHolders" FROM open_payments`,
    });
    open = rows[0]!;
    return dueMs(open);
  }

  async function execute(processName: string, statement: Sent): Promise<pg.QueryResult> {
    if (statement.name === 'database clock')
      return { ...nothing, rows: [{ nowMs: world.scheduler.nowMs() }] };
    const ofHistory = await history.execute(statement);
    if (ofHistory) return ofHistory;
    if (statement.name === 'read due deliveries') return readToSend(processName, statement);
    if (statement.name === 'claim due payments') return claim(processName, statement);
    const isAcquire = statement.name === 'acquire webhook leases';
    const result = await send(isAcquire ? inOrder(statement) : statement);
    if (isRead(statement)) {
      world.trace.add(processName, `${labelOf(statement)} gives ${result.rows.length}`);
      return result;
    }
    if (isAcquire) shuffleRows(result.rows, ['endpoint']);
    world.trace.add(processName, `${labelOf(statement)} ${describe(result)}`);
    const hasChanged = isAcquire ? result.rows[0].endpoint !== null : result.rowCount;
    if (!isUpdate(statement) || hasChanged) await observeChange(statement);
    await history.observe(statement);
    return result;
  }

  const send = ({ sentMs: _sentMs, ...statement }: Sent) => options.pool().query(statement);

  const labelOf = ({ name, text }: Statement) => name ?? text.trim().slice(0, 24);

  async function observeChange(statement: Sent): Promise<void> {
    const { sentMs, text, name = '' } = statement;
    if (!changesWebhooks.includes(name) && !history.isOnlyHistory(text)) await paymentsChanged(sentMs);
    if ([...changesWebhooks, ...writesEvents].includes(name)) await webhooksChanged('processes');
  }

  /** A claim changes nothing that partners or the model can observe. */
  async function claim(processName: string, statement: Sent): Promise<pg.QueryResult> {
    const result = await send(statement);
    if (result.rows[0].paymentId === null) return result;
    shuffleRows(result.rows, ['qrcId', 'partnerId', 'mode']);
    world.trace.add(processName, `claims ${result.rows.length}`);
    open = undefined;
    return result;
  }

  /** Which of the endpoints with something due are acquired first is left to PostgreSQL. */
  function inOrder(statement: Sent): Sent {
    const text = statement.text.replace('LIMIT (SELECT least(', 'ORDER BY c.endpoint_id $&');
    if (text === statement.text) throw new Error('the statement that acquires leases is another one');
    return { ...statement, text };
  }

  /** The statement does not fix the order: that of the keys does, which must not be random. A seed must give the same run every time. */
  function shuffleRows<Key extends string>(rows: Record<Key, string | bigint>[], keys: Key[]): void {
    if (rows.some(row => keys.some(key => row[key] === undefined)))
      throw new Error(`a row has no ${keys.join(' or ')}`);
    const compare = (a: Record<Key, string | bigint>, b: Record<Key, string | bigint>) => {
      const key = keys.find(key => a[key] !== b[key]);
      return key !== undefined && a[key] < b[key] ? -1 : 1;
    };
    world.random.shuffle(rows.sort(compare));
  }

  async function readToSend(processName: string, statement: Sent): Promise<pg.QueryResult> {
    const result = await send(statement);
    shuffleRows(result.rows, ['event_id', 'endpoint']);
    world.trace.add(processName, `reads ${result.rows.length} due deliveries`);
    options.webhooks!.onRead(processName, result.rows);
    return result;
  }

  const describe = ({ rows, rowCount }: pg.QueryResult) =>
    rows.map(row => row.verdict ?? row.status ?? '').join(' ') || `changes ${rowCount}`;

  function reportContradictions(processName: string, { values }: Statement, { rows }: pg.QueryResult): void {
    const [, , ids, outcomes] = values as [unknown, unknown, string[], string[]];
    rows.forEach(({ changed, status }, index) => {
      const agrees = (status === 'succeeded') === (outcomes[index] === 'succeeded');
      if (!changed && (status === 'processing' || !agrees))
        options.onContradiction(processName, idFromUuid('pay', ids[index]!));
    });
  }

  async function executeAndWatch(processName: string, statement: Sent): Promise<pg.QueryResult | undefined> {
    try {
      return await execute(processName, statement);
    } catch (error) {
      const why = error instanceof pg.DatabaseError ? `${error.message} ${error.where ?? ''}` : String(error);
      world.violate('the database never has to refuse a statement', `${statement.text}: ${why}`);
      return undefined;
    }
  }

  return {
    /** A change made past these connections: to payments, or to webhooks. */
    changed,
    webhooksChanged,
    /** Whether it is compared with the bank side, and when its next round may find something. */
    isRecovering: history.isRecovering,
    strayOrders: history.strayOrders,
    nextRoundMs: history.nextRoundMs,
    /**
     * The connection of one process. When a statement runs and whether its result arrives is random.
     */
    connectionOf: (processName: string) => ({
      query: <Row extends pg.QueryResultRow>(statement: Statement) =>
        new Promise<pg.QueryResult<Row>>((resolve, reject) => {
          const { random, scheduler, faults } = world;
          const sent = { ...statement, sentMs: scheduler.nowMs() };
          const delayMs = () =>
            random.chance(faults.databaseSlow) ? random.between(1, 6_000) : random.between(0, 3);
          const fails = random.chance(faults.databaseError * (isRead(statement) ? 1 : 3));
          const runs = !fails || random.chance(0.5);
          const answer = (result: pg.QueryResult | undefined) => {
            if (fails) {
              if (statement.name?.endsWith('deliveries_end')) {
                const [endpoints, eventIds] = statement.values as [string[], bigint[]];
                options.webhooks!.onRecordingFailed(processName, endpoints, eventIds);
              }
              world.trace.add(processName, `loses its connection, statement ${runs ? '' : 'not '}run`);
              return reject(new Error('Connection terminated unexpectedly'));
            }
            if (!result) return;
            if (statement.name === 'payments_finish') reportContradictions(processName, statement, result);
            resolve(result);
          };
          scheduler.after(delayMs(), {
            processName,
            run: async () => {
              if (options.isCutOff(processName))
                return reject(new NotAnsweringError('the database is another one than before'));
              const result = runs ? await executeAndWatch(processName, sent) : undefined;
              if (random.chance(0.7)) return answer(result);
              scheduler.after(delayMs(), { processName, run: () => answer(result) });
            },
            afterCrash: async () => void (await executeAndWatch(`${processName} (crashed)`, sent)),
          });
        }),
    }),
    /** When the first unfinished payment is due; now, if a dead process still holds a lease. */
    nextDueMs,
    /** When a webhook delivery or a payment is due next. */
    nextDeliveryMs: async () => Math.min(await nextDueMs(), options.webhooks!.nextDueMs()),
  };
}

/** The real database, one statement at a time. */
export type SimulatedDatabase = ReturnType<typeof createSimulatedDatabase>;
