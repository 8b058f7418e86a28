import { join } from 'node:path';
import { idFromUuid } from '../../src/base/ids.ts';
import type { Target, Window } from '../driver/plan.ts';
import { start } from '../process.ts';
import type { Context } from './context.ts';
import { driveStrictly, perSecond, timing } from './drive.ts';
import type { BenchEnvironment } from './environment.ts';
import { type Figure, latency, rate } from './figures.ts';

const connections = 64;
/** Of the rate of the bare route. */
const limits: Record<string, number> = { 'GET payment': 0.5, 'GET list of 20': 0.25 };
const bareRoute = join(import.meta.dirname, '..', 'bare.process.ts');

/** Reads, each compared with a Fastify route that returns a constant. */
export async function readsSection(context: Context): Promise<Figure[]> {
  const environment = await context.environment();
  const measure = async (name: string, address: string, targets: Target[]): Promise<Window> => {
    context.progress(`${name} …`);
    const load = { connections };
    const plan = { address, targets, load, ...timing(context.seconds) };
    return (await driveStrictly({ ...plan, work: 'get' })).windows[0]!;
  };
  const bare = await start(bareRoute, [], {});
  const bareWindow = await measure('GET a bare route', bare.address, [{ path: '/v1/ping' }]).finally(
    bare.stop,
  );
  const figures: Figure[] = [figureOf('a bare Fastify route', bareWindow)];
  for (const [name, targets] of Object.entries(await targetsOf(environment)))
    figures.push(figureOf(name, await measure(name, environment.service.address, targets), bareWindow));
  return figures;
}

async function targetsOf({ pool, partners }: BenchEnvironment): Promise<Record<string, Target[]>> {
  const forAllPartners = (path: string) => partners.map(({ key }) => ({ path, key }));
  const { rows } = await pool.query<{ partner_id: string; id: string }>(
    `SELECT partner_id, (max(id::text)) AS id FROM payments WHERE mode = 'test' GROUP BY partner_id`,
  );
  const latest = new Map(
    rows.map(row => [idFromUuid('prt', row.partner_id), idFromUuid('pay', row.id)] as const),
  );
  return {
    'GET payment': partners.map(({ partnerId, key }) => ({
      path: `/v1/payments/${latest.get(partnerId)}`,
      key,
    })),
    'GET list of 20': forAllPartners('/v1/payments?limit=20'),
    'GET balance': forAllPartners('/v1/balance'),
    'GET ping': forAllPartners('/v1/ping'),
  };
}

function figureOf(name: string, window: Window, bare?: Window): Figure {
  const { p50Ms, p99Ms } = window;
  const values = { connections, perSecond: perSecond(window), p50Ms, p99Ms };
  const figure = {
    what: `${name}, ${connections} connections`,
    measured: `${rate(perSecond(window))}; ${latency(window)}`,
    values,
  };
  if (!bare) return figure;
  const ratio = perSecond(window) / perSecond(bare);
  const limit = limits[name];
  const bar = limit && ({ name: `${name} ÷ bare route`, value: ratio, limit, rule: '≥' } as const);
  return {
    ...figure,
    against: `${ratio.toFixed(2)} × the bare route`,
    values: { ...values, ratio },
    ...(bar ? { bar } : {}),
  };
}
