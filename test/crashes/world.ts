import { randomUUID } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Id, idFromUuid } from '../../src/base/ids.ts';
import type { Pool } from '../../src/db/pool.ts';
import type { Mode } from '../../src/ledger/index.ts';
import type { BankSide } from '../../src/runtime/simulator.ts';
import { type Service, startService } from '../helpers/cli.ts';
import { createPartnerWithKeys, secretKey, setRate } from '../helpers/partners.ts';
import { type BehaviourName, behaviours } from './behaviours.ts';

/** One answer to a partner. */
export interface Answer {
  httpStatus: number;
  id?: Id<'pay'>;
  status?: string;
  code?: string;
}

/** A payment that a partner wants: the same key and body however often it is requested. */
export interface Attempt {
  behaviour: BehaviourName;
  mode: Mode;
  apiKey: string;
  idempotencyKey: string;
  qrUrl: string;
  qrcId: string;
  amountKopecks: number;
  /** The locked quote that it is asked with. */
  quoteId?: string;
  faultIds: string[];
  answers: Answer[];
}

/** Which payments are held where. */
export type CrashPoints = Map<Attempt, string>;

type Customer = Awaited<ReturnType<typeof createPartnerWithKeys>>;

/** A database with partners, the bank side, and all payments that were requested. */
export interface World {
  pool: Pool;
  bank: BankSide;
  customers: Customer[];
  attempts: Attempt[];
  /** Of the services, and of commands with the same crash points. */
  env: Record<string, string>;
  /** For the next process that is started. */
  setPoints(points: CrashPoints): Promise<void>;
  /** Starts a service on this database; payments with a crash point do not get past it. */
  start(points?: CrashPoints): Promise<Service>;
  /** Sets crash points in a running service; with none, it continues. */
  arm(service: Service, points: CrashPoints): Promise<void>;
  /** Ends every service that was started here and still runs. */
  close(): Promise<void>;
}

const preload = new URL('./crash-point.process.ts', import.meta.url).href;

export interface WorldOptions {
  pool: Pool;
  url: string;
  bank: BankSide;
  folder: string;
  partners?: number;
}

export async function createWorld({ pool, url, bank, folder, partners = 1 }: WorldOptions): Promise<World> {
  await setRate(pool);
  const customers: Customer[] = [];
  for (let count = 0; count < partners; count++)
    customers.push(await createPartnerWithKeys(pool, 10n ** 12n));
  const env = {
    DATABASE_URL: url,
    SECRET_KEY: secretKey,
    DATA_DIR: folder,
    GATEWAY_URL: bank.url,
    GATEWAY_TOKEN: bank.token,
    RATE_SOURCES: 'fixed:92.50',
    NODE_OPTIONS: `--import ${preload}`,
    CRASH_POINTS_FILE: join(folder, `points of ${customers[0]!.partnerId}`),
  };
  const started: Service[] = [];
  const world: World = {
    pool,
    bank,
    customers,
    attempts: [],
    env,
    setPoints: async points =>
      writeFileSync(env.CRASH_POINTS_FILE, JSON.stringify(await nameAll(world, points))),
    start: async (points = new Map()) => {
      await world.setPoints(points);
      const service = await startService(env);
      started.push(service);
      return service;
    },
    arm: async (service, points) => {
      const named = await nameAll(world, points);
      writeFileSync(env.CRASH_POINTS_FILE, JSON.stringify(named));
      process.kill(service.pid, 'SIGUSR2');
      const isSet = () => service.output().includes(`crash points: ${named.length}\n`);
      await until(isSet, 10_000, () => 'the service has not read its crash points');
    },
    close: async () => {
      await Promise.all(started.map(service => service.stop('SIGKILL')));
    },
  };
  return world;
}

/** Each payment by all its names; the first entry is for steps that are about no payment in particular. */
async function nameAll(world: World, points: CrashPoints): Promise<[name: string, point: string][]> {
  const states = await readPaymentStates(world);
  const named = [...points].flatMap(([{ idempotencyKey, qrcId }, point]): [string, string][] => {
    const id = states.get(idempotencyKey)?.id;
    return [[idempotencyKey, point], [qrcId, point], ...(id ? [[id, point] satisfies [string, string]] : [])];
  });
  const [first] = points.values();
  return first ? [['any payment', first], ...named] : [];
}

// biome-ignore lint/suspicious/noExplicitAny: the caller knows the shape of the answer.
export async function callBank({ bank }: World, method: string, path: string, body?: object): Promise<any> {
  const response = await fetch(`${bank.url}${path}`, {
    method,
    headers: { authorization: `Bearer ${bank.token}` },
    body: body ? JSON.stringify(body) : null,
    signal: AbortSignal.timeout(10_000),
  });
  if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${await response.text()}`);
  return response.json();
}

/** Makes a code that behaves like this when it is paid. Amounts differ, so that no payment is mistaken for another. */
export async function newAttempt(
  world: World,
  behaviour: BehaviourName,
  customer = world.attempts.length % world.customers.length,
): Promise<Attempt> {
  const { mode, kopecks, faults } = behaviours[behaviour];
  const rubles = 100 + (world.attempts.length % 1_000);
  const amountKopecks = rubles * 100 + kopecks;
  const qr = await callBank(world, 'POST', '/sim/qrs', { scenario: 'C2B', amount_kopecks: amountKopecks });
  const faultIds = [];
  for (const fault of faults) {
    const { id } = await callBank(world, 'PUT', '/sim/faults', { qrc_id: qr.qrc_id, ...fault });
    faultIds.push(id);
  }
  const { liveKey, testKey } = world.customers[customer]!;
  const attempt = {
    behaviour,
    mode,
    apiKey: mode === 'live' ? liveKey : testKey,
    idempotencyKey: randomUUID(),
    qrUrl: qr.link,
    qrcId: qr.qrc_id,
    amountKopecks,
    faultIds,
    answers: [],
  };
  world.attempts.push(attempt);
  return attempt;
}

/** Requests the payment once. Undefined when there was no answer: the process died, or it took too long. */
export async function requestPayment(
  service: Service,
  attempt: Attempt,
  withinMs = 90_000,
): Promise<Answer | undefined> {
  try {
    const response = await fetch(`${service.address}/v1/payments`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${attempt.apiKey}`,
        'content-type': 'application/json',
        'idempotency-key': attempt.idempotencyKey,
      },
      body: JSON.stringify({ qr_url: attempt.qrUrl, quote_id: attempt.quoteId }),
      signal: AbortSignal.timeout(withinMs),
    });
    const { id, status, error } = (await response.json()) as {
      id?: Id<'pay'>;
      status?: string;
      error?: { code: string };
    };
    const answer = {
      httpStatus: response.status,
      ...(id && status ? { id, status } : {}),
      ...(error ? { code: error.code } : {}),
    };
    attempt.answers.push(answer);
    return answer;
  } catch {
    return undefined;
  }
}

export const isFinal = (answer: { status?: string | undefined } | undefined) =>
  answer?.status === 'succeeded' || answer?.status === 'failed';

/** The state of a payment in the database. */
export interface PaymentState {
  id: Id<'pay'>;
  status: string;
  /** Unfinished and without a lease: it waits for its next poll. */
  isScheduled: boolean;
}

export async function readPaymentStates({ pool }: World): Promise<Map<string, PaymentState>> {
  const { rows } = await pool.query<{ key: string; id: string; status: string; is_scheduled: boolean }>(
    `SELECT p.idempotency_key AS key, p.id, p.status, o.payment_id IS NOT NULL AND o.lease_holder IS NULL AS is_scheduled
       FROM payments p
       LEFT JOIN open_payments o ON o.partner_id = p.partner_id AND o.mode = p.mode AND o.payment_id = p.id
      WHERE NOT p.rejected`,
  );
  return new Map(
    rows.map(({ key, id, status, is_scheduled: isScheduled }) => [
      key,
      { id: idFromUuid('pay', id), status, isScheduled },
    ]),
  );
}

/** Makes payments without a lease due now. */
export async function makeDue({ pool }: World, mode?: Mode): Promise<void> {
  await pool.query(
    'UPDATE open_payments SET next_at = now() WHERE lease_holder IS NULL AND next_at > now() AND mode = coalesce($1, mode)',
    [mode],
  );
}

/** Makes all payments of a process that was killed due at once: a claim that found only some of them would hold up the others. */
export const makeAllDue = ({ pool }: World) => pool.query('UPDATE open_payments SET next_at = now()');

/** The leases of the dead last for an hour: what is finished soon was taken over, and did not wait for their end. */
export const extendLeases = ({ pool }: World) =>
  pool.query("UPDATE open_payments SET next_at = now() + interval '1 hour' WHERE lease_holder IS NOT NULL");

export async function until(
  condition: () => boolean | Promise<boolean>,
  withinMs: number,
  describe: () => string,
): Promise<void> {
  for (const endMs = Date.now() + withinMs; ; await sleep(50)) {
    const met = condition();
    if (met === true || (met !== false && (await met))) return;
    if (Date.now() > endMs) throw new Error(`not after ${withinMs} ms: ${describe()}`);
  }
}
