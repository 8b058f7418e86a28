/** Archives what is before a month, in a process of its own that a test can kill; prints a line per batch. */
import { systemClock as clock } from '../../src/base/clock.ts';
import { openPool } from '../../src/db/postgres/pool.ts';
import { archiveMonths } from '../../src/payments/index.ts';

const [url, before] = process.argv.slice(2);
const pool = openPool({ connectionString: url! });
const { outcome } = await archiveMonths(
  { pool, clock, actor: 'test' },
  {
    before: new Date(`${before}-01`),
    batchSize: 20,
    onProgress: (done, of) => void process.stdout.write(`${done} of ${of}\n`),
  },
);
process.stdout.write(`${outcome}\n`);
await pool.end();
