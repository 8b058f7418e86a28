/**
 * `npm run crashes -- --minutes M [--seed N] [--json]`: one service after another over one database, each killed at a
 * random moment or at a random crash point, while several partners pay; then unfinished payments are brought to their
 * end and all are checked. Exits with 1 if any harm was done.
 */
import { randomInt } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { openEmbedded } from '../../src/db/embedded/server.ts';
import { migrate } from '../../src/db/migrate.ts';
import { openPool } from '../../src/db/pool.ts';
import { startSimulator } from '../../src/runtime/simulator.ts';
import { readOptions, refuseCall } from '../helpers/program-options.ts';
import { veryLateMs } from './behaviours.ts';
import { untilFinal } from './crash.ts';
import { findHarm } from './findings.ts';
import { crashAtRandom, type Tally } from './random.ts';
import { createWorld, type World } from './world.ts';

const usage = 'npm run crashes -- --minutes M [--seed N] [--json]';
const { values } = readOptions(usage, {
  options: {
    minutes: { type: 'string', default: '1' },
    seed: { type: 'string' },
    json: { type: 'boolean', default: false },
  },
});
const minutes = Number(values.minutes);
const seed = Number(values.seed ?? randomInt(2 ** 31));
if (!(minutes > 0) || !Number.isSafeInteger(seed)) refuseCall(usage);

/** Enough for a payment that waits for its next poll, and waits again because of a crash. */
const endWithinMs = 180_000;

async function finishAll(world: World): Promise<string[]> {
  const service = await world.start();
  const late = await untilFinal(world, service, world.attempts, endWithinMs);
  // Everything that was on its way when the last process was killed has arrived by then.
  await sleep(veryLateMs);
  return [...late, ...(await findHarm(world, world.attempts))];
}

async function countEndings({ pool }: World): Promise<Record<string, number>> {
  const { rows } = await pool.query<{ ending: string; count: number }>(
    `SELECT concat_ws(' ', mode, status, error_code) AS ending, count(*)::int AS count
       FROM payments GROUP BY 1 ORDER BY 1`,
  );
  return Object.fromEntries(rows.map(({ ending, count }) => [ending, count]));
}

const folder = mkdtempSync(join(tmpdir(), 'kopeck-crashes-'));
const log = (line: string) => void process.stderr.write(`${line}\n`);
const cleanups = [async () => rmSync(folder, { recursive: true, force: true })];
const tally: Tally = { kills: 0, heldAtPoints: 0, phase: 'starting' };
const startedMs = Date.now();
const progress = setInterval(() => {
  const seconds = Math.round((Date.now() - startedMs) / 1000);
  log(
    `${seconds} s: ${tally.kills} kills, ${tally.heldAtPoints} payments held at crash points, ${tally.phase}`,
  );
}, 2_000);

interface Report {
  seed: number;
  kills: number;
  heldAtPoints: number;
  payments: number;
  endings: Record<string, number>;
  harm: string[];
}

const describe = ({ seed, kills, heldAtPoints, payments, endings, harm }: Report) =>
  [
    `${kills} kills, ${payments} payments, ${heldAtPoints} times one was held at a crash point (seed ${seed})`,
    ...Object.entries(endings).map(([ending, count]) => `${String(count).padStart(7)}  ${ending}`),
    ...(harm.length > 0 ? ['Harm was done:', ...harm.map(one => `  ${one}`)] : ['No harm was done.']),
  ].join('\n');

async function run(): Promise<Report> {
  // The services reach it by its address. A process that has opened the folder as its own would take theirs for a copy.
  const server = await openEmbedded(folder, () => {}, 'create');
  const pool = openPool(server.connection);
  cleanups.push(() => pool.end().then(() => server.close()));
  await migrate(pool);
  const bank = await startSimulator(folder, log);
  cleanups.push(bank.close);
  const { host, port, user, database: name } = pool.options as unknown as Record<string, string>;
  const url = `postgresql://${user}@localhost:${port}/${name}?host=${encodeURIComponent(host!)}`;
  const world = await createWorld({ pool, url, bank, folder, partners: 4 });
  cleanups.push(world.close);

  await crashAtRandom(world, tally, { seed, untilMs: startedMs + minutes * 60_000 });
  tally.phase = 'finishing the remaining payments';
  const harm = await finishAll(world);
  const { kills, heldAtPoints } = tally;
  const endings = await countEndings(world);
  return { seed, kills, heldAtPoints, payments: world.attempts.length, endings, harm };
}

const stop = async () => {
  clearInterval(progress);
  for (const close of cleanups.reverse()) await close();
};
process.once('SIGINT', () => void stop().then(() => process.exit(130)));
try {
  const report = await run();
  console.log(values.json ? JSON.stringify(report) : describe(report));
  process.exitCode = report.harm.length > 0 ? 1 : 0;
} finally {
  await stop();
}
