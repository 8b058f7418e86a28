import type pg from 'pg';
import type { Queryable, Statement } from '../../src/db/postgres/pool.ts';
import type { Gateway } from '../../src/gateway/gateway.ts';
import type { History } from './histories.ts';
import type { CrashPoints, Script, World } from './world.ts';

interface Victim {
  name: string;
  hasStalled: boolean;
  history: History;
}

/** Those that run. */
interface Victims {
  running(): Victim[];
  start(): void;
  kill(victim: Victim): Promise<void>;
}

/** Long enough for another process to notice and to finish its payments, and shorter than the leases of these. */
const standsStillMs = 30_000;

const unnamed: [part: string, step: string][] = [
  ['SET next_at = $1, lease_holder = NULL', 'release leases of the dead'],
  ['FROM payments_refund(', 'book refund'],
  ['SET refunds_read_to', 'store refund position'],
  ['DELETE FROM deliveries', 'remove deliveries'],
];
export const stepOf = ({ name, text }: Statement) =>
  name ?? unnamed.find(([part]) => text.includes(part))?.[1] ?? text;

export function createCrashPoints(world: World, { points, fate }: Script, processes: Victims): CrashPoints {
  const { scheduler, trace } = world;
  const left = [...points];
  const reached: string[] = [];

  async function fail(processName: string, place: string): Promise<void> {
    trace.add(processName, `${fate} ${place}`);
    const process = processes.running().find(({ name }) => name === processName);
    if (!process) return new Promise(() => {});
    // The next one starts then.
    scheduler.after(0, { run: processes.start });
    if (fate === 'dies') {
      scheduler.after(0, { run: () => processes.kill(process) });
      return new Promise(() => {});
    }
    process.hasStalled = true;
    // What it has prepared is written when it goes on, with a time of now.
    world.clockErrorMs = standsStillMs + 1_000;
    scheduler.stall(processName, standsStillMs);
    scheduler.after(standsStillMs - 1, { run: () => checkTakenOver(process.history) });
    return new Promise(resolve => scheduler.after(0, { processName, run: resolve }));
  }

  function checkTakenOver({ model }: History): void {
    // In test mode some end later.
    for (const { paymentId, status, mode } of model.books.payments)
      if (status === 'processing' && mode === 'live')
        world.violate('payments of a process that is presumed dead are taken over', paymentId);
  }

  function at(processName: string, place: string) {
    if (left[0] !== place) return undefined;
    left.shift();
    reached.push(place);
    crashPoints.onReached(place);
    return () => fail(processName, place);
  }

  const crashPoints: CrashPoints = {
    at,
    reached,
    onReached: () => {},
  };
  return crashPoints;
}

/** Claims run all the time: what counts is one that finds a payment. */
const isIdleClaim = ({ name, values }: Statement, { model }: History) =>
  name === 'claim due payments' &&
  model.books.payments.every(({ dueMs }) => dueMs === null || dueMs > (values![0] as Date).getTime());

const around =
  <Args extends unknown[], Answer>(
    { at }: CrashPoints,
    processName: string,
    step: string,
    call: (...args: Args) => Promise<Answer>,
  ) =>
  async (...args: Args): Promise<Answer> => {
    await at(processName, `before ${step}`)?.();
    const answering = call(...args);
    await at(processName, `during ${step}`)?.();
    const answer = await answering;
    await at(processName, `after ${step}`)?.();
    return answer;
  };

/** What a process calls, with the points around its calls. */
export function portsOf(
  points: CrashPoints | undefined,
  processName: string,
  { history, gateway }: { history: History; gateway: Gateway },
): { db: Queryable; gateway: Gateway } {
  const db = history.database.connectionOf(processName);
  if (!points) return { db, gateway };
  const query = <Row extends pg.QueryResultRow>(statement: Statement) => {
    const send = () => db.query<Row>(statement);
    return isIdleClaim(statement, history) ? send() : around(points, processName, stepOf(statement), send)();
  };
  return {
    db: { query },
    gateway: {
      ...gateway,
      resolve: around(points, processName, 'resolve', gateway.resolve),
      pay: around(points, processName, 'pay', gateway.pay),
      poll: around(points, processName, 'poll', gateway.poll),
      void: around(points, processName, 'void', gateway.void),
    },
  };
}
