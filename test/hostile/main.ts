/**
 * `npm run hostile -- --minutes M [--only NAME] [--json]`: attacks by other partners and by callers without a key, one
 * after the other, on a service of its own; measures what one partner, the victim, notices. Fails if a payment of the
 * victim is refused, or if its 99th percentile is more than three times what it is without the attack.
 */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { table } from '../../bench/table.ts';
import { readOptions, refuseCall } from '../helpers/program-options.ts';
import { attacks } from './attacks.ts';
import { type Measured, measureVictim } from './victim.ts';
import { createHostileWorld, type HostileWorld } from './world.ts';

const maxRatio = 3;
/** A quick machine's quiet percentile is mostly chance: below this it counts as this. */
const minQuietMs = 15;
/** The attacker has begun by then. */
const warmUpMs = 1_000;

const usage = `npm run hostile -- --minutes 5 [--only NAME] [--json]\nAttacks: ${Object.keys(attacks).join('; ')}`;
const { values } = readOptions(usage, {
  options: { minutes: { type: 'string' }, only: { type: 'string' }, json: { type: 'boolean' } },
});
const minutes = Number(values.minutes ?? Number.NaN);
const names = Object.keys(attacks).filter(name => values.only === undefined || name === values.only);
if (!(minutes > 0) || names.length === 0) refuseCall(usage);
const progress = (line: string) => process.stderr.write(`${line} …\n`);
const roundMs = (minutes * 60_000) / names.length / 2;

interface Row {
  name: string;
  requests: number;
  quiet: Measured;
  hostile: Measured;
  ratio: number;
  isFair: boolean;
}

async function playRound(world: HostileWorld, name: string): Promise<Row> {
  progress(`quiet, before ${name}`);
  const quiet = await measureVictim(world, roundMs);
  progress(name);
  const attacker = fork(join(import.meta.dirname, 'attacker.process.ts'));
  attacker.send({ name, target: world.target });
  await sleep(warmUpMs);
  const hostile = await measureVictim(world, roundMs);
  attacker.send('stop');
  const [requests] = (await once(attacker, 'message')) as [number];
  const ratio = hostile.p99Ms / Math.max(quiet.p99Ms, minQuietMs);
  return { name, requests, quiet, hostile, ratio, isFair: ratio <= maxRatio && hostile.refusals.size === 0 };
}

const world = await createHostileWorld(progress);
const rows: Row[] = [];
try {
  await measureVictim(world, 2_000);
  for (const name of names) rows.push(await playRound(world, name));
} finally {
  await world.close();
}

const ms = (value: number) => value.toFixed(1);
const refused = ({ refusals }: Measured) =>
  [...refusals].map(([outcome, count]) => `${count} × ${outcome}`).join(', ') || 'none';
if (values.json) {
  console.log(
    JSON.stringify(rows, (_key, value) => (value instanceof Map ? Object.fromEntries(value) : value), 2),
  );
} else {
  console.log(
    table(
      ['attack', 'requests', 'p50 ms', 'with it', 'p99 ms', 'with it', 'ratio', 'refused', ''],
      rows.map(({ name, requests, quiet, hostile, ratio, isFair }) => [
        name,
        `${requests}`,
        ms(quiet.medianMs),
        ms(hostile.medianMs),
        ms(quiet.p99Ms),
        ms(hostile.p99Ms),
        ratio.toFixed(2),
        refused(hostile),
        isFair ? '✓' : '✗',
      ]),
    ),
  );
}
process.exitCode = rows.every(({ isFair }) => isFair) ? 0 : 1;
