import { systemClock as clock } from '../../src/base/clock.ts';
import { idFromUuid, newId, uuidFromId } from '../../src/base/ids.ts';
import type { Pool } from '../../src/db/postgres/index.ts';
import { openSession } from '../../src/operators/sessions.ts';
import { storeManyPayments } from '../../test/helpers/many-payments.ts';
import type { Context } from './context.ts';
import { type BenchEnvironment, openEnvironment } from './environment.ts';
import { type Figure, latency, whole } from './figures.ts';

const stored = 1_000_000;
const maxMs = 100;

/** The API of the console with a million stored payments, in its own folder; one request at a time, like a person. */
export async function consoleSection({ progress, seconds }: Context): Promise<Figure[]> {
  const environment = await openEnvironment('console', progress);
  try {
    progress(`Storing ${whole(stored)} payments of all kinds …`);
    const { partners } = await storeManyPayments(environment.pool, stored, 100);
    const { address } = environment.service;
    const headers = await signIn(environment);
    const ask = (path: string) => timeRequests(`${address}${path}`, headers, (seconds * 1_000) / 3);
    const bare = await ask('/healthz');
    const figures: Figure[] = [];
    for (const [name, query] of Object.entries(await searchesOf(environment.pool, partners))) {
      progress(`Console: ${name} …`);
      figures.push(figureOf(name, await ask(`/console/api${query}`), bare));
    }
    return [{ ...figureOf('healthz', bare, bare), against: '' }, ...figures];
  } finally {
    await environment.close();
  }
}

async function signIn({ pool }: BenchEnvironment): Promise<Record<string, string>> {
  const operatorId = newId('opr', clock);
  await pool.query(
    `INSERT INTO operators (id, name, role, created_at, password_hash, totp_secret) VALUES ($1, 'bench', 'viewer', now(), 'none', $2)`,
    [uuidFromId(operatorId), Buffer.alloc(1)],
  );
  const client = { address: '127.0.0.1', userAgent: 'bench' };
  const { token } = await openSession(pool, clock, operatorId, client);
  return { cookie: `__Host-kopeck=${token}` };
}

/** Searches of operators, from the most common to the most expensive. */
async function searchesOf(pool: Pool, partners: string[]): Promise<Record<string, string>> {
  const { rows } = await pool.query(
    `SELECT id, qrc_id, created_at FROM payments WHERE idempotency_key = 'key-500001'`,
  );
  const [{ id, qrc_id, created_at }] = rows;
  const paymentId = idFromUuid('pay', id);
  const hour = new Date(created_at.getTime() + 3_600_000);
  const searches: Record<string, string> = {
    'the newest': '',
    'half a million further down': `after=${paymentId}`,
    'by id': `payment_id=${paymentId}`,
    'by external id': 'external_id=order-500001',
    'by code': `qr=${qrc_id}`,
    'by a recipient that half of all go to': 'recipient=пятёрочка',
    'by recipients that few go to': 'recipient=ромашка 77',
    'by partner': `partner_id=${partners[3]}`,
    'by an amount that half of all have': 'amount_rub=100',
    'by an amount that few have': 'amount_rub=123.45',
    'in test mode': 'mode=test',
    'that failed': 'status=failed',
    'in review': 'status=processing&status_detail=manual_review',
    'of an hour': `created_after=${created_at.toISOString()}&created_before=${hour.toISOString()}`,
    'by words that may mean anything': 'q=order-500001',
    'by a name that nobody has': 'q=nobody',
    // No payment of this partner has the most frequent amount, so the search reads as many rows as a page may.
    'by what nothing fits, as far as a page looks': `partner_id=${partners[3]}&amount_rub=100`,
  };
  return {
    ...Object.fromEntries(
      Object.entries(searches).map(([name, query]) => [`payments ${name}`, `/payments?${encodeURI(query)}`]),
    ),
    'one payment with its timeline': `/payments/${paymentId}`,
    review: '/review',
    requests: '/requests',
  };
}

interface Timed {
  p50Ms: number;
  p99Ms: number;
  requests: number;
}

async function timeRequests(url: string, headers: Record<string, string>, forMs: number): Promise<Timed> {
  const times: number[] = [];
  const warmUntil = performance.now() + forMs / 4;
  const until = warmUntil + forMs;
  while (performance.now() < until) {
    const startedAt = performance.now();
    const response = await fetch(url, { headers });
    await response.text();
    if (response.status !== 200) throw new Error(`${url} answers ${response.status}`);
    if (startedAt >= warmUntil) times.push(performance.now() - startedAt);
  }
  times.sort((one, other) => one - other);
  const at = (share: number) => times[Math.min(times.length - 1, Math.floor(times.length * share))]!;
  return { p50Ms: at(0.5), p99Ms: at(0.99), requests: times.length };
}

function figureOf(name: string, timed: Timed, bare: Timed): Figure {
  const ratio = timed.p50Ms / bare.p50Ms;
  return {
    what: `console, ${whole(stored)} payments: ${name}`,
    measured: latency(timed),
    against: `${ratio.toFixed(1)} × healthz`,
    values: { ...timed, ratio },
    ...(name === 'payments the newest' || name === 'payments by what nothing fits, as far as a page looks'
      ? { bar: { name: `console: ${name}, ms`, value: timed.p99Ms, limit: maxMs, rule: '<' as const } }
      : {}),
  };
}
