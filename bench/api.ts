/** The partner API over HTTP; each figure is compared with a minimal baseline of the same run. */

import { randomUUID } from 'node:crypto';
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import autocannon from 'autocannon';
import { systemClock as clock } from '../src/base/clock.ts';
import { newId } from '../src/base/ids.ts';
import { readSettings } from '../src/base/settings.ts';
import { openDatabase } from '../src/db/index.ts';
import { createKeyring } from '../src/db/secrets/index.ts';
import { topUp } from '../src/ledger/index.ts';
import { createKey, createPartner, setLimits } from '../src/partners/index.ts';
import { type Running, start } from './process.ts';
import { machine, table } from './table.ts';

const root = join(import.meta.dirname, '..');
const partnerCount = 50;
/** A typical time of a bank. The service, the simulated bank, the database and this bench share the machine. */
const gatewayDelayMs = 1_000;
const payForMs = 10_000;

export async function benchApi(progress: (line: string) => void) {
  const parent = join(import.meta.dirname, '.data');
  mkdirSync(parent, { recursive: true });
  const dataDir = mkdtempSync(join(parent, 'api-'));
  const running: Running[] = [];
  try {
    const simulator = await start(join(root, 'simulator/main.ts'), [], {
      SIMULATOR_DIR: join(dataDir, 'simulator'),
    });
    running.push(simulator);
    const service = await start(join(root, 'src/cli/main.js'), ['start'], {
      DATA_DIR: dataDir,
      PORT: '0',
      LOG_LEVEL: 'error',
      GATEWAY_URL: simulator.address,
      RATE_SOURCES: 'fixed:92.50',
    });
    const bare = await start(join(import.meta.dirname, 'bare.process.ts'), [], {});
    running.push(service, bare);
    const keys = await issueKeys(dataDir);
    return await measureAll(service.address, bare.address, simulator.address, keys, progress);
  } finally {
    for (const { stop } of running.reverse()) await stop();
    rmSync(dataDir, { recursive: true });
  }
}

async function issueKeys(dataDir: string): Promise<string[]> {
  const { pool, close } = await openDatabase(readSettings({ DATA_DIR: dataDir }), () => {}, 'create');
  const keyring = createKeyring([readFileSync(join(dataDir, 'secret.key'), 'utf8').trim()]);
  const audit = { pool, clock, actor: 'bench' };
  const keys: string[] = [];
  for (let index = 0; index < partnerCount; index++) {
    const { partnerId } = await createPartner(audit, 'Bench');
    const unlimited = 1_000_000;
    await setLimits(audit, partnerId, {
      createRps: unlimited,
      createBurst: unlimited,
      otherRps: unlimited,
      concurrent: 1_000,
    });
    await topUp(audit, { partnerId, mode: 'live', reference: 'bench', microUsdt: 10n ** 14n });
    const creation = await createKey(audit, keyring, { partnerId, mode: 'live', allowedAddresses: [] });
    if (creation.outcome === 'created') keys.push(creation.key);
  }
  await close();
  return keys;
}

async function measureAll(
  api: string,
  bare: string,
  bank: string,
  keys: string[],
  progress: (line: string) => void,
) {
  progress('GET /v1/ping …');
  const ping = await requestsPerSecond(`${api}/v1/ping`, { authorization: `Bearer ${keys[0]}` });
  const barePing = await requestsPerSecond(`${bare}/v1/ping`, {});

  await call('PUT', `${bank}/sim/faults`, { on: 'pay', kind: 'delay', ms: gatewayDelayMs });
  progress(`POST /v1/payments, ${partnerCount} partners at once, and the gateway by itself …`);
  const gatewayMs = await medianMs(partnerCount, async () => {
    const qrUrl = newLink();
    const { fingerprint, qrc_id } = await call('POST', `${bank}/qr/resolve`, { qr_url: qrUrl });
    const order = { qr_url: qrUrl, qrc_id, amount_kopecks: 10_000, fingerprint };
    expectSucceeded((await call('PUT', `${bank}/orders/${newId('pay', clock)}`, order)).state);
  });
  const paymentMs = await medianMs(partnerCount, async caller => {
    const headers = { authorization: `Bearer ${keys[caller]}`, 'idempotency-key': randomUUID() };
    expectSucceeded((await call('POST', `${api}/v1/payments`, { qr_url: newLink() }, headers)).status);
  });

  const addedMs = paymentMs - gatewayMs;
  const cost = barePing / ping;
  const passed = (fine: boolean) => (fine ? '✓' : '✗');
  const rows = [
    ['GET /v1/ping, bare Fastify route', `${Math.round(barePing)}/s`, '', ''],
    [
      'GET /v1/ping',
      `${Math.round(ping)}/s`,
      `${cost.toFixed(2)} × the cost of the bare route`,
      `2.0 ${passed(cost <= 2)}`,
    ],
    [`gateway by itself, ${partnerCount} at once`, `${gatewayMs.toFixed(1)} ms (median)`, '', ''],
    [
      `POST /v1/payments, ${partnerCount} partners at once`,
      `${paymentMs.toFixed(1)} ms (median)`,
      `${addedMs.toFixed(1)} ms more than the gateway`,
      `10 ms ${passed(addedMs <= 10)}`,
    ],
  ];
  return {
    json: { machine: machine(), barePingPerSecond: barePing, pingPerSecond: ping, gatewayMs, paymentMs },
    text: [`The partner API; ${machine()}`, table(['what', 'measured', 'against', 'at most'], rows)].join(
      '\n\n',
    ),
  };
}

async function requestsPerSecond(url: string, headers: Record<string, string>): Promise<number> {
  await autocannon({ url, headers, connections: 50, duration: 2 });
  const { requests, non2xx } = await autocannon({ url, headers, connections: 50, duration: 6 });
  if (non2xx > 0) throw new Error(`${non2xx} answers of ${url} were not 200`);
  return requests.average;
}

const newLink = () =>
  `https://qr.nspk.ru/AD${randomUUID().replaceAll('-', '').toUpperCase().slice(0, 30)}?type=02&sum=10000&cur=RUB`;

async function call(method: string, url: string, body: object, headers: Record<string, string> = {}) {
  const response = await fetch(url, {
    method,
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  });
  return (await response.json()) as Record<string, string>;
}

function expectSucceeded(outcome: string | undefined): void {
  if (outcome !== 'succeeded') throw new Error(`a payment ended as ${outcome}`);
}

/**
 * Median time over some seconds, with a fixed number of callers in a loop. They start at different moments: the gateway
 * always takes the same time, so otherwise all would call at once and the median would be that of a queue of fifty.
 */
async function medianMs(callers: number, work: (caller: number) => Promise<void>): Promise<number> {
  const times: number[] = [];
  const endAt = performance.now() + payForMs;
  await Promise.all(
    Array.from({ length: callers }, async (_, caller) => {
      await new Promise(resolve => setTimeout(resolve, (caller * gatewayDelayMs) / callers));
      while (performance.now() < endAt) {
        const startedAt = performance.now();
        await work(caller);
        times.push(performance.now() - startedAt);
      }
    }),
  );
  return times.sort((a, b) => a - b)[times.length >> 1]!;
}
