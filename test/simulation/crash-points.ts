import type pg from 'pg';
import type { Statement } from '../../src/db/pool.ts';
import type { Gateway } from '../../src/gateway/gateway.ts';
import type { Mode } from '../../src/ledger/index.ts';
import type { Faults } from './faults.ts';
import type { History } from './histories.ts';
import type { Processes } from './processes.ts';
import type { World } from './world.ts';

/** A run of one payment, with a process that fails at a point instead of at random. */
export interface Script {
  mode: Mode;
  kopecks: number;
  /** Of the order, and of the messages to pay it. All others arrive. */
  faults: Partial<Faults>;
  /** How long the request to pay is on its way. */
  payTakesMs?: number;
  /** The answer to the first poll is lost. */
  losesFirstPoll?: boolean;
  /**
   * One after the other. "Before" is before anything left the process; "after" is when the answer has arrived and the code has
   * not seen it.
   */
  points: string[];
  /** A process that stands still is presumed dead, and goes on when another one has finished its payments. */
  fate: 'dies' | 'stands still';
  /** The payment has a locked quote, is refunded, or its events are sent to an endpoint that is removed. */
  beside?: 'quotes' | 'refunds' | 'endpoints';
}

export interface CrashPoints {
  /** What happens to a process here, if anything: it resolves when the process goes on, and never if it dies. */
  at(processName: string, at: string): (() => Promise<void>) | undefined;
  /** The points that were reached so far. */
  reached: string[];
  /** Called with each of them. */
  onReached: (place: string) => void;
  databaseOf(processName: string, history: History): ReturnType<History['database']['connectionOf']>;
  gatewayOf(processName: string, gateway: Gateway): Gateway;
}

/** Long enough for another process to notice and to finish its payments, and shorter than the leases of these. */
const standsStillMs = 30_000;

const unnamed: [part: string, step: string][] = [
  ['SET next_at = $1, lease_holder = NULL', 'release leases of the dead'],
  ['FROM payments_refund(', 'book refund'],
  ['SET refunds_read_to', 'store refund position'],
  ['DELETE FROM further_deliveries', 'remove deliveries'],
];
export const stepOf = ({ name, text }: Statement) =>
  name ?? unnamed.find(([part]) => text.includes(part))?.[1] ?? text;

export function createCrashPoints(world: World, { points, fate }: Script, processes: Processes): CrashPoints {
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
        world.violate('payments of a process that is presumed dead are taken over', trace.nameOf(paymentId));
  }

  function at(processName: string, place: string) {
    if (left[0] !== place) return undefined;
    left.shift();
    reached.push(place);
    crashPoints.onReached(place);
    return () => fail(processName, place);
  }

  /** Claims run all the time: what counts is one that finds a payment. */
  const isIdleClaim = ({ name, values }: Statement, { model }: History) =>
    name === 'claim due payments' &&
    model.books.payments.every(({ dueMs }) => dueMs === null || dueMs > (values![0] as Date).getTime());

  const around =
    <Args extends unknown[], Answer>(
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

  const crashPoints: CrashPoints = {
    at,
    reached,
    onReached: () => {},
    databaseOf: (processName, history) => {
      const connection = history.database.connectionOf(processName);
      return {
        query: <Row extends pg.QueryResultRow>(statement: Statement) => {
          const query = () => connection.query<Row>(statement);
          return isIdleClaim(statement, history) ? query() : around(processName, stepOf(statement), query)();
        },
      };
    },
    gatewayOf: (processName, gateway) => ({
      ...gateway,
      resolve: around(processName, 'resolve', gateway.resolve),
      pay: around(processName, 'pay', gateway.pay),
      poll: around(processName, 'poll', gateway.poll),
      void: around(processName, 'void', gateway.void),
    }),
  };
  return crashPoints;
}
