import { afterEach, describe, expect, test } from 'vitest';
import { openPool } from '../../src/db/pool.ts';
import { type Service, startService } from '../helpers/cli.ts';
import { createDatabase } from '../helpers/database.ts';
import { newFolder } from '../helpers/folders.ts';

const services: Service[] = [];
afterEach(async () => {
  await Promise.all(services.splice(0).map(service => service.stop()));
});

async function start(env: Record<string, string>): Promise<Service> {
  const service = await startService({ SECRET_KEY: 'a secret key for the tests, long enough', ...env });
  services.push(service);
  return service;
}

const linkIn = ({ output }: Service) => /(http:\S+)\/console\/setup#([\w-]{43})/.exec(output());

async function look({ address }: Service, token: string) {
  const response = await fetch(`${address}/console/api/setup/look`, {
    method: 'POST',
    headers: { origin: address, 'content-type': 'application/json' },
    body: JSON.stringify({ token }),
  });
  return { status: response.status, json: await response.json() };
}

describe('kopeck start and the console', () => {
  test('a new database gets a link for the first operator; the next start replaces it', async () => {
    const { url } = await createDatabase();
    const env = { DATABASE_URL: url, DATA_DIR: newFolder() };
    const first = await start(env);
    await expect.poll(() => linkIn(first)).toBeTruthy();
    const [, base, token] = linkIn(first)!;
    expect(base).toBe(first.address);
    expect(await look(first, token!)).toMatchObject({ status: 200, json: { name: 'admin', role: 'admin' } });
    expect(first.output()).toContain(`console    ${first.address}/console/`);
    const page = await fetch(`${first.address}/console/`);
    expect([page.status, page.headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8']);

    const second = await start(env);
    await expect.poll(() => linkIn(second)).toBeTruthy();
    expect((await look(second, token!)).status).toBe(404);
    expect((await look(first, linkIn(second)![2]!)).status).toBe(200);
  });

  test('in production logs get a hint and no link', async () => {
    const { url } = await createDatabase();
    const service = await start({
      DATABASE_URL: url,
      DATA_DIR: newFolder(),
      NODE_ENV: 'production',
      GATEWAY_URL: 'http://127.0.0.1:1',
      RATE_SOURCES: 'fixed:92.50',
    });
    await expect.poll(() => service.output()).toContain('kopeck operator create --name NAME --role admin');
    expect(linkIn(service)).toBeNull();
  });

  test('credentials are not logged at any log level', async () => {
    const { url } = await createDatabase();
    const service = await start({
      DATABASE_URL: url,
      DATA_DIR: newFolder(),
      LOG_LEVEL: 'trace',
      ROLES: 'console',
    });
    await expect.poll(() => linkIn(service)).toBeTruthy();
    const token = linkIn(service)![2]!;
    const post = (path: string, body: object) =>
      fetch(`${service.address}/console/api${path}`, {
        method: 'POST',
        headers: {
          origin: service.address,
          'content-type': 'application/json',
          cookie: '__Host-kopeck=a-cookie',
        },
        body: JSON.stringify(body),
      });
    expect((await post('/login', { name: 'a-name', password: 'a-password', code: '123321' })).status).toBe(
      401,
    );
    // Invalid JSON: the error is logged, but not the text.
    const pool = openPool({ connectionString: url });
    await pool.query('ALTER TABLE operators RENAME COLUMN setup_hash TO gone');
    await pool.end();
    expect((await post('/setup', { token, password: 'another-password', code: '456654' })).status).toBe(500);
    await expect.poll(() => service.output()).toContain('a request failed');
    const logged = service.output().replaceAll(/^ {2}http.*$/gm, '');
    for (const secret of ['a-name', 'a-password', '123321', token, 'another-password', '456654', 'a-cookie'])
      expect(logged).not.toContain(secret);
  });

  test('each role serves only its own routes, and both serve health checks', async () => {
    const { url } = await createDatabase();
    const status = async ({ address }: Service, path: string) => (await fetch(`${address}${path}`)).status;
    const statuses = async (service: Service) => {
      const found: Record<string, number> = {};
      for (const path of [
        '/v1/ping',
        '/docs/',
        '/openapi.json',
        '/console/',
        '/console/api/session',
        '/healthz',
        '/readyz',
        '/metrics',
      ])
        found[path] = await status(service, path);
      return found;
    };
    const alive = { '/healthz': 200, '/readyz': 200, '/metrics': 404 };
    const console = await start({ DATABASE_URL: url, DATA_DIR: newFolder(), ROLES: 'console' });
    // A statement that takes longer than 0.8 s makes it not ready for a moment.
    await expect
      .poll(() => statuses(console))
      .toEqual({
        '/v1/ping': 404,
        '/docs/': 404,
        '/openapi.json': 404,
        '/console/': 200,
        '/console/api/session': 401,
        ...alive,
      });
    expect(console.output()).not.toContain('/docs');
    const api = await start({ DATABASE_URL: url, DATA_DIR: newFolder(), ROLES: 'api' });
    await expect
      .poll(() => statuses(api))
      .toEqual({
        '/v1/ping': 401,
        '/docs/': 200,
        '/openapi.json': 200,
        '/console/': 404,
        '/console/api/session': 404,
        ...alive,
      });
    expect(linkIn(api)).toBeNull();
  });
});
