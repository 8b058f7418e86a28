import { createRequestMetrics } from '../../src/api/http/metrics.ts';
import { createAdmission } from '../../src/api/index.ts';
import { systemClock } from '../../src/base/clock.ts';
import { openOutsidePools, openReadPool } from '../../src/db/postgres/outside-pools.ts';
import { openPool } from '../../src/db/postgres/pool.ts';
import { createMeters } from '../../src/runtime/meters.ts';
import { readMetricsOf } from '../../src/runtime/metrics.ts';

/** The metrics of a whole service that is not connected to a database. */
export function listMetrics() {
  const pool = openPool({ host: '/nowhere' });
  const { metrics, gatewayMetrics } = createMeters();
  gatewayMetrics.countLost(() => 0);
  createRequestMetrics({ metrics, admission: createAdmission(1) });
  const { process, database } = readMetricsOf(metrics, {
    pool,
    outside: openOutsidePools(pool),
    readPool: openReadPool(pool),
    heartbeat: { instance: 1 } as never,
    clock: systemClock,
    clockOffset: () => ({ ms: 0, uncertaintyMs: 0 }),
    requestLog: {} as never,
    rateMaxAgeSec: 300,
    tracer: {} as never,
    archive: { nodes: () => ['worker:5432'], unreachable: () => [], stop: async () => {} },
  });
  const all = [process, database].flatMap(
    registry =>
      registry.getMetricsAsArray() as unknown as { name: string; type: string; labelNames: string[] }[],
  );
  return all.map(({ name, type, labelNames }) => ({
    name,
    type,
    labels: labelNames.filter(label => label !== 'le'),
  }));
}

/** The series that Prometheus has of them. */
export const listSeriesNames = () =>
  listMetrics().flatMap(({ name, type }) =>
    type === 'histogram' ? [`${name}_bucket`, `${name}_sum`, `${name}_count`] : [name],
  );
