import type pg from 'pg';
import { NotAnsweringError } from '../../src/db/postgres/database-errors.ts';
import type { Pool, Statement } from '../../src/db/postgres/pool.ts';
import type { Random } from '../helpers/random.ts';
import { stepOf } from './crash-points.ts';
import type { History } from './histories.ts';
import type { World } from './world.ts';

const never = new Promise<never>(() => {});

interface Parts {
  random: Random;
  processName: string;
  history: History;
  /** That of the history by default. */
  pool?(): Pool;
  /** Before every statement and transaction, and after every commit of one; the process goes on then. */
  before?(): Promise<void>;
  afterCommit(): Promise<void>;
  /** The error that the server answers with instead of running this statement of a transaction. */
  refuse?(statement: Statement): Error | undefined;
  /** A connection was lost, or cannot be used any more. */
  onLost?(): void;
}

/** More statements than a transaction of the watcher has. */
const manyStatements = 20;

/**
 * The connections of a process that has transactions: it watches a chain, reads refunds, or guards codes. A statement is one step, and so is
 * a whole transaction: nothing else could see it before its commit. Its connection is lost before it, at any of its statements, or with the answer to the commit.
 */
export function createChainConnection(world: World, parts: Parts): Pool {
  const { random, processName, history, pool = () => history.pool } = parts;
  const { scheduler, trace } = world;
  const lost = () => {
    parts.onLost?.();
    return new Error('Connection terminated unexpectedly');
  };
  const delayMs = () =>
    random.chance(world.faults.databaseSlow) ? random.between(1, 6_000) : random.between(0, 3);
  const isCutOff = () =>
    (history.sessionsEndMs.get(processName) ?? Number.POSITIVE_INFINITY) <= scheduler.nowMs();
  const fails = () => random.chance(world.faults.databaseError);

  /** Runs when the database gets to it. */
  const step = <Result>(run: () => Promise<Result>): Promise<Result> =>
    new Promise((resolve, reject) => {
      scheduler.after(delayMs(), {
        processName,
        run: async () => {
          if (isCutOff()) {
            parts.onLost?.();
            return reject(new NotAnsweringError('the database is another one than before'));
          }
          await run().then(resolve, reject);
        },
      });
    });

  async function query(statement: Statement): Promise<pg.QueryResult> {
    const [isLost, runs] = [fails(), random.chance(0.5)];
    const stop = world.points?.at(processName, `before ${stepOf(statement)}`);
    if (stop) await stop();
    return step(async () => {
      if (isLost && !runs) throw lost();
      await parts.before?.();
      const result = await pool().query(statement);
      if (isLost) throw lost();
      return result;
    });
  }

  /** Resolves with a connection inside of a step, which ends when the connection is given back. */
  function connect(): Promise<unknown> {
    return new Promise((resolve, reject) => {
      step(async () => {
        if (fails()) return reject(lost());
        const failsAt = fails() ? random.between(1, manyStatements) : Number.POSITIVE_INFINITY;
        const [losesCommit, commits] = [fails(), random.chance(0.5)];
        await parts.before?.();
        const client = await pool().connect();
        await new Promise<void>(release => {
          let sent = 0;
          let isOver = false;
          const end = async (text: 'COMMIT' | 'ROLLBACK') => {
            isOver = true;
            const result = await client.query(text);
            client.release();
            if (text === 'COMMIT') await parts.afterCommit();
            return result;
          };
          const send = async (statement: Statement) => {
            sent += 1;
            if (statement.text === 'ROLLBACK') return end('ROLLBACK');
            if (statement.text !== 'COMMIT') {
              if (sent === failsAt) throw lost();
              const refusal = parts.refuse?.(statement);
              if (refusal) throw refusal;
              const place = stepOf(statement);
              if (diesAt(`before ${place}`)) return never;
              const result = client.query(statement);
              return diesAt(`after ${place}`) ? never : result;
            }
            const result = await end(losesCommit && !commits ? 'ROLLBACK' : 'COMMIT');
            trace.add(processName, `transaction of ${sent} statements: ${result.command}`);
            if (losesCommit) throw lost();
            return result;
          };
          /** Nothing of the transaction is left then. */
          const diesAt = (place: string) => {
            const die = world.points?.at(processName, place);
            if (die)
              void end('ROLLBACK')
                .then(() => release())
                .then(die);
            return die !== undefined;
          };
          resolve({
            query: send,
            on: () => {},
            off: () => {},
            release: () => void (isOver ? Promise.resolve() : end('ROLLBACK')).then(() => release()),
          });
        });
      }).catch(reject);
    });
  }

  return { query, connect, options: pool().options } as unknown as Pool;
}
