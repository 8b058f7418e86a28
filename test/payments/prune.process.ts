/** Prunes test data older than 90 days, in a process of its own, which kills itself after so many batches. */
import { systemClock as clock } from '../../src/base/clock.ts';
import { openPool } from '../../src/db/postgres/pool.ts';
import { pruneTestData } from '../../src/payments/index.ts';

const [url, maxBatches] = process.argv.slice(2);
const pool = openPool({ connectionString: url! });
let batches = 0;
await pruneTestData(pool, clock, {
  ...{ keptDays: 90, batchSize: 20 },
  onBatch: () => {
    batches += 1;
    if (batches === Number(maxBatches)) process.kill(process.pid, 'SIGKILL');
  },
});
process.stdout.write('pruned\n');
await pool.end();
