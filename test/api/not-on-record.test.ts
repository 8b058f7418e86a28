import { expect, inject, test } from 'vitest';
import { systemClock } from '../../src/base/clock.ts';
import { newId } from '../../src/base/ids.ts';
import { createIncarnationGuard } from '../../src/db/history/guard.ts';
import { readIdentity } from '../../src/db/history/identity.ts';
import { joinIncarnation } from '../../src/db/history/join.ts';
import { createNewestHistory } from '../../src/db/history/newest-history.ts';
import { watchIncarnation } from '../../src/db/history/watch.ts';
import { openPool, type Pool } from '../../src/db/postgres/pool.ts';
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

/** Checks come only when somebody asks for one: the pause between two of them does not end by itself. */
const clock = {
  ...systemClock,
  sleep: (ms: number, signal?: AbortSignal) => systemClock.sleep(ms < 1_000 ? ms : 86_400_000, signal),
};

async function startOnOldHistory() {
  const host = await openDatabaseHost(old.options.database!);
  const guard = createIncarnationGuard(createNewestHistory());
  const { check, isCurrent } = guard;
  const pool = openPool(
    { ...old.options, host: '127.0.0.1', port: host.port, user, database: 'any', check, isCurrent },
    2,
  );
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
  ['an order', '/v1/payments?external_id=order-42'],
])('%s that is not on record: that is said only of the current history', async (_what, path) => {
  const { partner, promoteOther } = await startOnOldHistory();
  const { status: before, json } = await partner.get(path);
  if (before === 200) expect(json.data).toEqual([]);
  else expect({ before, code: json.error.code }).toEqual({ before: 404, code: 'not_found' });
  // Sessions that are open go on reading the old history, where nobody can find what the new one has.
  promoteOther();
  const { status, headers } = await partner.get(path);
  expect({ status, retryAfter: headers.get('retry-after') }).toEqual({ status: 503, retryAfter: '2' });
});

test('a process that leaves its database does not keep those waiting who asked for the current history', async () => {
  const answer = Promise.withResolvers<void>();
  const { host, port, database } = old.options;
  const pool = openPool({ host, port, user, database, check: () => answer.promise }, 1);
  const watch = watchIncarnation(pool, clock, () => {});
  const asked = watch.confirm();
  const stopped = watch.stop();
  await expect(asked).rejects.toThrow('it is not certain that this is the current history');
  answer.resolve();
  await stopped;
  await pool.end();
});
