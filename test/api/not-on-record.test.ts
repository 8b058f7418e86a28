import { expect, inject, test } from 'vitest';
import { systemClock } from '../../src/base/clock.ts';
import { newId } from '../../src/base/ids.ts';
import { createIncarnationGuard } from '../../src/db/incarnation/guard.ts';
import { readIdentity } from '../../src/db/incarnation/identity.ts';
import { joinIncarnation } from '../../src/db/incarnation/join.ts';
import { createNewestHistory } from '../../src/db/incarnation/newest-history.ts';
import { watchIncarnation } from '../../src/db/incarnation/watch.ts';
import { openPool, type Pool } from '../../src/db/pool.ts';
import { afterFile } from '../helpers/after-file.ts';
import { createPartnerWithKeys, partnerAt, startApi } from '../helpers/api.ts';
import { copyDatabase } from '../helpers/copied-database.ts';
import { createDatabase } from '../helpers/database.ts';
import { openDatabaseHost } from '../helpers/database-host.ts';

const join = (pool: Pool, isRestored: boolean) =>
  joinIncarnation({ pool, clock: systemClock }, { place: undefined, isRestored });

const { pool: old } = await createDatabase();
await join(old, false);
const { testKey } = await createPartnerWithKeys(old);
const other = await copyDatabase(old);
await join(other, true);
const { user } = inject('connection');

/** Checks come only when somebody asks for one. */
const clock = {
  ...systemClock,
  sleep: (_ms: number, signal?: AbortSignal) =>
    new Promise<void>(resolve => signal?.addEventListener('abort', () => resolve(), { once: true })),
};

async function startOnOldHistory() {
  const host = await openDatabaseHost(old.options.database!);
  const guard = createIncarnationGuard(createNewestHistory());
  const { check, isCurrent } = guard;
  const pool = openPool({ host: '127.0.0.1', port: host.port, user, database: 'any', check, isCurrent }, 2);
  guard.stayWith(await readIdentity(pool));
  const watch = watchIncarnation(pool, clock, () => {});
  afterFile(async () => {
    await watch.stop();
    await pool.end();
  });
  const { address } = await startApi({ pool, confirmHistory: watch.confirm });
  return { partner: partnerAt(address, testKey), promoteOther: () => host.leadTo(other.options.database!) };
}

test.each([
  ['a payment', `/v1/payments/${newId('pay', systemClock)}`],
  ['a page of payments', `/v1/payments?starting_after=${newId('pay', systemClock)}`],
  ['a page of events', '/v1/events?after=evt_2762542645729'],
])('%s that is not on record is not found only if this is the current history', async (_what, path) => {
  const { partner, promoteOther } = await startOnOldHistory();
  expect(await partner.get(path)).toMatchObject({ status: 404, json: { error: { code: 'not_found' } } });
  // Sessions that are open go on reading the old history, where nobody can find what the new one has.
  promoteOther();
  const { status, headers } = await partner.get(path);
  expect({ status, retryAfter: headers.get('retry-after') }).toEqual({ status: 503, retryAfter: '2' });
});
