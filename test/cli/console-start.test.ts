import { pino } from 'pino';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import type { Id } from '../../src/base/ids.ts';
import { findRequest } from '../../src/request-log/index.ts';
import { serviceEnv, startHere } from '../helpers/cli.ts';
import { createDatabase, createPartnerWithKeys } from '../helpers/database.ts';

const { pool, url } = await createDatabase();
type Service = Awaited<ReturnType<typeof startHere>>;
const services: Service[] = [];
afterAll(() => Promise.all(services.map(service => service.stop())));

/** All log lines of all services. */
let logged = '';
vi.spyOn(pino, 'destination').mockReturnValue({ write: (line: string) => (logged += line) } as never);

async function start(env: Record<string, string>): Promise<Service> {
  const service = await startHere({ ...serviceEnv(url), DRAIN_SEC: '0', ...env });
  services.push(service);
  return service;
}

const linkIn = ({ output }: Service) => /(http:\S+)\/console\/setup#([\w-]{43})/.exec(output());

const post = ({ address }: Service, path: string, body: object) =>
  fetch(`${address}/console/api${path}`, {
    method: 'POST',
    headers: { origin: address, 'content-type': 'application/json', cookie: '__Host-kopeck=a-cookie' },
    body: JSON.stringify(body),
  });

/** Sends a request and stops the service at once. */
async function pingAndStop(service: Service) {
  const { partnerId, testKey } = await createPartnerWithKeys(pool);
  const headers = { authorization: `Bearer ${testKey}` };
  const answer = await fetch(`${service.address}/v1/ping`, { headers });
  const metrics = await service.readMetrics();
  await service.stop();
  const logged = await findRequest(pool, answer.headers.get('x-request-id') as Id<'req'>);
  return { partnerId, metrics, logged };
}

describe('kopeck start and the console', () => {
  let whole: Service;
  let withConsole: Service;
  let withApi: Service;
  beforeAll(async () => {
    whole = await start({ REQUEST_LOG_DAYS: '0' });
    await vi.waitUntil(() => linkIn(whole), 60_000);
    [withConsole, withApi] = await Promise.all([
      start({ ROLES: 'console', LOG_LEVEL: 'trace' }),
      start({ ROLES: 'api' }),
    ]);
    await vi.waitUntil(() => linkIn(withConsole), 60_000);
  });

  test('a new database gets a link for the first operator; the next start replaces it', async () => {
    const [, base, token] = linkIn(whole)!;
    expect(base).toBe(whole.address);
    expect(whole.output()).toContain(`console    ${whole.address}/console/`);
    const page = await fetch(`${whole.address}/console/`);
    expect([page.status, page.headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8']);
    const look = (at: Service, token: string) => post(at, '/setup/look', { token });
    expect((await look(withConsole, token!)).status).toBe(404);
    const next = await look(whole, linkIn(withConsole)![2]!);
    expect(next.status).toBe(200);
    expect(await next.json()).toMatchObject({ name: 'admin', role: 'admin' });
  });

  test('in production logs get a hint and no link', async () => {
    const empty = await createDatabase();
    const service = await start({ NODE_ENV: 'production', DATABASE_URL: empty.url });
    await expect.poll(() => service.output()).toContain('kopeck operator create --name NAME --role admin');
    expect(linkIn(service)).toBeNull();
  });

  test('each role serves only its own routes, and both serve health checks', async () => {
    const status = async ({ address }: Service, path: string) => (await fetch(`${address}${path}`)).status;
    const statuses = async (service: Service) => {
      const found: number[] = [];
      for (const path of ['/v1/ping', '/docs/', '/openapi.json', '/console/', '/console/api/session'])
        found.push(await status(service, path));
      for (const path of ['/healthz', '/readyz', '/metrics']) found.push(await status(service, path));
      return found;
    };
    const alive = [200, 200, 404];
    // A statement that takes longer than 0.8 s makes it not ready for a moment.
    await expect.poll(() => statuses(withConsole)).toEqual([404, 404, 404, 200, 401, ...alive]);
    expect(withConsole.output()).not.toContain('/docs');
    await expect.poll(() => statuses(withApi)).toEqual([401, 200, 200, 404, 404, ...alive]);
    expect(linkIn(withApi)).toBeNull();
  });

  test('credentials are not logged at any log level', async () => {
    const token = linkIn(withConsole)![2]!;
    const login = { name: 'a-name', password: 'a-password', code: '123321' };
    expect((await post(withConsole, '/login', login)).status).toBe(401);
    // Invalid JSON: the error is logged, but not the text.
    await pool.query('ALTER TABLE operators RENAME COLUMN setup_hash TO gone');
    const setup = { token, password: 'another-password', code: '456654' };
    expect((await post(withConsole, '/setup', setup)).status).toBe(500);
    await expect.poll(() => logged).toContain('a request failed');
    for (const secret of ['a-name', 'a-password', '123321', token, 'another-password', '456654', 'a-cookie'])
      expect(logged).not.toContain(secret);
  });

  test('a request that was answered just before the shutdown is in the log', async () => {
    const { partnerId, logged, metrics } = await pingAndStop(withApi);
    expect(logged).toMatchObject({ partnerId, path: '/v1/ping', status: 200 });
    expect(metrics).toContain('kopeck_request_log_missing_total{reason="failed"} 0');
  });

  test('with REQUEST_LOG_DAYS=0 nothing is logged', async () => {
    const { logged, metrics } = await pingAndStop(whole);
    expect(logged).toBeUndefined();
    expect(metrics).not.toContain('kopeck_request_log');
  });
});
