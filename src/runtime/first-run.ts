import { randomUUID } from 'node:crypto';
import { programName } from '../base/program-name.ts';
import type { Settings } from '../base/settings.ts';
import type { AuditContext } from '../db/audit/index.ts';
import type { Keyring } from '../db/secrets/index.ts';
import { topUp } from '../ledger/index.ts';
import { createFirstAdmin, listOperators, setupUrl } from '../operators/index.ts';
import { createKey, createPartner, listPartners } from '../partners/index.ts';

type DemoPartner = NonNullable<Awaited<ReturnType<typeof createDemoPartner>>>;

const demoBalanceMicroUsdt = 1_000_000_000n;

/** For a new installation: a partner to try the service with. Its keys are returned here and stored nowhere. */
export async function createDemoPartner(audit: AuditContext, keyring: Keyring) {
  if ((await listPartners(audit.pool)).length > 0) return undefined;
  const { partnerId } = await createPartner(audit, 'Demonstration shop');
  await topUp(audit, {
    partnerId,
    mode: 'live',
    reference: 'demonstration',
    microUsdt: demoBalanceMicroUsdt,
  });
  const issue = async (mode: 'test' | 'live') => {
    const creation = await createKey(audit, keyring, { partnerId, mode, allowedAddresses: [] });
    if (creation.outcome !== 'created') throw new Error(`no key for the demonstration: ${creation.outcome}`);
    return creation.key;
  };
  return { testKey: await issue('test'), liveKey: await issue('live') };
}

const sampleLink =
  'https://qr.nspk.ru/AD10004MV5CJ3D638358RO81129CE63P?type=02&bank=100000000004&sum=30510&cur=RUB&crc=B754';

/** The keys, and commands for a first payment to copy. */
export function describeDemoPartner({ testKey, liveKey }: DemoPartner, address: string): string {
  const call = (path: string, ...rest: string[]) =>
    [`curl -sw '\\n' "${address}/v1/${path}" -H "Authorization: Bearer $KEY"`, ...rest].join(' ');
  const json = (body: object) => `-H 'Content-Type: application/json' -d '${JSON.stringify(body)}'`;
  return [
    'A demo partner was created. Its keys are shown only once:',
    '',
    `  test key   ${testKey}`,
    `  live key   ${liveKey}   (pays through the simulator)`,
    '',
    'A first payment, to copy and paste:',
    '',
    `  KEY=${testKey}`,
    `  ${call('ping')}`,
    `  ${call('quote', json({ amount_rub: '305.10' }))}`,
    `  ${call('qr/resolve', json({ qr_url: sampleLink }))}`,
    `  ${call('payments', `-H 'Idempotency-Key: ${randomUUID()}'`, json({ qr_url: sampleLink, amount_rub: '305.10', external_id: 'order-1' }))}`,
    `  ${call(`payments/$(${call('payments?limit=1')} | sed 's/.*"data":\\[{"id":"\\([^"]*\\)".*/\\1/')`)}`,
    '',
  ].join('\n');
}

/**
 * How the first operator signs in, as long as nobody has. In production, output ends up in logs, so there a setup link is
 * created only by the command line.
 */
export async function createFirstSetupLink(
  audit: AuditContext,
  keyring: Keyring,
  { production, publicUrl }: Settings,
  address: string,
): Promise<string | undefined> {
  if (production) {
    const hasNone = (await listOperators(audit.pool)).length === 0;
    return hasNone
      ? `The console has no operators yet: ${programName} operator create --name NAME --role admin\n`
      : undefined;
  }
  const first = await createFirstAdmin(audit, keyring);
  if (!first) return undefined;
  return [
    `Set a password for the first operator of the console, ${first.operator.name}. This link works once, for 24 hours:`,
    '',
    `  ${setupUrl(publicUrl ?? address, first.token)}`,
    '',
  ].join('\n');
}
