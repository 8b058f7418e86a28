import { join } from 'node:path';
import type { DriverReport, Plan, Window } from '../driver/plan.ts';
import { run } from '../process.ts';
import type { PayingPartner } from './partners.ts';

const driver = join(import.meta.dirname, '..', 'driver.process.ts');

/** Runs a load plan in a separate process. */
export async function drive(plan: Plan): Promise<DriverReport> {
  return JSON.parse(await run(process.execPath, [driver], { input: JSON.stringify(plan) }));
}

/** Like `drive`, but an unexpected answer fails the bench. */
export async function driveStrictly(plan: Plan): Promise<DriverReport> {
  const report = await drive(plan);
  for (const { refused } of report.windows)
    if (Object.keys(refused).length > 0) throw new Error(`unexpected answers: ${JSON.stringify(refused)}`);
  return report;
}

/** The first request with a key is slower than later ones: the key is read and its use is recorded. */
export async function warmUpKeys(address: string, partners: PayingPartner[]): Promise<void> {
  const targets = partners.map(({ key }) => ({ path: '/v1/ping', key }));
  const plan = { address, targets, work: 'get', load: { connections: 64 } } as const;
  await driveStrictly({ ...plan, warmUpMs: 0, windowMs: 4_000, windows: 1 });
}

export const payTargets = (partners: PayingPartner[]) =>
  partners.map(({ key }) => ({ path: '/v1/payments', key }));

export const perSecond = ({ succeeded, seconds }: Window) => succeeded / seconds;

/** Warm-up and measuring time for the option `--seconds`. */
export const timing = (seconds: number) => ({
  warmUpMs: seconds * 500,
  windowMs: seconds * 1_000,
  windows: 1,
});

/** Payments over HTTP, from the request to the final answer. */
export const drivePayments = (
  { service }: { service: { address: string } },
  partners: PayingPartner[],
  connections: number,
  seconds: number,
): Promise<DriverReport> =>
  driveStrictly({
    address: service.address,
    targets: payTargets(partners),
    work: 'pay',
    load: { connections },
    ...timing(seconds),
  });

export const measurePayments = async (...load: Parameters<typeof drivePayments>): Promise<Window> =>
  (await drivePayments(...load)).windows[0]!;

/** The service's code is compiled while it runs: its first payments take several times as long as later ones. */
export async function warmUpPayments(
  environment: { service: { address: string }; partners: PayingPartner[] },
  { seconds, progress }: { seconds: number; progress(line: string): void },
): Promise<void> {
  progress('Payments, to warm up …');
  await measurePayments(environment, environment.partners, 256, seconds);
}
