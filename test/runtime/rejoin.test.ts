import { afterAll, expect, test } from 'vitest';
import { freePort } from '../faults/database-server.ts';
import { startService } from '../helpers/cli.ts';
import { createDatabase } from '../helpers/database.ts';
import { newFolder } from '../helpers/folders.ts';
import { secretKey } from '../helpers/partners.ts';

const { pool, url } = await createDatabase();
const service = await startService({
  PORT: `${await freePort()}`,
  PROCESSES: '1',
  ROLES: 'api',
  DATABASE_URL: url,
  SECRET_KEY: secretKey,
  GATEWAY_URL: 'http://127.0.0.1:1',
  RATE_SOURCES: 'fixed:92.50',
  DATA_DIR: newFolder(),
  // As in production.
  DRAIN_SEC: '5',
});
afterAll(() => service.stop('SIGKILL'));

const starts = () => service.output().split('Kopeck is ready at').length - 1;

test('a process that leaves its history serves again at the same port, without draining first', async () => {
  await pool.query(
    `INSERT INTO incarnations (number, system_identifier, timeline, place, cause, began_at, certain_at, is_synchronous,
                               last_event_id, next_event_id)
     SELECT number + 1, system_identifier, timeline, place, 'promotion', now(), now(), true, 0, 1000000
       FROM incarnations ORDER BY number DESC LIMIT 1`,
  );
  await expect.poll(starts, { timeout: 30_000 }).toBe(2);
  expect(service.output()).toContain('Joining it');
  expect((await fetch(`${service.address}/readyz`)).status).toBe(200);
});
