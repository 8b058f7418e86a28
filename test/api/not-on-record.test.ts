import { expect, inject, test } from 'vitest';
import { systemClock } from '../../src/base/clock.ts';
import { newId } from '../../src/base/ids.ts';
import { watchIncarnation } from '../../src/db/history/watch.ts';
import { openPool } from '../../src/db/postgres/pool.ts';
import { afterFile } from '../helpers/after-file.ts';
import { createPartnerWithKeys, partnerAt, startApi } from '../helpers/api.ts';
import { openDatabaseHost } from '../helpers/database-host.ts';
import { poolThrough, twoHistories } from '../helpers/histories.ts';

let testKey = '';
const { older: old, newer: other } = await twoHistories(async pool => {
  testKey = (await createPartnerWithKeys(pool)).testKey;
});
const { user } = inject('connection');

/** Checks come only when somebody asks for one: the pause between two of them does not end by itself. */
const clock = {
  ...systemClock,
  sleep: (ms: number, signal?: AbortSignal) => systemClock.sleep(ms < 1_000 ? ms : 86_400_000, signal),
};

async function startOnOldHistory() {
  const host = await openDatabaseHost(old.options.database!);
  const { pool } = await poolThrough(host, 2, old.options);
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
