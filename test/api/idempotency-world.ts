import { beforeEach } from 'vitest';
import { type Answer, createPartnerWithKeys, partnerAt, setRate, startApi } from '../helpers/api.ts';
import { manualClock } from '../helpers/clock.ts';
import { auditContextOf, createDatabase } from '../helpers/database.ts';

/** The API with a manual clock and a fresh rate before every test. */
export async function startIdempotencyWorld() {
  const { pool } = await createDatabase();
  const clock = manualClock();
  const { address, deps } = await startApi({ pool, clock });
  const audit = auditContextOf(pool);
  beforeEach(() => setRate(pool, clock));

  async function newPartner() {
    const customer = await createPartnerWithKeys(pool);
    return { ...partnerAt(address, customer.testKey), ...customer };
  }
  return { pool, clock, address, deps, audit, newPartner };
}

export const codeOf = ({ status, json }: Answer) => `${status} ${json.status ?? json.error.code}`;
export const isReplay = ({ headers }: Answer) => headers.get('idempotent-replayed') === 'true';
