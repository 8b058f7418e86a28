import { type Clock, systemClock } from '../../src/base/clock.ts';
import { newId } from '../../src/base/ids.ts';
import type { Pool } from '../../src/db/postgres/pool.ts';
import { createRequestLog } from '../../src/request-log/index.ts';

type Deps = Parameters<typeof createRequestLog>[0];
export type Answered = Parameters<ReturnType<typeof createRequestLog>['record']>[0];

/** A payment that was created, unless something else is given. */
export const answered = (given: Partial<Answered> = {}, clock: Clock = systemClock): Answered => ({
  ...{ requestId: newId('req', clock), isAdmitted: true, method: 'POST', route: '/v1/payments' },
  ...{ status: 200, durationMs: 12.4 },
  ...given,
});

/** A log with its warnings. */
export function startLog(given: Pick<Deps, 'db'> & Partial<Deps>) {
  const warnings: string[] = [];
  const log = createRequestLog({
    clock: systemClock,
    log: { warn: (_details, message) => void warnings.push(message) },
    isDatabaseAnswering: () => true,
    ...given,
  });
  return { log, warnings };
}

/** Stores these requests. */
export async function store(pool: Pool, ...requests: Answered[]): Promise<void> {
  const { log } = startLog({ db: pool });
  for (const request of requests) log.record(request);
  await log.stop();
}
