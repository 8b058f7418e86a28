import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, expect, onTestFinished, test } from 'vitest';
import { systemClock } from '../../src/base/clock.ts';
import { createKeyring } from '../../src/db/secrets/keyring.ts';
import { createVault, readSecrets, setWebhook } from '../../src/webhooks/index.ts';
import { newLink } from '../helpers/api.ts';
import { kopeck, type Service, serviceEnv, startHere, startKopeck, startService } from '../helpers/cli.ts';
import { createDatabase } from '../helpers/database.ts';
import { newFolder } from '../helpers/folders.ts';
import { holdLocks } from '../helpers/locks.ts';
import {
  auditContextOf,
  createFundedPartner,
  createPartnerWithKeys,
  secretKey as oldKey,
  setRate,
} from '../helpers/partners.ts';
import { verifySignature } from '../helpers/signature.ts';
import { startReceiver } from '../helpers/webhook-receiver.ts';

const newKey = 'another secret key for the tests, long enough';
const onlyOld = { SECRET_KEY: oldKey };
const both = { SECRET_KEY: newKey, SECRET_KEY_PREVIOUS: oldKey };
const onlyNew = { SECRET_KEY: newKey };

const { pool, url } = await createDatabase();
const audit = auditContextOf(pool);
const vault = createVault(createKeyring([oldKey]));
const receiver = await startReceiver();
await setRate(pool);
const customer = await createPartnerWithKeys(pool);
await setWebhook(audit, vault, customer.partnerId, receiver.url);
const [webhookSecret] = await readSecrets(pool, vault, customer.partnerId, Date.now());
const otherWebhooks = 150;
for (let made = 0; made < otherWebhooks; made++)
  await setWebhook(audit, vault, await createFundedPartner(pool, 0n), 'https://shop.example/hook');

const nodes: Service[] = [];
afterAll(() => Promise.all(nodes.map(node => node.stop('SIGKILL'))));

const nodeEnv = (keys: Record<string, string>, databaseUrl = url) => ({
  ...{ ...serviceEnv(databaseUrl), ...keys, DRAIN_SEC: '0', LOG_LEVEL: 'warn' },
});

/** In a process of its own: the start of the next node would hold up the payments of one beside it. */
async function startNode(keys: Record<string, string>): Promise<Service> {
  const node = await startService(nodeEnv(keys));
  nodes.push(node);
  return node;
}

/** Partners that pay all the time, through the node that is current. */
function startLoad(first: Service) {
  const state = { node: first, isStopped: false };
  const answers: string[] = [];
  const underWay = new Set<Promise<void>>();
  /** As a partner does: after a 503, which a busy machine can cause, it repeats the request with the same key. */
  const pay = async (idempotencyKey = randomUUID(), link = newLink(1_000)): Promise<void> => {
    const { node } = state;
    const response = await fetch(`${node.address}/v1/payments`, {
      method: 'POST',
      headers: { authorization: `Bearer ${customer.testKey}`, 'idempotency-key': idempotencyKey },
      body: JSON.stringify({ qr_url: link }),
    });
    const { status, error } = (await response.json()) as { status?: string; error?: { code: string } };
    if (error?.code === 'gateway_unavailable') return pay(idempotencyKey, link);
    // The log says why.
    answers.push(status ?? `${error!.code}\n${node.output()}`);
  };
  const payAgain = async () => {
    while (!state.isStopped) {
      const paying = pay();
      underWay.add(paying);
      await paying;
      underWay.delete(paying);
      await sleep(5);
    }
  };
  const running = Promise.all([payAgain(), payAgain(), payAgain()]);
  return {
    answers,
    /** Requests that were sent to the earlier node are answered before it may stop. */
    moveTo: async (node: Service) => {
      state.node = node;
      await Promise.all(underWay);
      const seen = answers.length;
      await expect.poll(() => answers.length).toBeGreaterThan(seen);
    },
    stop: async () => {
      state.isStopped = true;
      await running;
    },
  };
}

const named = async () => {
  const { rows } = await pool.query<{ named: number }>(
    `SELECT count(*)::int AS named FROM endpoints WHERE substring(secret FROM 1 FOR 1) = '\\x02'
        AND length(secret) = 83`,
  );
  return rows[0]!.named;
};
const rotate = { DATABASE_URL: url, DATA_DIR: newFolder() };
/** What `kopeck secret` says to a program with both keys. */
const say = async (command: string) =>
  JSON.parse((await kopeck({ ...rotate, ...both }, `secret ${command} --json`)).stdout);

test('the key is replaced under load, with the rotation killed in the middle, and no payment or webhook is lost', async () => {
  const first = await startNode(onlyOld);
  const load = startLoad(first);
  const second = await startNode(both);
  await load.moveTo(second);
  // It counts as a process without the key until its first beat, which says which keys it has.
  const withBoth = 'SELECT FROM process_beats WHERE cardinality(key_ids) = 2';
  await expect.poll(async () => (await pool.query(withBoth)).rowCount).toBe(1);

  const early = await kopeck({ ...rotate, ...both }, 'secret', 'rotate');
  expect(early).toMatchObject({ code: 1, stdout: '' });
  expect(early.stderr).toMatch(
    /^1 running processes do not have this SECRET_KEY \(\d+\)[^\n]*Nothing was changed\.\n$/,
  );
  expect(await first.stop('SIGTERM')).toBe(0);
  expect(await named()).toBe(0);
  expect(await say('status')).toMatchObject({ previous_can_go: false });

  // It leaves these out for as long as they are locked, so it cannot be complete when it is killed.
  const last = 'SELECT FROM endpoints ORDER BY partner_id DESC LIMIT 10 FOR UPDATE';
  const { unlock } = await holdLocks(url, last, []);
  const killed = startKopeck({ ...rotate, ...both }, 'secret', 'rotate', '--batch', '1');
  await expect.poll(named, { interval: 2 }).toBeGreaterThan(3);
  await killed.stop('SIGKILL');
  await unlock();
  expect(await named()).toBeLessThan(otherWebhooks);

  const tooEarly = await kopeck({ ...rotate, ...onlyNew }, 'secret', 'status');
  expect(tooEarly.stderr).toMatch(/^\d+ stored secrets need an earlier key[^\n]*\n$/);

  expect(await say('rotate')).toMatchObject({ switched: false, unreadable: [] });
  expect(await named()).toBe(otherWebhooks + 1);

  // The key of the load changed over by being used; the other key of the partner was never used.
  const { api_keys_left } = await say('status');
  expect(api_keys_left.map((key: { mode: string }) => key.mode)).toEqual(['live']);
  const liveKey = { headers: { authorization: `Bearer ${customer.liveKey}` } };
  expect((await fetch(`${second.address}/v1/ping`, liveKey)).status).toBe(200);
  const after = { api_keys_left: [], previous_can_go: true, processes: 1 };
  expect(await say('status')).toMatchObject(after);

  const third = await startNode(onlyNew);
  await load.moveTo(third);
  expect(await second.stop('SIGTERM')).toBe(0);
  await load.moveTo(third);
  await load.stop();

  expect(new Set(load.answers)).toEqual(new Set(['succeeded']));
  const paid = load.answers.length;
  await expect.poll(() => receiver.received.length).toBeGreaterThanOrEqual(paid);
  const nowSec = systemClock.nowMs() / 1_000;
  for (const { headers, body } of receiver.received)
    expect(verifySignature(webhookSecret!, `${headers['x-service-signature']}`, body, nowSec)).toBe(true);
});

test('a process that was cut off during the rotation and lacks the new key rejects no API key: it stops serving', async () => {
  const other = await createDatabase();
  await setRate(other.pool);
  const { testKey } = await createPartnerWithKeys(other.pool);
  const node = await startHere(nodeEnv(onlyOld, other.url));
  onTestFinished(node.stop);
  const ping = () =>
    fetch(`${node.address}/v1/ping`, { headers: { authorization: `Bearer ${testKey}` } }).then(
      ({ status }) => status,
      () => 'no connection',
    );
  expect(await ping()).toBe(200);

  // As a rotation that does not see the process, and another node that hashes the key anew.
  const next = createKeyring([newKey]).active();
  await other.pool.query('UPDATE service SET secret_key_fingerprint = $1', [next.fingerprint]);
  const seen = new Set<unknown>();
  await expect
    .poll(
      async () => {
        seen.add(await ping());
        return node.output();
      },
      { interval: 50 },
    )
    .toMatch(
      /was replaced while this process had no connection[\s\S]*SECRET_KEY is not the one this database/,
    );
  expect(await ping()).toBe('no connection');
  expect(seen).not.toContain(401);
});
