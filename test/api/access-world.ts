import { expect } from 'vitest';
import { createPartner } from '../../src/partners/index.ts';
import { issueKey, partnerAt, setRate, startApi } from '../helpers/api.ts';
import { auditContextOf, createTimedDatabase } from '../helpers/database.ts';

/** Every operation, with the scope that it needs. */
export const operations = [
  ['GET', '/v1/balance', 'read'],
  ['GET', '/v1/rate', 'read'],
  ['POST', '/v1/quote', 'read'],
  ['POST', '/v1/qr/resolve', 'read'],
  ['POST', '/v1/payments', 'pay'],
  ['GET', '/v1/payments', 'read'],
  ['GET', '/v1/payments/pay_01m7ehqr39e00aq7xw60wbe32j', 'read'],
  ['GET', '/v1/events', 'read'],
  ['GET', '/v1/statement?day=2026-11-14', 'read'],
  ['GET', '/v1/deposits', 'read'],
  ['GET', '/v1/deposit_addresses', 'read'],
  ['GET', '/v1/test/clock', 'read'],
  ['POST', '/v1/test/clock', 'pay'],
  ['POST', '/v1/test/deposits', 'pay'],
  ['POST', '/v1/test/refunds', 'pay'],
] as const;

/** The API with a manual clock, and new partners with the limits of the contract. */
export async function startAccessWorld() {
  const { pool, clock } = await createTimedDatabase();
  await setRate(pool, clock);
  const { address, deps } = await startApi({ pool, clock });
  const audit = auditContextOf(pool);

  /** Waits until this process applies a change to the partner. */
  const untilApplied = (key: string, outcome: string) =>
    clock.until(async () =>
      expect((await deps.authenticator.authenticate({ key, address: '127.0.0.1' })).outcome).toBe(outcome),
    );

  async function newcomer() {
    const { partnerId } = await createPartner(audit, 'Newcomer');
    const key = await issueKey(pool, partnerId, 'test');
    return { partnerId, key, partner: partnerAt(address, key) };
  }

  return { pool, clock, address, deps, audit, newcomer, untilApplied };
}

export type Partner = ReturnType<typeof partnerAt>;
/** A creation that is refused after it took a token of the bucket. */
export const create = async (partner: Partner) => (await partner.post('/v1/payments', { body: {} })).status;

export async function repeat(times: number, call: () => Promise<number>) {
  const statuses: number[] = [];
  for (let time = 0; time < times; time++) statuses.push(await call());
  return statuses;
}
