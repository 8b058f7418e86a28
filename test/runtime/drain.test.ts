import { randomUUID } from 'node:crypto';
import { Agent, request } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { newLink } from '../helpers/api.ts';
import { type Service, serviceEnv, startService } from '../helpers/cli.ts';
import { createDatabase, createPartnerWithKeys, setRate } from '../helpers/database.ts';

const { pool, url } = await createDatabase();
await setRate(pool);
const { testKey } = await createPartnerWithKeys(pool);
const drainSec = 5;

const nodes: Service[] = [];
afterAll(() => Promise.all(nodes.map(node => node.stop())));

async function startNode(processes: number): Promise<Service> {
  const settings = { PROCESSES: `${processes}`, ROLES: 'api', DRAIN_SEC: `${drainSec}` };
  const node = await startService({ ...serviceEnv(url), ...settings });
  nodes.push(node);
  return node;
}

interface Call {
  path: string;
  startedMs: number;
  /** A status, or the code of what broke. */
  answer: number | string;
}

const agent = new Agent({ keepAlive: true, maxSockets: 16 });
afterAll(() => agent.destroy());

function send(node: Service, method: string, path: string, body?: object): Promise<Call> {
  const startedMs = performance.now();
  const headers = { authorization: `Bearer ${testKey}`, 'idempotency-key': randomUUID() };
  return new Promise(resolve => {
    const end = (answer: number | string) => resolve({ path, startedMs, answer });
    const call = request(`${node.address}${path}`, { method, agent, headers }, response =>
      response
        .on('error', ({ message }) => end(message))
        .on('end', () => end(response.statusCode!))
        .resume(),
    );
    call
      .on('error', ({ code, message }: NodeJS.ErrnoException) => end(code ?? message))
      .end(body && JSON.stringify(body));
  });
}

const pay = (node: Service) => send(node, 'POST', '/v1/payments', { qr_url: newLink(1_000) });

/** Clients that send one request after the other on kept connections, to the first node that is ready. */
function startClients(first: Service) {
  const calls: Call[] = [];
  let current = first;
  let isStopped = false;
  const pickNode = async () => {
    while (!isStopped) {
      const isReady = async (node: Service) => (await send(node, 'GET', '/readyz')).answer === 200;
      const areReady = await Promise.all(nodes.map(isReady));
      current = nodes.find((_node, nth) => areReady[nth]) ?? current;
      await sleep(50);
    }
  };
  const callAgain = async (nth: number) => {
    while (!isStopped) {
      calls.push(await (nth % 2 ? pay(current) : send(current, 'GET', '/healthz')));
      await sleep(10);
    }
  };
  const running = Promise.all([pickNode(), ...Array.from({ length: 6 }, (_, nth) => callAgain(nth))]);
  return {
    calls,
    node: () => current,
    stop: async () => {
      isStopped = true;
      await running;
      return calls;
    },
  };
}

/** A payment may get 503 from a busy database, and that is an answer. */
const broken = (calls: Call[]) =>
  calls.filter(({ path, answer }) => (path === '/healthz' ? answer !== 200 : typeof answer === 'string'));

let first: Service;
let second: Service;
beforeAll(async () => {
  first = await startNode(2);
  second = await startNode(1);
});

test('two nodes stop one after the other, and clients with kept connections see no broken answer', async () => {
  const clients = startClients(first);
  await expect.poll(() => clients.calls.length).toBeGreaterThan(50);
  // On a busy machine a node may not be ready for a moment.
  await expect.poll(() => clients.node()).toBe(first);

  // The first leaves, and clients go to the second.
  const firstStopped = first.stop('SIGTERM');
  await expect.poll(() => clients.node(), { timeout: drainSec * 1_000 }).toBe(second);
  expect(await send(first, 'GET', '/healthz')).toMatchObject({ answer: 200 });
  expect(await firstStopped).toBe(0);
  expect(broken(clients.calls)).toEqual([]);

  // There is no other node: all that was sent before the port closes is answered.
  const before = clients.calls.length;
  const signalledMs = performance.now();
  const secondStopped = second.stop('SIGTERM');
  await sleep(drainSec * 1_000);
  expect(await secondStopped).toBe(0);
  const calls = await clients.stop();
  // A connection that is being opened when the port closes is refused, and opening it may take long on a busy machine.
  const portClosesMs = signalledMs + drainSec * 1_000 - 2_000;
  const sentInTime = calls.filter(({ startedMs }) => startedMs < portClosesMs);
  expect(sentInTime.length).toBeGreaterThan(before);
  expect(broken(sentInTime)).toEqual([]);
});
