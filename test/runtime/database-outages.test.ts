import { randomUUID } from 'node:crypto';
import { afterAll, afterEach, expect, test } from 'vitest';
import { openEmbedded } from '../../src/db/embedded/server.ts';
import { openPool } from '../../src/db/postgres/pool.ts';
import { newLink } from '../helpers/api.ts';
import { startService } from '../helpers/cli.ts';
import { usedFolder } from '../helpers/folders.ts';
import { createPartnerWithKeys, secretKey, setRate } from '../helpers/partners.ts';

const dataDir = usedFolder();
const service = await startService({
  ...{ DATA_DIR: dataDir, SECRET_KEY: secretKey, LOG_LEVEL: 'info', ROLES: 'api,worker' },
  ...{ GATEWAY_URL: 'http://127.0.0.1:1', RATE_SOURCES: 'fixed:92.50' },
});
const server = await openEmbedded(dataDir, () => {}, 'refuse');
const pool = openPool(server.connection, 2);
await setRate(pool);
const { testKey } = await createPartnerWithKeys(pool);
afterAll(async () => {
  await service.stop();
  await pool.end();
  await server.close();
});

async function setOnServer(setting: string): Promise<void> {
  await pool.query(`ALTER SYSTEM ${setting}`);
  await pool.query('SELECT pg_reload_conf()');
}
afterEach(async () => {
  await setOnServer('RESET ALL');
  await expect.poll(async () => (await ready()).status).toBe(200);
});

/** The answer, and how long it took. */
async function timed(path: string, init: RequestInit = {}) {
  const startedMs = performance.now();
  const response = await fetch(`${service.address}${path}`, {
    ...init,
    headers: { authorization: `Bearer ${testKey}`, ...init.headers },
  });
  const json = (await response.json()) as { reason?: string };
  const retryAfter = response.headers.get('retry-after');
  return { status: response.status, json, retryAfter, ms: performance.now() - startedMs };
}

const ready = () => timed('/readyz');
const pay = () => {
  const headers = { 'idempotency-key': randomUUID() };
  return timed('/v1/payments', { method: 'POST', headers, body: JSON.stringify({ qr_url: newLink(1_000) }) });
};

/** Just less than the 6.5 s that a statement waits which hangs: what answers sooner has not waited for one. */
const withoutHangingMs = 6_000;

/** Asks until the process is not ready for this reason, and how long that took. A slow machine may have another reason before. */
async function untilNotReady(reason: string) {
  const startedMs = performance.now();
  for (;;) {
    const answer = await ready();
    expect(answer.ms).toBeLessThan(withoutHangingMs);
    if (answer.status === 503 && answer.json.reason === reason)
      return { ...answer, afterMs: performance.now() - startedMs };
    expect(performance.now() - startedMs).toBeLessThan(10_000);
  }
}

const logged = (message: string) => service.output().split(message).length - 1;

test('while commits wait for a synchronous standby that is gone, the process is not ready before a payment would have timed out, payments are refused at once, and reads go on', async () => {
  expect((await pay()).status).toBe(200);
  await setOnServer("SET synchronous_standby_names = 'nobody'");
  const answer = await untilNotReady('the database does not commit');
  expect(answer.retryAfter).toBe('2');
  expect(answer.afterMs).toBeLessThan(withoutHangingMs);

  // With a wrong key: a payment that is accepted before commits are known to hang would wait for 6.5 s.
  const unknownCaller = () =>
    timed('/v1/payments', { method: 'POST', headers: { authorization: 'Bearer x' } });
  await expect.poll(async () => (await unknownCaller()).status).toBe(503);
  const refused = await pay();
  expect(refused).toMatchObject({ status: 503, retryAfter: '2' });
  expect(refused.ms).toBeLessThan(withoutHangingMs);
  const read = await timed('/v1/payments');
  expect(read.status).toBe(200);
  expect(read.ms).toBeLessThan(withoutHangingMs);
  expect(logged('the database is not available')).toBe(1);

  await setOnServer('RESET synchronous_standby_names');
  await expect.poll(async () => (await pay()).status).toBe(200);
});

test('on a server that became read-only the process is not ready, and payments get 503 with Retry-After', async () => {
  await setOnServer('SET default_transaction_read_only = on');
  const answer = await untilNotReady('the database is read-only');
  expect(answer.retryAfter).toBe('2');
  expect(answer.afterMs).toBeLessThan(withoutHangingMs);
  expect(await pay()).toMatchObject({ status: 503, retryAfter: '2' });
  const withStack = service
    .output()
    .split('\n')
    .filter(line => line.includes('"stack"'));
  expect(withStack.filter(line => !line.includes('The payment gateway'))).toEqual([]);
});
