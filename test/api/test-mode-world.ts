import { afterAll, beforeEach, expect } from 'vitest';
import { readBalances, verifyLedger } from '../../src/ledger/index.ts';
import { type Limits, setLimits } from '../../src/partners/index.ts';
import { type Answer, setRate, startApi } from '../helpers/api.ts';
import { endOfTime } from '../helpers/clock.ts';
import { auditContextOf, createTimedDatabase } from '../helpers/database.ts';

/** The API with a manual clock; at the end of the test file the ledger is verified. */
export async function startTestModeWorld() {
  const { pool, clock } = await createTimedDatabase();
  const api = await startApi({ pool, clock });
  const { address, deps } = api;
  const audit = auditContextOf(pool);
  beforeEach(() => setRate(pool, clock));
  afterAll(async () => {
    expect((await verifyLedger(pool, { now: endOfTime })).findings).toEqual([]);
  });

  async function newPartner(limits: Partial<Limits> = {}) {
    const partner = await api.newPartner();
    await setLimits(audit, partner.partnerId, limits);
    return partner;
  }
  type Partner = Awaited<ReturnType<typeof newPartner>>;

  const balanceOf = async ({ partnerId }: Partner) => (await readBalances(pool, partnerId)).test;

  /** Nothing debited, nothing listed. */
  async function expectNothingHappened(partner: Partner) {
    expect(await balanceOf(partner)).toEqual(untouched);
    expect((await partner.get('/v1/payments')).json.data).toEqual([]);
  }
  return { pool, clock, address, deps, audit, newPartner, balanceOf, expectNothingHappened };
}

export const untouched = { availableMicroUsdt: 10_000_000_000n, heldMicroUsdt: 0n, settledMicroUsdt: 0n };
export const isReplay = ({ headers }: Answer) => headers.get('idempotent-replayed') === 'true';
