import { join } from 'node:path';
import type { DriverReport, Plan, Window } from '../driver/plan.ts';
import { run } from '../process.ts';
import type { PayingPartner } from './partners.ts';

const driver = join(import.meta.dirname, '..', 'driver.process.ts');

/** Has a process of its own put the load on a server. */
export async function drive(plan: Plan): Promise<DriverReport> {
  return JSON.parse(await run(process.execPath, [driver], { input: JSON.stringify(plan) }));
}

/** As `drive`, for a load that must be answered in full: any other answer than the right one ends the bench. */
export async function driveWell(plan: Plan): Promise<DriverReport> {
  const report = await drive(plan);
  for (const { refused } of report.windows)
    if (Object.keys(refused).length > 0) throw new Error(`not all was answered: ${JSON.stringify(refused)}`);
  return report;
}

/** The first request with a key costs more than those that follow: it is looked up, and its use is put on record. */
export async function greet(address: string, partners: PayingPartner[]): Promise<void> {
  const targets = partners.map(({ key }) => ({ path: '/v1/ping', key }));
  const plan = { address, targets, work: 'get', load: { connections: 64 } } as const;
  await driveWell({ ...plan, warmUpMs: 0, windowMs: 4_000, windows: 1 });
}

export const payTargets = (partners: PayingPartner[]) =>
  partners.map(({ key }) => ({ path: '/v1/payments', key }));

export const perSecond = ({ succeeded, seconds }: Window) => succeeded / seconds;

/** How long to warm up and to count, from what the caller of the bench wants. */
export const timing = (seconds: number) => ({
  warmUpMs: seconds * 500,
  windowMs: seconds * 1_000,
  windows: 1,
});
