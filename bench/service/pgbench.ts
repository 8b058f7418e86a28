import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { uuidFromId } from '../../src/base/ids.ts';
import { run } from '../process.ts';
import { newFolder } from './cleanup.ts';
import type { BenchEnvironment } from './environment.ts';
import type { PayingPartner } from './partners.ts';
import { writeStatements } from './statements.ts';

export const isPgbenchInstalled = () => spawnSync('pgbench', ['--version']).status === 0;

const sample = {
  partner: '00000000-0000-7000-8000-000000000001',
  payment: '00000000-0000-7000-8000-000000000002',
  key: 'a key',
  code: 'a code',
  link: 'a link',
};

/** pgbench can only draw random numbers, so partners are numbered in a table. */
const partner = '(SELECT id FROM bench_partners WHERE number = :number)';

async function writeScript(rateId: bigint, partnerCount: number): Promise<string> {
  const newCode = "'AD' || upper(substr(replace(gen_random_uuid()::text, '-', ''), 1, 30))";
  const { open, finish } = await writeStatements(
    { ...sample, rateId },
    {
      [sample.partner]: partner,
      [sample.payment]: 'uuidv7()',
      [sample.key]: 'gen_random_uuid()::text',
      [sample.code]: newCode,
      [sample.link]: `'https://qr.nspk.ru/' || ${newCode} || '?type=02&sum=1000&cur=RUB'`,
    },
    { [sample.partner]: partner, [sample.payment]: ':payment_id::uuid' },
  );
  return `\\set number random(1, ${partnerCount})\n${open} \\gset\n${finish};\n`;
}

/** The baseline with pgbench: each payment is two statements, each in its own transaction. */
export async function openPgbench(
  { pool, connection }: BenchEnvironment,
  partners: PayingPartner[],
  rateId: bigint,
) {
  await pool.query('CREATE TABLE IF NOT EXISTS bench_partners (number int PRIMARY KEY, id uuid NOT NULL)');
  await pool.query('TRUNCATE bench_partners');
  await pool.query(
    'INSERT INTO bench_partners SELECT number, id FROM unnest($1::uuid[]) WITH ORDINALITY AS p (id, number)',
    [partners.map(({ partnerId }) => uuidFromId(partnerId))],
  );
  await pool.query('ANALYZE bench_partners');
  const folder = newFolder('pgbench');
  const file = join(folder.dir, 'payment.sql');
  writeFileSync(file, await writeScript(rateId, partners.length));
  const { host, port, user, database } = connection;
  const where = ['-h', `${host}`, '-p', `${port}`, '-U', `${user}`, `${database}`];

  return {
    /** Payments per second. */
    measure: async (connections: number, seconds: number): Promise<number> => {
      const how = ['-n', '-M', 'prepared', '-f', file, '-c', `${connections}`, '-j', '2', '-T', `${seconds}`];
      const output = await run('pgbench', [...how, ...where], { env: { LC_ALL: 'C' } });
      const failed = Number(/number of failed transactions: (\d+)/.exec(output)?.[1] ?? 0);
      if (failed > 0) throw new Error(`${failed} payments of the baseline failed`);
      return Number(/tps = ([\d.]+)/.exec(output)![1]);
    },
    close: folder.remove,
  };
}
