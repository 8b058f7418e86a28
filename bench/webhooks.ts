/** Webhook deliveries to a local receiver: the rate, and the delay when half of the receivers hang. */
import { spawnSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { systemClock as clock } from '../src/base/clock.ts';
import { type Id, newId } from '../src/base/ids.ts';
import { readSettings } from '../src/base/settings.ts';
import { openDatabase } from '../src/db/database.ts';
import { openSecretKey } from '../src/db/secret-key.ts';
import { createKey, createPartner, setLimits } from '../src/partners/index.ts';
import { createPaymentWriter } from '../src/payments/index.ts';
import { createRateSources } from '../src/rates/index.ts';
import { refreshRate } from '../src/rates/refresh.ts';
import { createVault, setWebhook } from '../src/webhooks/index.ts';
import { type Running, start } from './process.ts';
import { ending, opening } from './service/statements.ts';
import { machine, table } from './table.ts';

const root = join(import.meta.dirname, '..');
const partnerCount = 50;
const queued = 20_000;
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

export async function benchWebhooks(progress: (line: string) => void) {
  const parent = join(import.meta.dirname, '.data');
  mkdirSync(parent, { recursive: true });
  const dataDir = mkdtempSync(join(parent, 'webhooks-'));
  const settings = readSettings({ DATA_DIR: dataDir });
  const running: Running[] = [];
  const { pool, close } = await openDatabase(settings, () => {});
  try {
    const receiver = await start(join(import.meta.dirname, 'receiver.process.ts'), [], {});
    running.push(receiver);
    const statsOf = async (how = '') =>
      (await (await fetch(`${receiver.address}/stats${how}`)).json()) as Stats;
    const secretKey = await openSecretKey(settings, pool);
    const audit = { pool, clock, actor: 'bench' };
    const vault = createVault(secretKey);
    const newPartner = async (path: string) => {
      const { partnerId } = await createPartner(audit, 'Bench');
      await setLimits(audit, partnerId, { createRps: 100_000, createBurst: 100_000, concurrent: 1_000 });
      await setWebhook(audit, vault, partnerId, `${receiver.address}/${path}/${partnerId}`);
      const creation = await createKey(audit, secretKey, { partnerId, mode: 'test', allowedAddresses: [] });
      return { partnerId, key: creation.outcome === 'created' ? creation.key : '' };
    };
    const makePartners = async (path: string) => {
      const partners: Awaited<ReturnType<typeof newPartner>>[] = [];
      for (let index = 0; index < partnerCount; index++) partners.push(await newPartner(path));
      return partners;
    };
    const healthy = await makePartners('ok');

    progress(`${queued} events waiting, ${partnerCount} partners …`);
    await queueEvents(
      pool,
      healthy.map(({ partnerId }) => partnerId),
    );
    const service = await start(join(root, 'src/cli/main.ts'), ['start'], {
      DATA_DIR: dataDir,
      PORT: '0',
      LOG_LEVEL: 'error',
      RATE_SOURCES: 'fixed:92.50',
      GATEWAY_URL: 'http://127.0.0.1:1',
    });
    running.push(service);
    while ((await statsOf()).count < queued) await sleep(200);
    const perSecond = (queued / (await statsOf('?fresh')).spanMs) * 1_000;
    progress('The same with bare undici …');
    const barePerSecond = postBare(`${receiver.address}/ok`);
    await statsOf('?fresh');

    progress('Delays, all receivers answering …');
    const pay = (keys: string[]) => payAtPace(service.address, keys);
    await pay(healthy.map(({ key }) => key));
    const calm = await statsOf('?fresh');
    progress('Delays, half of the receivers hanging …');
    const dead = await makePartners('hang');
    await pay([...healthy, ...dead].map(({ key }) => key));
    const troubled = await statsOf('?fresh');
    return report({ perSecond, barePerSecond, calm, troubled });
  } finally {
    for (const { stop } of running.reverse()) await stop();
    await close();
    rmSync(dataDir, { recursive: true });
  }
}

/** Stores finished payments whose events are not sent yet. */
async function queueEvents(
  pool: Parameters<typeof createPaymentWriter>[0],
  partners: Id<'prt'>[],
): Promise<void> {
  const sources = createRateSources([{ kind: 'fixed', name: 'fixed', rateE4: 925_000n }], { clock });
  const rate = await refreshRate({
    db: pool,
    clock,
    sources,
    spreadBps: 0,
    maxAgeSec: 300,
    reportAlarms: () => {},
  });
  const writer = createPaymentWriter(pool, clock);
  const one = async (partnerId: Id<'prt'>) => {
    const paymentKey = { partnerId, paymentId: newId('pay', clock) };
    const names = {
      key: randomUUID(),
      code: randomUUID(),
      link: 'https://qr.nspk.ru/AD1',
      rateId: rate!.rateId,
    };
    await writer.open(opening(paymentKey, names, clock.nowMs()));
    await writer.finish(ending(paymentKey));
  };
  for (let made = 0; made < queued; made += 1_000)
    await Promise.all(Array.from({ length: 1_000 }, (_, index) => one(partners[index % partners.length]!)));
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
