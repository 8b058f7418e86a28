import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type pg from 'pg';
import { median } from '../median.ts';
import { run } from '../process.ts';
import { newFolder } from './cleanup.ts';

/** How many payments were made, their rate, and the median time of one. */
export type Measure = (
  connections: number,
  seconds: number,
) => Promise<{ payments: number; perSecond: number; p50Ms: number }>;

export const yardstickFolder = join(import.meta.dirname, '..', 'yardstick');

export const isPgbenchInstalled = () => spawnSync('pgbench', ['--version']).status === 0;

/** pgbench with prepared statements and one thread. */
export function openPgbench(connection: pg.ClientConfig, accounts: number) {
  const { host, port, user, database } = connection;
  const where = ['-h', `${host}`, '-p', `${port}`, '-U', `${user}`, `${database}`];
  const script = ['-f', join(yardstickFolder, 'payment.sql'), '-D', `accounts=${accounts}`];
  const folder = newFolder('pgbench');
  const measure: Measure = async (connections, seconds) => {
    const load = ['-c', `${connections}`, '-j', '1', '-T', `${seconds}`];
    // The time of every tenth payment is enough for a median, and writing it costs nothing.
    const times = ['--log', '--log-prefix', join(folder.dir, 'times'), '--sampling-rate', '0.1'];
    const options = ['--no-vacuum', '--protocol', 'prepared', ...load, ...script, ...times];
    const output = await run('pgbench', [...options, ...where], { env: { LC_ALL: 'C' } });
    const failed = Number(/number of failed transactions: (\d+)/.exec(output)?.[1] ?? 0);
    if (failed > 0) throw new Error(`${failed} payments of the yardstick failed`);
    return {
      payments: Number(/actually processed: (\d+)/.exec(output)![1]),
      perSecond: Number(/tps = ([\d.]+)/.exec(output)![1]),
      p50Ms: takeMedianMs(folder.dir),
    };
  };
  return { measure, close: folder.remove };
}

/** The third column of pgbench's log is the time of a payment in microseconds. */
function takeMedianMs(dir: string): number {
  const times = readdirSync(dir).flatMap(name => {
    const file = join(dir, name);
    const lines = readFileSync(file, 'utf8').trim().split('\n');
    rmSync(file);
    return lines.map(line => Number(line.split(' ')[2]) / 1_000);
  });
  return median(times);
}
