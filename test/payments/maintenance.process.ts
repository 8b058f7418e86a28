/**
 * Archives what is before March 2025, or prunes test data older than 90 days, in a process of its own. It kills itself after so many
 * batches: when it archives, in the middle of the next one.
 */
import { systemClock as clock } from '../../src/base/clock.ts';
import { openPool } from '../../src/db/postgres/pool.ts';
import { archiveMonths, pruneTestData } from '../../src/payments/index.ts';

const [work, url, maxBatches] = process.argv.slice(2);
const pool = openPool({ connectionString: url! });
const die = () => process.kill(process.pid, 'SIGKILL');
let batches = 0;
const isLast = () => ++batches === Number(maxBatches);
if (work === 'prune')
  await pruneTestData(pool, clock, { keptDays: 90, batchSize: 20, onBatch: () => void (isLast() && die()) });
else
  await archiveMonths(
    { pool, clock, actor: 'test' },
    {
      before: new Date('2025-03-01'),
      batchSize: 20,
      // By the next turn of the event loop the next statement has been sent.
      onProgress: () => void (isLast() && setImmediate(die)),
    },
  );
process.stdout.write('done');
await pool.end();
