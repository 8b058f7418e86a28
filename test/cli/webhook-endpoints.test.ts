import { beforeAll, expect, test } from 'vitest';
import { createPartnerWithKeys, newLink, partnerAt, secretKey, setRate, startApi } from '../helpers/api.ts';
import { createDatabase } from '../helpers/database.ts';
import { newFolder } from '../helpers/folders.ts';
import { startReceiver } from '../helpers/webhook-receiver.ts';
import { commandLineOf } from './command-line.ts';

const { pool, url } = await createDatabase();
const { address } = await startApi({ pool });
const env = { DATABASE_URL: url, SECRET_KEY: secretKey, DATA_DIR: newFolder() };
const { run, runJson } = commandLineOf(env);
const receiver = await startReceiver();
let partner: string;
let testKey: string;
beforeAll(async () => {
  ({ partnerId: partner, testKey } = await createPartnerWithKeys(pool));
  await setRate(pool);
});

test('endpoints are added, listed, chosen and removed', async () => {
  const first = await runJson(`webhook set ${partner} --url ${receiver.url}`);
  const add = ['webhook', 'add', partner, '--mode', 'test', '--url', `${receiver.url}/books`];
  const added = await runJson(...add, '--events', 'payment.failed, payment.refunded');
  expect(added).toMatchObject({
    endpoint_id: expect.stringMatching(/^whe_/),
    mode: 'test',
    events: ['payment.failed', 'payment.refunded'],
    standard_secret: added.secret,
  });
  expect(added.secret).not.toBe(first.secret);
  const endpoint = ['--endpoint', added.endpoint_id];
  const { endpoints } = await runJson(`webhook list ${partner}`);
  expect(endpoints.map((one: { url: string }) => one.url)).toEqual([receiver.url, `${receiver.url}/books`]);
  expect((await run(`webhook list ${partner}`)).stdout).toContain('failed, refunded');

  const unclear = await run(`webhook show ${partner}`);
  expect(unclear.code).toBe(1);
  expect(unclear.stderr).toContain('has 2 endpoints. Choose one with --endpoint:');
  expect(unclear.stderr).toContain(added.endpoint_id);
  expect(await runJson(`webhook show ${partner}`, ...endpoint)).toMatchObject({ secret: added.secret });

  const { id } = (await partnerAt(address, testKey).pay({ qr_url: newLink(10_001) })).json;
  expect(id).toMatch(/^pay_/);
  const [event] = (await partnerAt(address, testKey).get('/v1/events')).json.data;
  expect((await run(`webhook resend ${event.id}`)).stderr).toContain('Choose one with --endpoint');
  expect(await runJson(`webhook resend ${event.id}`, ...endpoint)).toMatchObject({
    endpoint_id: added.endpoint_id,
  });
  expect(await runJson(`webhook events ${partner}`, ...endpoint, '--only', 'payment.failed')).toMatchObject({
    events: ['payment.failed'],
  });
  expect((await run(`webhook events ${partner}`, ...endpoint, '--only', 'payment.opened')).code).toBe(2);
  expect((await run(`webhook events ${partner}`, ...endpoint)).code).toBe(2);

  expect(
    await runJson(`webhook set ${partner}`, ...endpoint, '--url', `${receiver.url}/ledger`),
  ).toMatchObject({ url: `${receiver.url}/ledger` });
  expect(await runJson(`webhook check ${partner}`, ...endpoint)).toMatchObject({ can_receive: true });
  expect(receiver.received.map(({ path }) => path)).toContain('/hook/ledger');
  expect(await runJson(`webhook remove ${partner}`, ...endpoint)).toMatchObject({ removed: true });
  expect((await run(`webhook remove ${partner}`, ...endpoint)).stderr).toContain('has no endpoint');
  expect(await runJson(`webhook show ${partner}`)).toMatchObject({ secret: first.secret });
});

test('the sixth endpoint of a mode is refused', async () => {
  const add = (mode: string) => run(`webhook add ${partner} --mode`, mode, '--url', receiver.url, '--json');
  for (let number = 2; number <= 5; number++) expect((await add('live')).code).toBe(0);
  const sixth = await add('live');
  expect(sixth.code).toBe(1);
  expect(sixth.stdout + sixth.stderr).toContain('too_many_endpoints');
  expect((await add('test')).code).toBe(0);
});

test('signing keys are made with the first endpoint that asks, and rotated', async () => {
  const { endpoints } = await runJson(`webhook list ${partner}`);
  const endpoint = ['--endpoint', endpoints[0].endpoint_id];
  expect(await runJson('secret signing-keys')).toMatchObject({ keys: [] });
  expect(await runJson(`webhook ed25519 ${partner}`, ...endpoint, '--sign', 'on')).toMatchObject({
    ed25519: true,
  });
  const { keys } = await runJson('secret signing-keys');
  expect(keys).toHaveLength(1);
  const rotated = (await runJson('secret signing-keys --rotate')).keys;
  expect(rotated).toHaveLength(2);
  expect(rotated[1]).toEqual(keys[0]);
  const { public_keys } = await runJson(`webhook show ${partner}`, ...endpoint);
  expect(public_keys).toHaveLength(2);
  for (const path of public_keys) {
    const published = (await (await fetch(`${address}${path}`)).json()) as { keys: { signs_from: string }[] };
    expect(published.keys.map(({ signs_from }) => Date.parse(signs_from))).toEqual(
      rotated.map(({ signs_from }: { signs_from: string }) => Date.parse(signs_from)),
    );
  }
});
