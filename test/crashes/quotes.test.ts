/** A service is killed while it pays with locked quotes. Each quote has one payment in the end, at its rate. */
import { expect, test } from 'vitest';
import { idFromUuid } from '../../src/base/ids.ts';
import { startAdditionsWorld } from './additions-world.ts';
import { holdAtPoints, requestUntilTaken, untilFinal, whileRefused } from './crash.ts';
import { findHarm } from './findings.ts';
import { type Attempt, newAttempt } from './world.ts';

const world = await startAdditionsWorld();
const points = [
  'before resolve',
  'before open',
  'after open',
  'before pay',
  'after pay',
  'before finish',
  'before answer',
];

interface Quote {
  quote_id: string;
  rate: string;
  amount_usdt: string;
}

async function lock(address: string, attempt: Attempt): Promise<Quote> {
  const send = () =>
    fetch(`${address}/v1/quote`, {
      method: 'POST',
      headers: { authorization: `Bearer ${attempt.apiKey}`, 'content-type': 'application/json' },
      body: JSON.stringify({ amount_rub: (attempt.amountKopecks / 100).toFixed(2), lock: true }),
    });
  const response = await whileRefused(send, ({ status }) => status);
  expect(response.status).toBe(200);
  return (await response.json()) as Quote;
}

test('killed between locking a quote and the answer: it is used once, at its rate', async () => {
  // A quote of the default 60 s could expire on a slow machine before it is used.
  world.env.QUOTE_LOCK_SEC = '900';
  const service = await world.start();
  const quotes = new Map<Attempt, Quote>();
  const held = new Map<Attempt, string>();
  for (const point of points) {
    const attempt = await newAttempt(world, 'success');
    const quote = await lock(service.address, attempt);
    attempt.quoteId = quote.quote_id;
    quotes.set(attempt, quote);
    held.set(attempt, point);
  }
  await world.arm(service, held);
  const { reached } = await holdAtPoints(world, service, held);
  expect(reached.size).toBe(points.length);
  await service.stop('SIGKILL');

  const next = await world.start();
  const attempts = [...quotes.keys()];
  expect(await untilFinal(world, next, attempts, 60_000)).toEqual([]);
  expect(await findHarm(world, attempts)).toEqual([]);
  for (const [attempt, quote] of quotes) {
    const { rows } = await world.pool.query<{ id: string; rate: string; used_by: string; usdt: string }>(
      `SELECT p.id, (p.rate_e4 / 1e4)::numeric(20, 4)::text AS rate, (p.micro_usdt / 1e6)::numeric(20, 6)::text AS usdt,
              (SELECT q.payment_id FROM locked_quotes q WHERE q.payment_id = p.id) AS used_by
         FROM payments p WHERE p.idempotency_key = $1 AND NOT p.rejected`,
      [attempt.idempotencyKey],
    );
    expect(rows).toEqual([
      { id: rows[0]!.id, rate: quote.rate, usdt: quote.amount_usdt, used_by: rows[0]!.id },
    ]);
    expect(attempt.answers.at(-1)!.id).toBe(idFromUuid('pay', rows[0]!.id));
    const second = { ...(await newAttempt(world, 'success')), quoteId: quote.quote_id };
    expect(await requestUntilTaken(next, second)).toMatchObject({ code: 'quote_used' });
  }
}, 120_000);
