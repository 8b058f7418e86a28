import type { Id } from '../../src/base/ids.ts';
import type { AuditContext } from '../../src/db/audit/index.ts';
import type { Keyring } from '../../src/db/secrets/index.ts';
import { topUp } from '../../src/ledger/index.ts';
import { createKey, createPartner, setLimits } from '../../src/partners/index.ts';
import { createVault, setWebhook } from '../../src/webhooks/index.ts';

export interface PayingPartner {
  partnerId: Id<'prt'>;
  key: string;
}

const unlimited = 1_000_000;
/** More than any run can spend. */
const funds = 10n ** 16n;
const concurrency = 8;

interface PartnerOptions {
  mode: 'test' | 'live';
  /** The address of a receiver, if they have a webhook. */
  receiver?: string;
}

/** Partners without effective limits. */
export async function createPartners(
  audit: AuditContext,
  keyring: Keyring,
  count: number,
  { mode, receiver }: PartnerOptions,
): Promise<PayingPartner[]> {
  const partners: PayingPartner[] = [];
  const vault = createVault(keyring);
  let left = count;
  const createSome = async () => {
    while (left-- > 0) {
      const partner = await createOne(audit, keyring, mode);
      if (receiver) await setWebhook(audit, vault, partner.partnerId, `${receiver}/${partner.partnerId}`);
      partners.push(partner);
    }
  };
  await Promise.all(Array.from({ length: concurrency }, createSome));
  return partners;
}

async function createOne(
  audit: AuditContext,
  keyring: Keyring,
  mode: PartnerOptions['mode'],
): Promise<PayingPartner> {
  const { partnerId } = await createPartner(audit, 'Bench');
  await setLimits(audit, partnerId, {
    createRps: unlimited,
    createBurst: unlimited,
    otherRps: unlimited,
    concurrent: unlimited,
  });
  await topUp(audit, { partnerId, mode, reference: 'bench', microUsdt: funds });
  const creation = await createKey(audit, keyring, { partnerId, mode, allowedAddresses: [] });
  if (creation.outcome !== 'created') throw new Error(`no key for a partner: ${creation.outcome}`);
  return { partnerId, key: creation.key };
}
