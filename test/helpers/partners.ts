import { systemClock } from '../../src/base/clock.ts';
import type { Id } from '../../src/base/ids.ts';
import { type Pool, transaction } from '../../src/db/postgres/pool.ts';
import { createKeyring } from '../../src/db/secrets/keyring.ts';
import { credit } from '../../src/ledger/index.ts';
import { createKey, createPartner, setLimits, type WantedKey } from '../../src/partners/index.ts';
import { createRateSources } from '../../src/rates/index.ts';
import { refreshRate } from '../../src/rates/refresh.ts';

export const secretKey = 'a secret key for the tests, long enough';
export const keyring = createKeyring([secretKey]);

export const auditContextOf = (pool: Pool, clock = systemClock) => ({ pool, clock, actor: 'test' });

/** A partner with this live balance and the test balance of every new partner. */
export async function createFundedPartner(pool: Pool, liveMicroUsdt: bigint): Promise<Id<'prt'>> {
  const { partnerId } = await createPartner(auditContextOf(pool), 'Test shop');
  const item = { partnerId, mode: 'live', reference: 'funding', microUsdt: liveMicroUsdt } as const;
  if (liveMicroUsdt > 0n) await transaction(pool, tx => credit(tx, systemClock, [item]));
  return partnerId;
}

/** Tests use rates that no market has. */
const anyRate = { minE4: 1n, maxE4: 10n ** 12n };

/** A rate of exactly 92.5000, as of now. */
export async function setRate(pool: Pool, clock = systemClock, rate = '92.50'): Promise<void> {
  const sources = createRateSources(
    [{ kind: 'fixed', name: 'fixed', rateE4: BigInt(Math.round(Number(rate) * 10_000)) }],
    { clock },
  );
  await refreshRate(
    {
      ...{ db: pool, clock, sources, spreadBps: 0, maxAgeSec: 300, bounds: anyRate },
      reportAlarms: () => {},
    },
    AbortSignal.timeout(5_000),
  );
}

/** A partner with raised request limits, money on both balances and a key for each mode. */
export async function createPartnerWithKeys(pool: Pool, liveMicroUsdt = 1_000_000_000n) {
  const partnerId = await createFundedPartner(pool, liveMicroUsdt);
  await setLimits(auditContextOf(pool), partnerId, {
    createRps: 100_000,
    createBurst: 100_000,
    otherRps: 100_000,
    concurrent: 100,
  });
  return {
    partnerId,
    testKey: await issueKey(pool, partnerId, 'test'),
    liveKey: await issueKey(pool, partnerId, 'live'),
  };
}

export async function issueKey(
  pool: Pool,
  partnerId: Id<'prt'>,
  mode: 'test' | 'live',
  allowedAddresses: string[] = [],
  more: Partial<WantedKey> = {},
) {
  const wanted = { partnerId, mode, allowedAddresses, ...more };
  const creation = await createKey(auditContextOf(pool), keyring, wanted);
  if (creation.outcome !== 'created') throw new Error(creation.outcome);
  return creation.key;
}
