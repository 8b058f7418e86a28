import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { newLink } from '../helpers/api.ts';
import { childrenOf } from '../helpers/children.ts';
import { type Service, serviceEnv, startService } from '../helpers/cli.ts';
import { createDatabase, createPartnerWithKeys, setRate } from '../helpers/database.ts';
import { isRunning } from '../helpers/embedded-postgres.ts';

const { pool, url } = await createDatabase();
await setRate(pool);
const customer = await createPartnerWithKeys(pool);
const authorization = `Bearer ${customer.testKey}`;

const services: Service[] = [];
afterAll(async () => {
  await Promise.all(services.splice(0).map(service => service.stop()));
});

async function startTwo(): Promise<{ service: Service; workers: number[] }> {
  const service = await startService({ ...serviceEnv(url), PROCESSES: '2' });
  services.push(service);
  await untilBothServe(service);
  return { service, workers: childrenOf(service.pid) };
}

async function untilBothServe(service: Service): Promise<void> {
  while (!(await service.readMetrics()).includes('kopeck_processes 2\n')) await sleep(50);
}

/** On a new connection, so that any of the processes can get it. */
const get = (service: Service, path: string) =>
  fetch(`${service.address}${path}`, { headers: { authorization, connection: 'close' } });

async function pay(
  service: Service,
  key = randomUUID(),
  qrUrl = newLink(1_000),
): Promise<{ id: string; status: string }> {
  const response = await fetch(`${service.address}/v1/payments`, {
    method: 'POST',
    headers: { authorization, connection: 'close', 'idempotency-key': key },
    body: JSON.stringify({ qr_url: qrUrl }),
  });
  return (await response.json()) as { id: string; status: string };
}

/** Callers that connect without a pause. While no process listens they are refused, and that is an end too. */
function startCallers(service: Service) {
  const { port, hostname } = new URL(service.address);
  const waiting = new Set<Socket>();
  let ended = 0;
  const timer = setInterval(() => {
    if (waiting.size > 100) return;
    for (let nth = 0; nth < 20; nth++) {
      const socket = connect(Number(port), hostname);
      waiting.add(socket);
      socket
        .on('error', () => {})
        .on('close', () => {
          waiting.delete(socket);
          ended += 1;
        });
      socket.resume().write(`GET /healthz HTTP/1.1\r\nHost: ${hostname}\r\nConnection: close\r\n\r\n`);
    }
  }, 5);
  return { waiting: () => waiting.size, ended: () => ended, stop: () => clearInterval(timer) };
}

let shared: Awaited<ReturnType<typeof startTwo>>;
beforeAll(async () => {
  shared = await startTwo();
});

describe('kopeck start in two processes', () => {
  test('prints it, and both processes share their state', async () => {
    const { service, workers } = shared;
    expect(service.output()).toContain('processes  2');
    expect(workers).toHaveLength(2);
    const key = randomUUID();
    const link = newLink(1_000);
    const answers = await Promise.all(Array.from({ length: 8 }, () => pay(service, key, link)));
    expect(new Set(answers.map(({ id }) => id)).size).toBe(1);
    expect(answers.every(({ status }) => status === 'succeeded')).toBe(true);
  });

  test('one port of their own serves the metrics of both', async () => {
    const { service } = shared;
    for (let made = 0; made < 10; made++) expect((await get(service, '/v1/ping')).status).toBe(200);
    // A process that does not answer within a second is left out.
    await expect
      .poll(service.readMetrics)
      .toContain('http_request_duration_seconds_count{method="GET",route="/v1/ping",status="200"} 10\n');
    expect((await get(service, '/metrics')).status).toBe(404);
  });

  test('continues when one is killed, and replaces it', async () => {
    const { service, workers } = shared;
    process.kill(workers[0]!, 'SIGKILL');
    await expect.poll(() => service.output()).toContain('another takes its place');
    expect((await pay(service)).status).toBe('succeeded');
    await untilBothServe(service);
    expect(childrenOf(service.pid)).not.toContain(workers[0]);
  });

  test('closes a connection that waits for a process which then dies', async () => {
    const { service } = shared;
    const workers = childrenOf(service.pid);
    for (const worker of workers) process.kill(worker, 'SIGSTOP');
    const url = new URL(service.address);
    const connections = workers.map(() => connect(Number(url.port), url.hostname));
    await Promise.all(connections.map(connection => once(connection, 'connect')));
    const closed = connections.map(
      connection => new Promise(resolve => connection.on('error', () => {}).once('close', resolve)),
    );
    for (const worker of workers) process.kill(worker, 'SIGKILL');
    await Promise.all(closed);
    await untilBothServe(service);
  });

  test('keeps no caller waiting when both processes leave at the same time', async () => {
    const { service } = shared;
    const workers = childrenOf(service.pid);
    const callers = startCallers(service);
    await expect.poll(() => callers.ended()).toBeGreaterThan(200);
    for (const worker of workers) process.kill(worker, 'SIGTERM');
    await expect.poll(() => workers.filter(isRunning)).toEqual([]);
    callers.stop();
    await untilBothServe(service);
    await expect.poll(() => callers.waiting()).toBe(0);
  });

  test('stops both processes', async () => {
    const { service } = shared;
    const workers = childrenOf(service.pid);
    expect(workers).toHaveLength(2);
    expect(await service.stop('SIGTERM')).toBe(0);
    expect(workers.filter(isRunning)).toEqual([]);
  });

  test('workers end when the primary ends, however it ends', async () => {
    const { service, workers } = await startTwo();
    await service.stop('SIGKILL');
    await expect.poll(() => workers.filter(isRunning)).toEqual([]);
  });
});
