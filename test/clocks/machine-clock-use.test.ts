import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const root = join(import.meta.dirname, '..', '..', 'src');

/** Everything else gets a clock, and in the service that is the database's. */
const allowed = {
  'base/clock.ts': 'the clock of the machine itself',
  'cli/doctor/certificate.ts': 'the days of a certificate; doctor checks this clock against the database too',
  'cli/forward.ts': 'signs for a receiver on the same machine, which checks the age with the same clock',
  'cli/gateway.ts': 'checks a gateway without a database',
  'db/database-clock.ts': 'measures the database clock with it',
  'runtime/simulator.ts': 'only sleeps with it',
};

test('only these files read the clock of the machine', () => {
  const readsClock = (file: string) =>
    /\bsystemClock\b|\bDate\.now\(|\bnew Date\(\)/.test(readFileSync(join(root, file), 'utf8'));
  expect(globSync('**/*.ts', { cwd: root }).filter(readsClock).sort()).toEqual(Object.keys(allowed));
});
