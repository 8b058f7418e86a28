import { expect, onTestFinished, test } from 'vitest';
import type { Pool } from '../../src/db/postgres/pool.ts';
import { childrenOf } from '../helpers/children.ts';
import { type Service, serviceEnv, startService } from '../helpers/cli.ts';
import { openDatabaseHost } from '../helpers/database-host.ts';
import { freePort } from '../helpers/free-port.ts';
import { twoHistories } from '../helpers/histories.ts';

const beatsIn = async (pool: Pool) =>
  (await pool.query<{ at: Date }>('SELECT at FROM process_beats ORDER BY at')).rows.map(({ at }) => at);

const isReady = (service: Service) =>
  fetch(`${service.address}/readyz`).then(
    ({ ok }) => ok,
    () => false,
  );

/** The test of a service with so many processes. */
export function testRejoining(title: string, processes: number): void {
  test(title, async () => {
    const { older, newer } = await twoHistories();
    const host = await openDatabaseHost(older.options.database!);
    const service = await startService({
      ...serviceEnv(`postgres://${older.options.user}@127.0.0.1:${host.port}/any`),
      ...{ PORT: `${await freePort()}`, PROCESSES: `${processes}`, LOG_LEVEL: 'warn', ROLES: 'api' },
      // As in production: a process that leaves its history does not drain.
      DRAIN_SEC: '5',
    });
    onTestFinished(async () => void (await service.stop('SIGKILL')));

    host.leadTo(newer.options.database!);
    const haveAllJoined = async () => (await beatsIn(newer)).length >= processes && (await isReady(service));
    await expect.poll(haveAllJoined).toBe(true);

    const before = await beatsIn(older);
    host.leadTo(older.options.database!);
    for (const pid of childrenOf(service.pid)) process.kill(pid, 'SIGKILL');
    await expect.poll(() => isReady(service)).toBe(false);
    await expect.poll(() => service.output()).toContain('an older history');
    expect(await beatsIn(older)).toEqual(before);

    host.leadTo(newer.options.database!);
    await expect.poll(() => isReady(service)).toBe(true);
    expect(await beatsIn(older)).toEqual(before);
  });
}
