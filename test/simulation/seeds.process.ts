/** Runs the seeds that the parent process sends, one after the other, with a database server of its own. */
import { verifyLedger } from '../../src/ledger/index.ts';
import { endOfTime } from '../helpers/clock.ts';
import type { Finished, Order } from './main.ts';
import { runSeed } from './run.ts';
import { startServer } from './run-database.ts';

const seedsPerDatabase = 500;
const maxPayments = Number(process.argv[2]);
const keepsHistory = process.argv[3] === 'true';

const server = await startServer();
let database = await server.newDatabase();
let seedsRun = 0;

const verify = async () => (await verifyLedger(database.pool, { now: endOfTime })).findings;
const answer = (message: Finished) => process.send!(message);

async function run(seed: number): Promise<void> {
  const result = await runSeed(database, seed, { maxPayments, keepsHistory });
  seedsRun += 1;
  if (seedsRun % seedsPerDatabase !== 0) return void answer({ result });
  const findings = await verify();
  database = await server.newDatabase();
  answer({ result, findings });
}

async function end(): Promise<void> {
  answer({ findings: await verify() });
  process.disconnect();
}

// Also when the parent dies.
process.once('disconnect', () => void server.close());
// Ctrl-C reaches this process too; the parent says when to end.
process.on('SIGINT', () => {});
process.on('message', ({ seed }: Order) => void (seed === null ? end() : run(seed)));
answer({});
