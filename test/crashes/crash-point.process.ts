/**
 * Loaded into a service before its own code (`node --import`). The file CRASH_POINTS_FILE says which payment is held at
 * which point, such as "after pay": `[[name, point], …]`, where a payment is named by its key, its id or its code. A
 * payment that reaches its point is printed to stdout; the test then kills the process. The file is read at the start
 * and on SIGUSR2. When it is empty, all held payments continue, as in a process that was only stopped.
 *
 * "Before" is before anything left the process; "after" is when the answer has arrived and the code has not seen it.
 */
import { subscribe } from 'node:diagnostics_channel';
import { readFileSync } from 'node:fs';
import { ServerResponse } from 'node:http';
import { registerHooks } from 'node:module';
import pg from 'pg';
import { Agent, type Dispatcher } from 'undici';
import { idFromUuid } from '../../src/base/ids.ts';

const readPoints = () =>
  new Map<string, string>(JSON.parse(readFileSync(process.env.CRASH_POINTS_FILE!, 'utf8')));
let pointOf = readPoints();

let release: () => void;
const released = new Promise<void>(resolve => {
  release = resolve;
});
process.on('SIGUSR2', () => {
  pointOf = readPoints();
  if (pointOf.size === 0) release();
  process.stdout.write(`crash points: ${pointOf.size}\n`);
});

export const isArmed = () => pointOf.size > 0;
const isHeld = (name: string, when: 'before' | 'during' | 'after', step: string) =>
  pointOf.get(name) === `${when} ${step}`;

function hold(names: string[]): Promise<void> {
  for (const name of names) process.stdout.write(`crash point reached: ${name}\n`);
  return released;
}

/** While crash points are set, statements are not batched: see `unbatched.ts`. */
const batcher = new URL('../../src/db/batch.ts', import.meta.url).href;
const standIn = new URL('./unbatched.ts', import.meta.url).href;
registerHooks({
  resolve: (specifier, context, next) => {
    const found = next(specifier, context);
    return found.url === batcher && context.parentURL !== standIn ? { ...found, url: standIn } : found;
  },
});

/** Stands for a step that is about no payment in particular. */
const anyPayment = 'any payment';

const idsOf = (uuids: string[]) => uuids.map(uuid => idFromUuid('pay', uuid));

/** Statements about payments: their step, and the payments they are about. */
const statements: Record<string, { step: string; namesIn(values: unknown[]): string[] }> = {
  payments_open: { step: 'open', namesIn: values => values[4] as string[] },
  payments_open_quoted: { step: 'open', namesIn: values => values[4] as string[] },
  payments_finish: { step: 'finish', namesIn: values => idsOf(values[2] as string[]) },
  'schedule next poll': { step: 'schedule next poll', namesIn: values => idsOf([values[2] as string]) },
  releaseLeases: { step: 'releaseLeases', namesIn: () => [anyPayment] },
  'store refund position': { step: 'store refund position', namesIn: () => [anyPayment] },
};

/** From here on a payment is named by its id. */
function mapKeysToIds(values: unknown[]): void {
  const keys = values[4] as string[];
  for (const [index, id] of idsOf(values[3] as string[]).entries()) {
    const point = pointOf.get(keys[index]!);
    if (point) pointOf.set(id, point);
  }
}

type Run = (statement: pg.QueryConfig) => Promise<pg.QueryResult>;
const pool = pg.Pool.prototype as unknown as { query: Run };
const run = pool.query;

/** A claim takes all due payments, so its payments have to be queried. */
async function claim(query: Run, statement: pg.QueryConfig): Promise<pg.QueryResult> {
  const holdSome = async (when: 'before' | 'after', rows: { payment_id: string }[]) => {
    const names = idsOf(rows.map(row => row.payment_id)).filter(id => isHeld(id, when, 'claim'));
    if (names.length > 0) await hold(names);
  };
  const text = 'SELECT payment_id FROM open_payments WHERE next_at <= $1';
  if (isArmed()) await holdSome('before', (await query({ text, values: [statement.values![0]] })).rows);
  const result = await query(statement);
  await holdSome('after', result.rows);
  return result;
}

function nameOf({ name, text = '' }: pg.QueryConfig): string {
  if (text.includes('SET next_at = $1, lease_holder = NULL')) return 'releaseLeases';
  return text.includes('SET refunds_read_to') ? 'store refund position' : (name ?? '');
}

pool.query = async function (statement, ...rest) {
  const query: Run = statement => run.call(this, statement);
  if (statement.name === 'claim due payments') return claim(query, statement);
  const known = statements[nameOf(statement)];
  if (!known || !isArmed()) return run.call(this, statement, ...rest);
  const { step } = known;
  if (step === 'open') mapKeysToIds(statement.values!);
  const names = known.namesIn(statement.values!);
  if (names.some(name => isHeld(name, 'before', step))) await hold(names);
  const result = await query(statement);
  if (names.some(name => isHeld(name, 'after', step))) await hold(names);
  return result;
};

/** Statements of transactions, by a part of their text. */
const inTransactions = [
  { part: 'FROM payments_refund(', step: 'book refund' },
  { part: 'DELETE FROM further_deliveries', step: 'remove endpoint' },
];
const client = pg.Client.prototype as unknown as { query: (...args: unknown[]) => unknown };
const runInClient = client.query;

client.query = function (...args) {
  const [statement] = args as [pg.QueryConfig];
  const known = inTransactions.find(({ part }) => statement.text?.includes(part));
  if (!known || !isArmed()) return runInClient.apply(this, args);
  const holdIf = async (when: 'before' | 'after') => {
    if (isHeld(anyPayment, when, known.step)) await hold([anyPayment]);
  };
  return holdIf('before').then(async () => {
    const result = await runInClient.apply(this, args);
    await holdIf('after');
    return result;
  });
};

/** The step of a gateway call and its payment: by its code, or by its id. */
function readCall({ method, path, body }: Dispatcher.DispatchOptions): { step: string; name: string } {
  if (path === '/qr/resolve') return { step: 'resolve', name: /nspk\.ru\/(\w+)/.exec(String(body))![1]! };
  const [, name = '', action] = /^\/orders\/(pay_\w+)(\/void)?$/.exec(path) ?? [];
  if (!name) return { step: 'something else', name };
  return { step: action ? 'void' : method === 'PUT' ? 'pay' : 'poll', name };
}

/** Holds back all events of a response until the process may continue. */
function holdBack(handler: Dispatcher.DispatchHandler, onAnswered: () => void): Dispatcher.DispatchHandler {
  const missed: (() => void)[] = [];
  let isReleased = false;
  void released.then(() => {
    isReleased = true;
    for (const forward of missed) forward();
  });
  const events = ['onRequestStart', 'onResponseStart', 'onResponseData', 'onResponseEnd', 'onResponseError'];
  const keepBack = (event: string) => {
    const forward = handler[event as keyof typeof handler] as (...args: unknown[]) => void;
    return (...args: unknown[]) => {
      if (isReleased) return forward.apply(handler, args);
      missed.push(() => forward.apply(handler, args));
      if (event === 'onResponseEnd' || event === 'onResponseError') onAnswered();
    };
  };
  return Object.fromEntries(events.map(event => [event, keepBack(event)]));
}

const dispatch = Agent.prototype.dispatch;
Agent.prototype.dispatch = function (options, handler) {
  const { step, name } = readCall(options);
  if (isHeld(name, 'before', step)) {
    void hold([name]).then(() => dispatch.call(this, options, handler));
    return true;
  }
  const isDuring = isHeld(name, 'during', step);
  if (!isDuring && !isHeld(name, 'after', step)) return dispatch.call(this, options, handler);
  const onAnswered = () => {
    if (!isDuring) void hold([name]);
  };
  return dispatch.call(this, options, holdBack(handler, onAnswered));
};

subscribe('undici:request:bodySent', message => {
  const { step, name } = readCall((message as { request: Dispatcher.DispatchOptions }).request);
  if (isHeld(name, 'during', step)) void hold([name]);
});

const end = ServerResponse.prototype.end as (...args: unknown[]) => ServerResponse;
ServerResponse.prototype.end = function (this: ServerResponse, ...args: unknown[]) {
  const isPayment = this.req.method === 'POST' && this.req.url === '/v1/payments';
  const name = isPayment ? String(this.req.headers['idempotency-key']) : '';
  if (isHeld(name, 'before', 'answer')) {
    void hold([name]).then(() => end.apply(this, args));
    return this;
  }
  end.apply(this, args);
  if (isHeld(name, 'after', 'answer')) void hold([name]);
  return this;
};
