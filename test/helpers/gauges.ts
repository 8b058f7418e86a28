import { Registry } from 'prom-client';
import { type Clock, systemClock } from '../../src/base/clock.ts';
import type { Queryable } from '../../src/db/postgres/pool.ts';
import { type DatabaseGauge, registerDatabaseGauges } from '../../src/telemetry/index.ts';

/** The lines of these gauges, as Prometheus reads them. */
export async function readGauges(
  db: Queryable,
  gauges: DatabaseGauge[],
  clock: Clock = systemClock,
): Promise<string[]> {
  const registry = new Registry();
  registerDatabaseGauges(registry, gauges, { db, clock });
  return (await registry.metrics()).split('\n').filter(line => line !== '' && !line.startsWith('#'));
}
