import { beforeAll, describe, expect, test } from 'vitest';
import { systemClock } from '../../src/base/clock.ts';
import { type Id, newId } from '../../src/base/ids.ts';
import { kopeck } from '../helpers/cli.ts';
import { answered, store } from '../request-log/requests.ts';
import { createCommandLine } from './command-line.ts';

const { pool, url, dataDir, partner, run, runJson, expectRefusal } = await createCommandLine();
const keyHolder = { partnerId: partner as Id<'prt'>, mode: 'live', keyId: '7f3a9c21b0d4' } as const;
const paymentId = newId('pay', systemClock);
const created = answered({ keyHolder, paymentId });
const read = answered({ keyHolder, method: 'GET', route: '/v1/payments/:payment_id', paymentId });
const limited = answered({ keyHolder, status: 429, errorCode: 'rate_limited' });
const unknown = answered({ isAdmitted: false, status: 401, errorCode: 'unauthorized', route: '/v1/ping' });
const broken = answered({ isAdmitted: false, method: undefined, route: undefined, status: 400 });
beforeAll(() => store(pool, created, read, limited, unknown, broken));

describe('request show', () => {
  test('for people: who sent it, when, what, and how it was answered', async () => {
    const { code, stdout } = await run(`request show ${read.requestId}`);
    expect(code).toBe(0);
    expect(stdout.replaceAll(/\d{4}-\d\d-\d\d \d\d:\d\d:\d\d/g, 'TIME')).toBe(
      [
        `request   ${read.requestId}`,
        'at (UTC)  TIME',
        `partner   Кофейня (${partner}, live)`,
        'key id    7f3a9c21b0d4',
        `path      GET /v1/payments/${paymentId}`,
        'status    200',
        'duration  12 ms',
        `payment   ${paymentId}`,
        '',
      ].join('\n'),
    );
    const refused = await run(`request show ${unknown.requestId}`);
    expect(refused.stdout).toMatch(
      /\npartner +unknown \(key missing, not valid or not checked\)\n.*\nerror +unauthorized\n/s,
    );
    expect((await run(`request show ${broken.requestId}`)).stdout).toMatch(/\npath +not valid HTTP\n/);
  });

  test('for programs', async () => {
    expect(await runJson(`request show ${limited.requestId}`)).toEqual({
      ...{ request_id: limited.requestId, at: expect.stringMatching(/Z$/), partner_id: partner },
      ...{ partner_name: 'Кофейня', mode: 'live', key_id: '7f3a9c21b0d4', payment_id: null },
      ...{ method: 'POST', route: '/v1/payments', path: '/v1/payments' },
      ...{ status: 429, error_code: 'rate_limited', duration_ms: 12 },
    });
  });

  const none = /^There is no request .* in the log\. Requests are kept for 7 days\. IDs look like req_01h…$/m;
  test.each(['req_01h00000000000000000000000', 'req_x', paymentId, "'; DROP TABLE api_requests"])(
    'there is no %s',
    id => expectRefusal(1, none, 'request show', id),
  );
});

test('request show says that the log is turned off', async () => {
  const env = { DATABASE_URL: url, DATA_DIR: dataDir, REQUEST_LOG_DAYS: '0' };
  const { code, stderr } = await kopeck(env, 'request show', newId('req', systemClock));
  expect(code).toBe(1);
  expect(stderr).toMatch(/the log is turned off \(REQUEST_LOG_DAYS=0\)\.$/m);
});

describe('request list', () => {
  const find = async (...args: string[]) =>
    (await runJson('request list', ...args)).requests.map(
      ({ request_id }: { request_id: string }) => request_id,
    );
  const ids = (...requests: { requestId: string }[]) => requests.map(({ requestId }) => requestId);

  test('finds requests by partner, path, status, error and time, newest first', async () => {
    expect(await find()).toEqual(ids(broken, unknown, limited, read, created));
    expect(await find('--limit', '2')).toEqual(ids(broken, unknown));
    expect(await find('--partner', partner)).toEqual(ids(limited, read, created));
    expect(await find('--partner', 'кофейня')).toEqual(ids(limited, read, created));
    expect(await find('--path', '/v1/payments')).toEqual(ids(limited, created));
    expect(await find('--path', `/v1/payments/${paymentId}`)).toEqual(ids(read, created));
    expect(await find('--status', '4xx')).toEqual(ids(broken, unknown, limited));
    expect(await find('--status', '401')).toEqual(ids(unknown));
    expect(await find('--error', 'rate_limited')).toEqual(ids(limited));
    expect(await find('--until', '2026-01-01')).toEqual([]);
    expect(await find('--since', '2026-01-01T10:00:00Z', '--status', '2xx')).toEqual(ids(read, created));
  });

  test('for people', async () => {
    const { stdout } = await run('request list --status 429');
    expect(stdout).toMatch(/^request +at \(UTC\) +partner +mode +status +error +ms +path\n/);
    expect(stdout).toMatch(/ Кофейня +live +429 +rate_limited +12 +POST \/v1\/payments\n$/);
  });

  test('refuses what it cannot read, and an unknown partner', async () => {
    await expectRefusal(2, /must be a status such as 404, or a class/, 'request list --status 4');
    await expectRefusal(2, /must be a time/, 'request list --since yesterday');
    await expectRefusal(2, /from 1 to 1000/, 'request list --limit 1001');
    await expectRefusal(1, /^There is no partner Nobody: /, 'request list --partner Nobody');
  });
});
