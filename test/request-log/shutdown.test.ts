import { expect, test } from 'vitest';
import type { Id } from '../../src/base/ids.ts';
import { findRequest } from '../../src/request-log/index.ts';
import { startService } from '../helpers/cli.ts';
import { createDatabase } from '../helpers/database.ts';
import { newFolder } from '../helpers/folders.ts';
import { createPartnerWithKeys, secretKey } from '../helpers/partners.ts';

const { pool, url } = await createDatabase();
const { partnerId, testKey } = await createPartnerWithKeys(pool);

async function pingAndStop(more: Record<string, string>) {
  const service = await startService({
    ROLES: 'api',
    DATABASE_URL: url,
    SECRET_KEY: secretKey,
    GATEWAY_URL: 'http://127.0.0.1:1',
    RATE_SOURCES: 'fixed:92.50',
    DATA_DIR: newFolder(),
    ...more,
  });
  const answer = await fetch(`${service.address}/v1/ping`, {
    headers: { authorization: `Bearer ${testKey}` },
  });
  const metrics = await service.readMetrics();
  expect(await service.stop('SIGTERM')).toBe(0);
  return { metrics, logged: await findRequest(pool, answer.headers.get('x-request-id') as Id<'req'>) };
}

test('a request that was answered just before the shutdown is in the log', async () => {
  const { logged, metrics } = await pingAndStop({});
  expect(logged).toMatchObject({ partnerId, path: '/v1/ping', status: 200 });
  expect(metrics).toContain('kopeck_request_log_missing_total{reason="failed"} 0');
});

test('with REQUEST_LOG_DAYS=0 nothing is logged', async () => {
  const { logged, metrics } = await pingAndStop({ REQUEST_LOG_DAYS: '0' });
  expect(logged).toBeUndefined();
  expect(metrics).not.toContain('kopeck_request_log');
});
