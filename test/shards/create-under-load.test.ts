import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, expect, test } from 'vitest';
import { uuidFromId } from '../../src/base/ids.ts';
import { openPool } from '../../src/db/pool.ts';
import { sessionOfAll } from '../../src/db/shards/sessions.ts';
import { verifyLedger } from '../../src/ledger/index.ts';
import { kopeckProcess, type Service, startService } from '../helpers/cli.ts';
import { createDatabase } from '../helpers/database.ts';
import { newFolder } from '../helpers/folders.ts';
import { freePort } from '../helpers/free-port.ts';
import { createPartnerWithKeys, secretKey, setRate } from '../helpers/partners.ts';
import { startSimulator } from '../helpers/simulator.ts';

const { pool, url } = await createDatabase();
await setRate(pool);
const simulator = await startSimulator();
// Payments stay under way for a moment, so that two of the same code meet.
await simulator.call('PUT', '/sim/faults', {
  on: 'pay',
  kind: 'finish_later',
  ms: 300,
  outcome: 'succeeded',
  times: null,
});

let service: Service;
afterAll(() => service?.stop('SIGKILL'));

interface Partner {
  key: string;
  partnerId: Parameters<typeof uuidFromId>[0];
}

async function newPartner(): Promise<Partner> {
  const { partnerId, liveKey } = await createPartnerWithKeys(pool, 10n ** 12n);
  return { partnerId, key: liveKey };
}

/** The last answer to a partner, and those before it. */
interface Paid {
  partner: Partner;
  code: string;
  end: string;
  /** When and how the calls before the last one ended. */
  before: { atMs: number; answer: string }[];
}

/** As the contract says: a request without a final answer is repeated with its key. */
async function payToTheEnd(partner: Partner, code: string): Promise<Paid> {
  const key = randomUUID();
  const before: Paid['before'] = [];
  for (let tries = 0; tries < 600; tries++) {
    const answer = await callOnce(partner, code, key);
    if (answer === 'succeeded' || answer === 'duplicate_qr_in_flight')
      return { partner, code, end: answer, before };
    before.push({ atMs: performance.now(), answer });
    await sleep(100);
  }
  throw new Error(`no final answer: ${before.at(-1)?.answer}`);
}

async function callOnce({ key }: Partner, code: string, idempotencyKey: string): Promise<string> {
  const response = await fetch(`${service.address}/v1/payments`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'idempotency-key': idempotencyKey, connection: 'close' },
    body: JSON.stringify({ qr_url: `https://qr.nspk.ru/${code}?type=01&sum=1000&cur=RUB` }),
    signal: AbortSignal.timeout(20_000),
  }).catch(() => undefined);
  // The port is closed while the processes are replaced.
  if (!response) return 'no connection';
  const body = (await response.json()) as { status?: string; error?: { code: string } };
  if (response.status === 200) return body.status!;
  if (response.status === 503) {
    expect(response.headers.get('retry-after')).not.toBeNull();
    return '503';
  }
  return body.error!.code;
}

/** Reusable: the bank side itself would pay it twice. */
const newCode = () => `AS${randomUUID().replaceAll('-', '').toUpperCase().slice(0, 30)}`;

/** All partners want to pay the same code at the same time, again and again. */
function startLoad(partners: Partner[]) {
  const calls: Paid[] = [];
  let isRunning = true;
  const lanes = Array.from({ length: 6 }, async () => {
    while (isRunning) {
      const code = newCode();
      calls.push(...(await Promise.all(partners.map(partner => payToTheEnd(partner, code)))));
    }
  });
  return async () => {
    isRunning = false;
    await Promise.all(lanes);
    return calls;
  };
}

test('a shard is created under load: no payment is lost, and no code has two payments at a time', {
  timeout: 300_000,
}, async () => {
  const env = { DATABASE_URL: url, SECRET_KEY: secretKey, DATA_DIR: newFolder() };
  service = await startService({
    ...env,
    PORT: `${await freePort()}`,
    PROCESSES: '2',
    GATEWAY_URL: simulator.address,
    RATE_SOURCES: 'fixed:92.50',
    ROLES: 'api,worker',
  });
  const old = [await newPartner(), await newPartner()];
  const stopOld = startLoad(old);
  await sleep(3_000);
  const startedMs = performance.now();
  const created = await kopeckProcess(env, 'shard', 'create', '1', '--json');
  const createdMs = performance.now();
  expect(created.stderr + created.stdout).toContain('"created": true');
  expect(JSON.parse(created.stdout)).toMatchObject({ shard: 1, processes: 2, processes_left: 0 });

  const added = await newPartner();
  const { rows } = await pool.query('SELECT shard FROM partners WHERE id = $1', [
    uuidFromId(added.partnerId),
  ]);
  expect(rows).toEqual([{ shard: 1 }]);
  const stopAll = startLoad([...old, added]);
  await sleep(6_000);
  const calls = [...(await stopOld()), ...(await stopAll())];

  // Each code was paid, at least once, and what partners were answered is on record.
  const paid = Map.groupBy(calls, ({ code }) => code);
  for (const [code, answers] of paid)
    expect(
      answers.map(({ end }) => end),
      code,
    ).toContain('succeeded');
  const all = openPool({ ...pool.options, session: sessionOfAll(2) });
  const { rows: payments } = await all.query(
    `SELECT partner_id, qrc_id, created_at, settled_at FROM payments WHERE mode = 'live' AND status = 'succeeded'`,
  );
  const succeeded = calls.filter(({ end }) => end === 'succeeded');
  expect(payments.map(({ partner_id, qrc_id }) => `${partner_id} ${qrc_id}`).sort()).toEqual(
    succeeded.map(({ partner, code }) => `${uuidFromId(partner.partnerId)} ${code}`).sort(),
  );
  // One after the other at most: a request that was repeated may come when the other partner's payment has ended.
  for (const [code, ofCode] of Map.groupBy(payments, ({ qrc_id }) => qrc_id)) {
    const inOrder = ofCode.sort((a, b) => a.created_at - b.created_at);
    for (const [nth, next] of inOrder.slice(1).entries())
      expect(next.created_at >= inOrder[nth].settled_at, `${code} had two payments at a time`).toBe(true);
  }
  const { body: orders } = await simulator.call('GET', '/orders?since=2020-01-01T00:00:00Z&limit=1000');
  const paidOrders = orders.orders.filter(({ state }: { state: string }) => state === 'succeeded');
  if (orders.next_cursor === null) expect(paidOrders).toHaveLength(payments.length);
  expect((await verifyLedger(all)).findings).toEqual([]);
  await all.end();

  // Refusals end when the processes have joined again.
  const refusals = calls.flatMap(({ before }) => before.filter(({ answer }) => answer !== 'processing'));
  expect(new Set(refusals.map(({ answer }) => answer))).toEqual(
    new Set(['503', 'no connection'].filter(answer => refusals.some(one => one.answer === answer))),
  );
  const last = Math.max(0, ...refusals.map(({ atMs }) => atMs - startedMs));
  console.info(
    `the command took ${Math.round(createdMs - startedMs)} ms; refusals until ${Math.round(last)} ms after its start;`,
    Object.fromEntries(
      Array.from(
        Map.groupBy(refusals, ({ answer }) => answer),
        ([name, of]) => [name, of.length],
      ),
    ),
    `payments ${payments.length}`,
  );
  // The command waits for the processes to join; then they begin to serve, which a busy machine makes slow.
  expect(last - (createdMs - startedMs)).toBeLessThan(30_000);
});
