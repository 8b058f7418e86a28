import pg from 'pg';
import { describe, expect, test } from 'vitest';
import { systemClock } from '../../src/base/clock.ts';
import { distributeArchive } from '../../src/payments/archive/distribute/distribute.ts';
import { listPayments, pruneTestData } from '../../src/payments/index.ts';
import { afterFile } from '../helpers/after-file.ts';
import { kopeck } from '../helpers/cli.ts';
import { auditContextOf, createDatabase, secretKey } from '../helpers/database.ts';
import { newFolder } from '../helpers/folders.ts';
import { addCitus, createPlainDatabase } from './citus.ts';
import { createHistory, isCitusAvailable, startCitus } from './world.ts';

test('a server without Citus is refused', async () => {
  const { pool } = await createDatabase();
  expect(await distributeArchive(auditContextOf(pool, systemClock))).toEqual({ outcome: 'no_citus' });
});

describe.runIf(isCitusAvailable)('the move of an archive to the workers', async () => {
  if (!isCitusAvailable) return;
  const citus = await startCitus();
  const world = await createHistory(citus, 'moves');
  const { pool, distribute, findings, rowsOf } = world;
  const partnerId = await world.newPartner();
  const account = { partnerId, mode: 'live' } as const;
  for (const month of ['01', '02', '03']) {
    world.at(`2026-${month}-25T00:00:00Z`);
    for (let nth = 0; nth < 5; nth++) await world.pay(partnerId);
    if (month === '01') await world.pay(partnerId, { mode: 'test' });
  }
  world.at('2026-06-01T00:00:00Z');
  await world.archive('2026-04');
  const page = () => listPayments(pool, account, { limit: 50, createdBefore: new Date('2026-05-01') });
  const before = await page();
  const tables = async () =>
    (
      await pool.query(
        `SELECT c.oid::regclass::text AS name FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
          WHERE nspname ~ '^(public|archive)' AND relkind IN ('r', 'p') ORDER BY 1`,
      )
    ).rows.map(({ name }) => name);
  const made = await tables();

  test('without workers it is refused, and nothing is changed', async () => {
    const url = await createPlainDatabase(citus.coordinator.url, 'alone');
    await addCitus(url, []);
    const env = { DATABASE_URL: url, SECRET_KEY: secretKey, DATA_DIR: newFolder() };
    await kopeck(env, 'migrate');
    const { code, stderr } = await kopeck(env, 'archive', 'distribute');
    expect([code, stderr]).toEqual([
      1,
      expect.stringMatching(/^The coordinator has no workers: add them with .*\n$/),
    ]);
  });

  test('as a role that does not own the archive it is refused', async () => {
    const { password } = new URL(world.url);
    await pool.query(`CREATE ROLE guest LOGIN PASSWORD '${password}'`);
    await pool.query('GRANT SELECT ON ALL TABLES IN SCHEMA public TO guest');
    const asGuest = new URL(world.url);
    asGuest.username = 'guest';
    const guest = world.connect(asGuest.href);
    expect(await distributeArchive(auditContextOf(guest, systemClock))).toEqual({
      outcome: 'no_rights',
      owner: 'kopeck',
    });
    expect(await tables()).toEqual(made);
  });

  test('kill -9 of a worker in the middle: nothing is lost, and the next run goes on there', async () => {
    const phases: string[] = [];
    let atCopy = 0;
    const killed = distribute({
      onProgress: (phase, done) => {
        phases.push(phase);
        if (phase === 'copy' && done > 0 && atCopy === 0) {
          atCopy = done;
          void citus.workers[0]!.kill();
          void citus.workers[1]!.kill();
        }
      },
    });
    await expect(killed).rejects.toThrow();
    expect(phases).not.toContain('drop');
    expect(await page()).toEqual(before);
    expect(await world.archive('2026-04')).toMatchObject({ payments: 0 });
    await Promise.all(citus.workers.map(worker => worker.start()));
    expect(await page()).toEqual(before);
  });

  test('while it runs, payments and reads go on, a second run is refused, and what changes in the copy is copied again', async () => {
    const seen = { under_way: 0, pages: 0, payments: 0 };
    let isMoving = true;
    const load = (async () => {
      while (isMoving) {
        await world.pay(partnerId);
        seen.payments++;
        expect(await page()).toEqual(before);
        seen.pages++;
      }
    })();
    let second: Promise<unknown> | undefined;
    let damage = 0;
    let wasCompared = false;
    const result = await distribute({
      onProgress: async (phase, done, of) => {
        second ??= Promise.all([distribute(), world.archive('2026-04')]);
        // A row gets lost on a worker after it was copied, and test rows are pruned after they were compared.
        if (phase === 'verify') wasCompared = true;
        if (phase === 'copy' && done === of && damage === 0) {
          damage = 1;
          await pool.query('DELETE FROM archive_copy.entries_archive WHERE entry_no = 7');
        } else if (phase === 'copy' && wasCompared && damage === 1) damage = 2;
        else if (phase === 'verify' && damage === 2) {
          damage = 3;
          await pruneTestData(pool, world.clock, { keptDays: 90 });
        }
      },
    });
    expect(damage).toBe(3);
    isMoving = false;
    await load;
    expect(await second).toEqual([{ outcome: 'under_way' }, { outcome: 'under_way' }]);
    expect(await rowsOf(partnerId)).toMatchObject({ archived: [15, 15, 31] });
    expect(result).toEqual({ outcome: 'distributed', rows: expect.any(Number), workers: 2 });
    expect(seen.payments).toBeGreaterThan(0);
    expect(await findings()).toEqual([]);
    expect(await tables()).toEqual(made);
  });

  test('the roles of a production server archive and read on the workers', async () => {
    const { password } = new URL(world.url);
    for (const role of ['kopeck_owner', 'kopeck_run'])
      await pool.query(`CREATE ROLE ${role} LOGIN PASSWORD '${password}'`);
    const url = await createPlainDatabase(citus.coordinator.url, 'production');
    await addCitus(
      url,
      citus.workers.map(worker => worker.url),
    );
    const administrator = new pg.Client({ connectionString: url });
    await administrator.connect();
    afterFile(() => administrator.end());
    await administrator.query('ALTER DATABASE production OWNER TO kopeck_owner');
    await administrator.query('GRANT ALL ON SCHEMA public TO kopeck_owner');
    const as = (role: string) => {
      const address = new URL(url);
      address.username = role;
      return { DATABASE_URL: address.href, SECRET_KEY: secretKey, DATA_DIR: newFolder() };
    };
    await kopeck(as('kopeck_owner'), 'migrate', '--run-role', 'kopeck_run');
    expect(await kopeck(as('kopeck_run'), 'archive', 'distribute')).toMatchObject({
      code: 1,
      stderr:
        'This role may not change the tables of the archive: run the command as their owner, kopeck_owner.\n',
    });
    expect(await kopeck(as('kopeck_owner'), 'archive', 'distribute', '--json')).toMatchObject({ code: 0 });
    expect(await kopeck(as('kopeck_owner'), 'archive', '--before', '2026-01')).toMatchObject({ code: 0 });
    expect(await kopeck(as('kopeck_run'), 'ledger', 'verify')).toMatchObject({ code: 0 });
    const { checks } = JSON.parse((await kopeck(as('kopeck_run'), 'doctor', '--json')).stdout);
    const of = (name: string) => checks.find(({ check }: { check: string }) => check === name);
    expect([of('privileges'), of('schema')]).toEqual([
      expect.objectContaining({ state: 'ok' }),
      expect.objectContaining({ state: 'ok' }),
    ]);
  });
});
