import type { Context } from './context.ts';
import { driveStrictly, payTargets, timing } from './drive.ts';
import { type Figure, ms } from './figures.ts';

const connections = 50;
const bankMs = 200;

interface BankTimes {
  orders: number;
  resolveP50Ms: number;
  payP50Ms: number;
}

/** What the service adds to the time of a gateway that is not immediate, as the gateway itself measured it. */
export async function addedSection(context: Context): Promise<Figure[]> {
  const { service, bank } = await context.environment();
  const targets = payTargets(await context.livePartners());
  context.progress(`Live payments with a bank of ${bankMs} ms, ${connections} connections …`);
  await fetch(`${bank.address}/reset?pay_ms=${bankMs}`);
  try {
    const { windows } = await driveStrictly({
      address: service.address,
      targets,
      work: 'pay',
      load: { connections, spreadMs: bankMs },
      ...timing(context.seconds),
    });
    const times = (await (await fetch(`${bank.address}/times`)).json()) as BankTimes;
    return [figureOf(windows[0]!.p50Ms, times)];
  } finally {
    await fetch(`${bank.address}/reset`);
  }
}

function figureOf(p50Ms: number, { orders, resolveP50Ms, payP50Ms }: BankTimes): Figure {
  const bankP50Ms = resolveP50Ms + payP50Ms;
  const addedMs = p50Ms - bankP50Ms;
  return {
    what: `added to a live payment, ${connections} in flight, bank of ${bankMs} ms`,
    measured: `${addedMs.toFixed(1)} ms`,
    against: `median ${ms(p50Ms)}; the gateway took ${bankP50Ms.toFixed(1)} ms`,
    bar: { name: 'ms added to a live payment', value: addedMs, limit: 10, rule: '≤' },
    values: { addedMs, p50Ms, resolveP50Ms, payP50Ms, orders },
  };
}
