/** Runs the seeds that the parent process sends, one after the other, with a database server of its own. */
import { verifyLedger } from '../../src/ledger/index.ts';
import { endOfTime } from '../helpers/clock.ts';
import { runSeed, shardsIn } from './run.ts';
import type { RunDatabase } from './run-database.ts';
import { startServer } from './server.ts';
import type { Finished, Order } from './workers.ts';

const seedsPerDatabase = 500;
const maxPayments = Number(process.argv[2]);
const keepsHistory = process.argv[3] === 'true';
/** Undefined: as the seed says. */
const wantedShards = process.argv[4] ? Number(process.argv[4]) : undefined;

const server = await startServer();
/** By the number of their shards, each with how many seeds it has run. */
const databases = new Map<number, { database: RunDatabase; seeds: number }>();

async function databaseFor(shards: number) {
  const known = databases.get(shards) ?? { database: await server.newDatabase(shards), seeds: 0 };
  databases.set(shards, known);
  known.seeds += 1;
  return known;
}
const verify = async ({ pool }: RunDatabase) => (await verifyLedger(pool, { now: endOfTime })).findings;
const answer = (message: Finished) => process.send!(message);

async function run(seed: number): Promise<void> {
  const shards = wantedShards ?? shardsIn(seed);
  const { database, seeds } = await databaseFor(shards);
  const result = await runSeed(database, seed, { maxPayments, keepsHistory });
  if (seeds < seedsPerDatabase) return void answer({ result });
  const findings = await verify(database);
  databases.delete(shards);
  answer({ result, findings });
}

async function end(): Promise<void> {
  for (const { database } of databases.values()) answer({ findings: await verify(database) });
  process.disconnect();
}

// Also when the parent dies.
process.once('disconnect', () => void server.close());
// Ctrl-C reaches this process too; the parent says when to end.
process.on('SIGINT', () => {});
process.on('message', ({ seed }: Order) => void (seed === null ? end() : run(seed)));
answer({});
