import { expect, vi } from 'vitest';
import { createPartnerWithKeys, newLink, partnerAt, setRate, startApi } from '../helpers/api.ts';
import { auditContextOf, createTimedDatabase } from '../helpers/database.ts';
import { type Bank, makeQr, openSimulator } from '../helpers/simulator.ts';
import { type Account, type Behaviour, type Code, liveRecipient, type Mode, Model } from './api-model.ts';

const faultOf: Partial<Record<Behaviour, object>> = {
  declines: { kind: 'decline', reason: 'LIMIT_EXCEEDED' },
  later: { kind: 'finish_later', ms: 86_400_000, outcome: 'succeeded' },
  'never received': { kind: 'drop_before' },
  'answer lost': { kind: 'answer_lost' },
  busy: { kind: 'busy' },
};

async function makeCodes(simulator: Bank): Promise<Record<Mode, Code[]>> {
  const live = (
    ['pays', 'pays once', 'declines', 'later', 'never received', 'answer lost', 'busy'] as const
  ).map(async (behaviour): Promise<Code> => {
    const reusable = behaviour === 'pays' || behaviour === 'answer lost';
    const qr = await makeQr(simulator, { reusable, recipient: liveRecipient });
    const fault = faultOf[behaviour];
    if (fault) await qr.fault({ on: 'pay', ...fault });
    return { url: qr.link, kopecks: 15_000, behaviour, paid: false };
  });
  const ofTest = (kopecks: number | undefined, behaviour: Behaviour): Code => ({
    ...{ url: newLink(kopecks), kopecks, behaviour, paid: false },
  });
  return {
    live: await Promise.all(live),
    test: [
      ofTest(15_000, 'pays'),
      ofTest(15_001, 'declines'),
      ofTest(15_002, 'later'),
      ofTest(15_003, 'changed'),
      ofTest(900, 'pays'),
      ofTest(50_000_000, 'pays'),
      ofTest(undefined, 'pays'),
    ],
  };
}

/** The real service with a simulated bank. */
export async function startModelService() {
  const { pool, clock } = await createTimedDatabase();
  const simulator = await openSimulator();
  const { address, deps } = await startApi({ pool, clock, gatewayUrl: simulator.address, answerWithinMs: 0 });
  return { pool, audit: auditContextOf(pool), clock, simulator, address, deps };
}
type Service = Awaited<ReturnType<typeof startModelService>>;

/** The real service beside the model, for one sequence of calls. */
export async function startSequence(service: Service) {
  const { pool, clock, simulator, address, deps } = service;
  await setRate(pool, clock);
  const model = new Model(clock);
  const codes = await makeCodes(simulator);
  const customers = [
    await createPartnerWithKeys(pool, 3_300_000n),
    await createPartnerWithKeys(pool, 3_300_000n),
  ];
  const account = (balance: number): Account => ({ balance, references: new Map(), payments: [] });
  model.partners = customers.map(() => ({
    suspended: false,
    limits: { maxKopecks: 10_000_000, dailyKopecks: null, concurrent: 100 },
    accounts: { live: account(3_300_000), test: account(10_000_000_000) },
  }));
  const api = customers.map(({ liveKey, testKey }) => ({
    live: partnerAt(address, liveKey),
    test: partnerAt(address, testKey),
  }));
  /** Waits until the authenticator applies the change that the database announced. */
  const untilApplied = (who: number) =>
    vi.waitFor(
      async () => {
        const { testKey, liveKey } = customers[who]!;
        const { suspended, limits } = model.partners[who]!;
        for (const key of [testKey, liveKey]) {
          const caller = await deps.authenticator.authenticate({ key, address: '127.0.0.1' });
          expect(caller.outcome).toBe(suspended ? 'partner_suspended' : 'ok');
          if (caller.outcome !== 'ok') continue;
          const { maxKopecks, dailyKopecks, concurrent } = caller.limits;
          expect({ maxKopecks, dailyKopecks, concurrent }).toEqual({
            maxKopecks: BigInt(limits.maxKopecks),
            dailyKopecks: limits.dailyKopecks === null ? null : BigInt(limits.dailyKopecks),
            concurrent: limits.concurrent,
          });
        }
      },
      { timeout: 3_000, interval: 5 },
    );
  return { ...service, model, codes, customers, api, untilApplied };
}

export type World = Awaited<ReturnType<typeof startSequence>>;
