import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, onTestFinished, test } from 'vitest';
import { Kopeck, verifyWebhook } from '../../sdk/src/index.ts';
import { newLink, partnerAt } from '../helpers/api.ts';
import { kopeck, serviceEnv, startHere, startKopeck } from '../helpers/cli.ts';
import { createDatabase, createPartnerWithKeys, setRate } from '../helpers/database.ts';
import { newFolder } from '../helpers/folders.ts';
import { type Received, startReceiver, withStatus } from '../helpers/webhook-receiver.ts';

const { pool, url: databaseUrl } = await createDatabase();
const env = { ...serviceEnv(databaseUrl), DRAIN_SEC: '0' };
const secret = 'whsec_of_the_developer';
await setRate(pool);
const { partnerId: partner, testKey: key } = await createPartnerWithKeys(pool);
const service = await startHere(env);
afterAll(service.stop);
const client = new Kopeck({ apiKey: key, baseUrl: service.address });

/** Only the address of the service: no database, and no folder to create one in. */
const elsewhere = { DATA_DIR: join(newFolder(), 'none') };

const listen = (...args: string[]) => listenWith({}, ...args);

async function listenWith(variables: Record<string, string>, ...args: string[]) {
  const env = { ...elsewhere, KOPECK_KEY: key, ...variables };
  const listener = startKopeck(env, 'listen', '--url', service.address, ...args);
  onTestFinished(() => void listener.stop('SIGKILL'));
  await expect.poll(listener.stderr).toContain('Press Ctrl-C to stop.');
  return listener;
}

const verified = ({ body, headers }: Received, by = secret) =>
  verifyWebhook(body, headers['x-service-signature'], by);

describe('kopeck listen', () => {
  test('forwards the same bytes and headers that the webhook has, and ends with a summary', async () => {
    const [real, local] = [await startReceiver(), await startReceiver()];
    await kopeck(env, `webhook set ${partner} --url`, real.url);
    await client.payments.create({ qr_url: newLink(10_000), external_id: 'before' });
    const listener = await listenWith({ KOPECK_WEBHOOK_SECRET: secret }, '--forward-to', local.url);
    // Raw text: JSON.stringify cannot write such metadata.
    const metadata = '{"b":1.10,"2":12345678901234567890,"1":"два","__proto__":{"x":1e2}}';
    const paid = await fetch(`${service.address}/v1/payments`, {
      method: 'POST',
      headers: {
        ...{ authorization: `Bearer ${key}`, 'idempotency-key': 'k1' },
        'content-type': 'application/json',
      },
      body: `{"qr_url":"${newLink(10_000)}","metadata":${metadata}}`,
    });
    const { id } = (await paid.json()) as { id: string };
    await expect.poll(() => local.received.length).toBe(1);
    await expect.poll(() => real.received.filter(({ json }) => json.data.id === id).length).toBe(1);
    const [forwarded] = local.received;
    const sent = real.received.find(({ json }) => json.data.id === id)!;
    expect(forwarded!.body).toBe(sent.body);
    expect(forwarded!.body).toContain(metadata);
    const named = ({ headers }: Received) =>
      ['content-type', 'x-service-event', 'x-service-delivery', 'x-service-payment-id'].map(n => headers[n]);
    expect(named(forwarded!)).toEqual(named(sent));
    expect(await verified(forwarded!)).toMatchObject({ event: 'payment.succeeded', data: { id } });
    expect(await listener.stop()).toBe(0);
    const [head, , row] = listener.stdout().split('\n');
    expect(head).toMatch(/^time +event +type +payment +response +ms$/);
    expect(row).toMatch(new RegExp(`^\\d\\d:\\d\\d:\\d\\d +evt_\\d+ +payment.succeeded +${id} +200 +\\d+$`));
    expect(listener.stderr()).toContain(`Events forwarded: 1. To resume: --from ${forwarded!.json.id}`);
    expect(listener.stderr()).not.toContain('whsec_');
    expect(existsSync(elsewhere.DATA_DIR)).toBe(false);
  });

  test('a receiver that fails first gets the event again; with --json there is a line per event', async () => {
    const receiver = await startReceiver();
    receiver.answer((response, one) => {
      if (one === receiver.received[0]) response.destroy();
      else withStatus(receiver.received.length === 2 ? 500 : 204)(response);
    });
    const listener = await listen('--forward-to', receiver.url, '--json');
    const signed = /whsec_\S+(?= )/;
    await expect.poll(listener.stderr).toMatch(signed);
    const made = signed.exec(listener.stderr())![0];
    expect(listener.stderr().split(made)).toHaveLength(2);
    const { id } = await client.payments.create({ qr_url: newLink(10_001) });
    const next = await client.payments.create({ qr_url: newLink(10_000) });
    await expect.poll(() => listener.stdout().trim().split('\n').length).toBe(2);
    const lines = listener
      .stdout()
      .trim()
      .split('\n')
      .map(line => JSON.parse(line));
    expect(lines).toMatchObject([
      { event: 'payment.failed', payment_id: id, delivered: true, attempts: 3, status: 204, error: null },
      { event: 'payment.succeeded', payment_id: next.id, delivered: true, attempts: 1, status: 204 },
    ]);
    expect(receiver.received.map(({ json }) => json.data.id)).toEqual([id, id, id, next.id]);
    for (const one of receiver.received) await expect(verified(one, made)).resolves.toBeDefined();
    expect(listener.stderr()).toMatch(
      /"answer":"closed","again_in_sec":1}\n.*"answer":"500","again_in_sec":2}/,
    );
    expect(await listener.stop('SIGTERM')).toBe(0);
  });

  test('an unreachable receiver is retried until the command is stopped', async () => {
    const listener = await listen('--forward-to', 'http://localhost:9/hook', '--from', 'evt_0');
    await expect.poll(listener.stderr).toContain('The endpoint did not accept the event; retrying in 2 s.');
    expect(listener.stdout()).toMatch(/ evt_\d+ .* refused +\d+\n/);
    expect(await listener.stop()).toBe(0);
    expect(listener.stderr()).toContain('Events forwarded: 0. To resume: --from evt_0');
  });

  test('starts after the event given with --from', async () => {
    const receiver = await startReceiver();
    const api = partnerAt(service.address, key);
    const { data } = (await api.get('/v1/events')).json;
    const [{ id: first }, ...rest] = data;
    await listen('--forward-to', receiver.url, '--from', first);
    await expect
      .poll(() => receiver.received.map(({ json }) => json.id))
      .toEqual(rest.map((one: { id: string }) => one.id));
  });

  test('invalid arguments are a wrong call', async () => {
    const calls = [
      ['--forward-to', 'ftp://localhost/'],
      ['--forward-to', 'http://localhost:3000/', '--from', 'yesterday'],
      [],
    ];
    const runs = await Promise.all(calls.map(call => kopeck(elsewhere, 'listen --key', key, ...call)));
    expect(runs.map(({ code, stdout }) => [code, stdout])).toEqual(calls.map(() => [2, '']));
  });

  test('an invalid key, an unknown key, an unreachable service and a foreign event: one line each', async () => {
    const to = ['--forward-to', 'http://localhost:3000/'];
    const runs = await Promise.all([
      kopeck(elsewhere, 'listen --key hunter2', ...to),
      kopeck(elsewhere, 'listen --key svc_test_a_b --url', service.address, ...to),
      kopeck(elsewhere, 'listen --key', key, '--url', 'http://127.0.0.1:9', ...to),
      kopeck(elsewhere, 'listen --key', key, '--url', service.address, '--from', 'evt_9999', ...to),
    ]);
    for (const { code, stderr } of runs)
      expect([code, stderr]).toEqual([1, expect.stringMatching(/^[^\n]+\n$/)]);
    expect(runs[0]!.stderr).not.toContain('hunter2');
    expect(runs[2]!.stderr).toContain('check that the service runs there');
    expect(runs[3]!.stderr).toMatch(/^evt_9999 is not an event of prt_\S+ \(test\)\.\n$/);
  });
});
