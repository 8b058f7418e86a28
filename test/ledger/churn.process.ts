/**
 * One of several processes that move money at random until their input is closed. Every verdict is printed before the next
 * call: a verdict that this process has received must be in the ledger, whatever is killed when.
 */
import { parseArgs } from 'node:util';
import fc from 'fast-check';
import { systemClock as clock } from '../../src/base/clock.ts';
import type { Id } from '../../src/base/ids.ts';
import { openPool } from '../../src/db/postgres/pool.ts';
import { credit } from '../../src/ledger/index.ts';
import { batchLedger } from '../helpers/ledger.ts';

const { values } = parseArgs({
  options: {
    url: { type: 'string' },
    seed: { type: 'string' },
    partners: { type: 'string' },
    payments: { type: 'string' },
  },
});
const pool = openPool({ connectionString: values.url! });
const ledger = batchLedger(pool, clock);
const partners = values.partners!.split(',') as Id<'prt'>[];
const payments = values.payments!.split(',') as Id<'pay'>[];
const callers = 16;

let stopping = false;
process.stdin.on('end', () => {
  stopping = true;
});
process.stdin.resume();

/** A payment belongs to one partner and has one amount, as in the service; both follow from its index. */
const operations = fc.record({
  kind: fc.constantFrom('hold', 'hold', 'settle', 'release', 'credit'),
  payment: fc.nat(payments.length - 1),
  oddAmount: fc.boolean(),
});
const stream = fc.sample(operations, { numRuns: 20_000, seed: Number(values.seed) });

async function call({ kind, payment, oddAmount }: (typeof stream)[number]): Promise<string> {
  const item = {
    partnerId: partners[payment % partners.length]!,
    mode: payment % 3 === 0 ? 'test' : 'live',
    paymentId: payments[payment]!,
  } as const;
  const microUsdt = BigInt(1 + (payment % 50)) * 1_000_000n;
  switch (kind) {
    case 'hold':
      return (await ledger.hold({ ...item, microUsdt })).outcome;
    case 'settle':
      return (await ledger.settle(item)).outcome;
    case 'release':
      return (await ledger.release(item)).outcome;
    default: {
      const { partnerId, mode } = item;
      const amount = oddAmount ? microUsdt + 1n : microUsdt;
      const [verdict] = await credit(pool, clock, [
        { partnerId, mode, reference: `credit ${payment}`, microUsdt: amount },
      ]);
      return verdict!.outcome;
    }
  }
}

await Promise.all(
  Array.from({ length: callers }, async (_, caller) => {
    for (let index = caller; !stopping; index += callers) {
      const operation = stream[index % stream.length]!;
      try {
        const outcome = await call(operation);
        process.stdout.write(`${operation.kind} ${operation.payment} ${outcome}\n`);
      } catch {
        // No verdict: the posting may have happened or not. Like any caller, it tries again later.
        await new Promise(resolve => setTimeout(resolve, 50));
      }
    }
  }),
);
await pool.end();
