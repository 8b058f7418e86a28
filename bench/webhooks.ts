/** Webhook deliveries to a local receiver: the rate, and the delay when half of the receivers hang. */

import { spawnSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { systemClock as clock } from '../src/base/clock.ts';
import type { Id } from '../src/base/ids.ts';
import { readSettings } from '../src/base/settings.ts';
import type { AuditContext } from '../src/db/audit/index.ts';
import { openDatabase } from '../src/db/index.ts';
import type { Pool } from '../src/db/postgres/index.ts';
import { type Keyring, openKeyring } from '../src/db/secrets/index.ts';
import { createKey, createPartner, setLimits } from '../src/partners/index.ts';
import { createRateSources } from '../src/rates/index.ts';
import { refreshRate } from '../src/rates/refresh.ts';
import { createVault, setWebhook } from '../src/webhooks/index.ts';
import { type Running, start } from './process.ts';
import { closeOnce, newFolder } from './service/cleanup.ts';
import { storePayments } from './service/fill.ts';
import { machine, table } from './table.ts';

const root = join(import.meta.dirname, '..');
const partnerCount = 50;
const queued = 20_000;
/** Of one partner. */
const eventsAtOnce = 20;
const arriveWithinMs = 120_000;
const concurrency = 256;
const bodyBytes = 420;
/** Events per second while delays are measured. */
const pace = 100;
const paceForMs = 10_000;

interface Stats {
  count: number;
  spanMs: number;
  medianMs: number;
  p99Ms: number;
}

interface WebhookService {
  addresses: { service: string; receiver: string };
  healthy: WebhookPartner[];
  createHanging(): Promise<WebhookPartner[]>;
}

/** Deliveries per second when many events wait, and bare POSTs per second. */
export const measureDeliveries = (progress: (line: string) => void) =>
  withWebhookService(progress, ({ addresses }) => measureRate(addresses.receiver, progress));

export const benchWebhooks = (progress: (line: string) => void) =>
  withWebhookService(progress, async ({ addresses, healthy, createHanging }) =>
    report({
      ...(await measureRate(addresses.receiver, progress)),
      ...(await measureDelays(addresses, healthy, createHanging, progress)),
    }),
  );

/** A service that starts while events wait. */
async function withWebhookService<Result>(
  progress: (line: string) => void,
  work: (service: WebhookService) => Promise<Result>,
): Promise<Result> {
  const folder = newFolder('webhooks');
  const settings = readSettings({ DATA_DIR: folder.dir });
  const running: Running[] = [];
  const { pool, close } = await openDatabase(settings, () => {}, 'create');
  const closeDatabase = closeOnce(close);
  try {
    const receiver = await start(join(import.meta.dirname, 'receiver.process.ts'), [], {});
    running.push(receiver);
    const keyring = await openKeyring(settings, pool, 'create');
    const createPartners = (path: string) =>
      createWebhookPartners({ pool, clock, actor: 'bench' }, keyring, `${receiver.address}/${path}`);
    const healthy = await createPartners('ok');
    progress(`${queued} events waiting, ${partnerCount} partners …`);
    await queueEvents(pool, healthy);
    const service = await start(join(root, 'src/cli/main.js'), ['start'], {
      DATA_DIR: folder.dir,
      PORT: '0',
      LOG_LEVEL: 'error',
      RATE_SOURCES: 'fixed:92.50',
      GATEWAY_URL: 'http://127.0.0.1:1',
    });
    running.push(service);
    const addresses = { service: service.address, receiver: receiver.address };
    return await work({ addresses, healthy, createHanging: () => createPartners('hang') });
  } finally {
    for (const { stop } of running.reverse()) await stop();
    await closeDatabase();
    await folder.remove();
  }
}

interface WebhookPartner {
  partnerId: Id<'prt'>;
  key: string;
}

async function createWebhookPartners(
  audit: AuditContext,
  keyring: Keyring,
  receiverUrl: string,
): Promise<WebhookPartner[]> {
  const vault = createVault(keyring);
  const partners: WebhookPartner[] = [];
  for (let index = 0; index < partnerCount; index++) {
    const { partnerId } = await createPartner(audit, 'Bench');
    await setLimits(audit, partnerId, { createRps: 100_000, createBurst: 100_000, concurrent: 1_000 });
    await setWebhook(audit, vault, partnerId, `${receiverUrl}/${partnerId}`);
    const creation = await createKey(audit, keyring, { partnerId, mode: 'test', allowedAddresses: [] });
    partners.push({ partnerId, key: creation.outcome === 'created' ? creation.key : '' });
  }
  return partners;
}

const readStats = async (receiver: string) => (await (await fetch(`${receiver}/stats`)).json()) as Stats;
const takeStats = async (receiver: string) =>
  (await (await fetch(`${receiver}/stats?fresh`)).json()) as Stats;

/** Waits until all queued events have arrived. */
async function measureRate(receiver: string, progress: (line: string) => void) {
  const waitUntil = performance.now() + arriveWithinMs;
  for (let { count } = await readStats(receiver); count < queued; { count } = await readStats(receiver)) {
    if (performance.now() > waitUntil) throw new Error(`only ${count} of ${queued} events have arrived`);
    await sleep(200);
  }
  const perSecond = (queued / (await takeStats(receiver)).spanMs) * 1_000;
  progress('The same with bare undici …');
  const barePerSecond = postBare(`${receiver}/ok`);
  await takeStats(receiver);
  return { perSecond, barePerSecond };
}

async function measureDelays(
  { service, receiver }: { service: string; receiver: string },
  healthy: WebhookPartner[],
  createHanging: () => Promise<WebhookPartner[]>,
  progress: (line: string) => void,
) {
  const pay = (partners: WebhookPartner[]) =>
    payAtPace(
      service,
      partners.map(({ key }) => key),
    );
  progress('Delays, all receivers answering …');
  await pay(healthy);
  const calm = await takeStats(receiver);
  progress('Delays, half of the receivers hanging …');
  await pay([...healthy, ...(await createHanging())]);
  return { calm, troubled: await takeStats(receiver) };
}

/** Stores finished payments whose events are not sent yet. */
async function queueEvents(pool: Pool, partners: WebhookPartner[]): Promise<void> {
  const sources = createRateSources([{ kind: 'fixed', name: 'fixed', rateE4: 925_000n }], { clock });
  await refreshRate({
    db: pool,
    clock,
    sources,
    spreadBps: 0,
    maxAgeSec: 300,
    bounds: { minE4: 400_000n, maxE4: 4_000_000n },
    reportAlarms: () => {},
  });
  // In several statements, each within the time that the pool allows.
  for (let stored = 0; stored < queued; stored += partners.length * eventsAtOnce)
    await storePayments(pool, partners, eventsAtOnce);
}

function postBare(url: string): number {
  const args = [
    join(import.meta.dirname, 'post.process.ts'),
    url,
    `${queued}`,
    `${concurrency}`,
    `${bodyBytes}`,
  ];
  const { stdout } = spawnSync(process.execPath, args, { encoding: 'utf8' });
  return JSON.parse(stdout).perSecond;
}

async function payAtPace(api: string, keys: string[]): Promise<void> {
  const calls: Promise<void>[] = [];
  const startedAt = performance.now();
  for (let made = 0; performance.now() - startedAt < paceForMs; made++) {
    calls.push(payOnce(api, keys[made % keys.length]!));
    await sleep(Math.max(0, startedAt + ((made + 1) * 1_000) / pace - performance.now()));
  }
  await Promise.all(calls);
  // By then the last events have arrived.
  await sleep(1_000);
}

async function payOnce(api: string, key: string): Promise<void> {
  const link = `https://qr.nspk.ru/AD${randomUUID().replaceAll('-', '').toUpperCase().slice(0, 30)}`;
  const response = await fetch(`${api}/v1/payments`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'idempotency-key': randomUUID() },
    body: JSON.stringify({ qr_url: `${link}?type=02&sum=1000&cur=RUB` }),
  });
  if (!response.ok) throw new Error(`a payment was answered with ${response.status}`);
  await response.arrayBuffer();
}

function report(figures: { perSecond: number; barePerSecond: number; calm: Stats; troubled: Stats }) {
  const { perSecond, barePerSecond, calm, troubled } = figures;
  const share = perSecond / barePerSecond;
  const lateness = troubled.p99Ms / Math.max(1, calm.p99Ms);
  const passed = (fine: boolean) => (fine ? '✓' : '✗');
  const rows = [
    ['bare undici POSTs', `${Math.round(barePerSecond)}/s`, '', ''],
    [
      'deliveries',
      `${Math.round(perSecond)}/s`,
      `${share.toFixed(2)} × bare`,
      `at least 0.5 ${passed(share >= 0.5)}`,
    ],
    ['delay, all receivers answering', `${calm.medianMs} ms, 99th ${calm.p99Ms} ms`, '', ''],
    [
      'delay of healthy ones, half of all hanging',
      `${troubled.medianMs} ms, 99th ${troubled.p99Ms} ms`,
      `${lateness.toFixed(2)} × (99th)`,
      `at most 2.0 ${passed(lateness <= 2)}`,
    ],
  ];
  return {
    json: { machine: machine(), ...figures },
    text: [`Webhooks; ${machine()}`, table(['what', 'measured', 'against', 'bar'], rows)].join('\n\n'),
  };
}
