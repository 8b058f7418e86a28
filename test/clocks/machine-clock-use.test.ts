import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const root = join(import.meta.dirname, '..', '..', 'src');

/** Everything else gets a clock, and in the service that is the database's. Pauses and time-outs need no time of day. */
const allowed = {
  'base/clock.ts': 'the clock of the machine itself',
  'cli/demo-payments.ts': 'time-outs of calls',
  'cli/deposit.ts': 'time-outs of calls to nodes',
  'cli/doctor/certificate.ts': 'the days of a certificate; doctor checks this clock against the database too',
  'cli/doctor/service-checks.ts': 'time-outs of calls',
  'cli/forward.ts': 'signs for a receiver on the same machine, which checks the age with the same clock',
  'cli/gateway.ts': 'checks a gateway without a database',
  'cli/remote.ts': 'time-outs of calls',
  'db/backup-store/s3/s3-client.ts': 'time-outs of calls, and signatures for a bucket',
  'db/postgres/database-clock.ts': 'measures the database clock with it',
  'deposits/check-nodes.ts': 'time-outs of calls, before there is a database',
};

test('only these files read the time of day of the machine', () => {
  const readsClock = (file: string) => {
    const code = readFileSync(join(root, file), 'utf8').replaceAll(/import [^;]*;/g, '');
    return /\bsystemClock\b(?!\.(sleep|timer|monotonicMs)\b)|\bDate\.now\(|\bnew Date\(\)/.test(code);
  };
  expect(globSync('**/*.ts', { cwd: root }).filter(readsClock).sort()).toEqual(Object.keys(allowed));
});
