import { Counter, collectDefaultMetrics, Gauge, Registry } from 'prom-client';
import { alarmGauges } from '../alarms/index.ts';
import type { Clock } from '../base/clock.ts';
import { withCircuitBreaker } from '../db/postgres/index.ts';
import { depositGauges } from '../deposits/index.ts';
import { ledgerGauges } from '../ledger/index.ts';
import { paymentGauges } from '../payments/index.ts';
import { rateGauges } from '../rates/index.ts';
import { registerDatabaseGauges } from '../telemetry/index.ts';
import { webhookGauges } from '../webhooks/index.ts';
import { measurePools } from './pool-metrics.ts';
import type { SharedParts } from './shared-parts.ts';

type ReadParts = Pick<
  SharedParts,
  | 'pool'
  | 'readPool'
  | 'outside'
  | 'heartbeat'
  | 'clockOffset'
  | 'requestLog'
  | 'rateMaxAgeSec'
  | 'tracer'
  | 'archive'
> & { clock: Clock };

/** Two sets: every process has the first, and all would read the second from the same database. */
export interface OwnMetrics {
  process: Registry;
  database: Registry;
}

/** Between two samples of the event loop's lag. With the default of 10 ms, its timer alone woke an idle process 100 times a second. */
const lagSampleMs = 500;

/** Adds what is read from parts of this process when somebody asks for the metrics. */
export function readMetricsOf(process: Registry, parts: ReadParts): OwnMetrics {
  const { pool, readPool, outside, heartbeat, clock, clockOffset, requestLog, rateMaxAgeSec, tracer } = parts;
  const registers = [process];
  collectDefaultMetrics({ register: process, eventLoopMonitoringPrecision: lagSampleMs });
  new Gauge({ name: 'kopeck_processes', help: 'Processes of the service', registers }).set(1);
  new Gauge({
    name: 'kopeck_database_available',
    help: 'Processes for which the database answers (reads) and commits (writes)',
    labelNames: ['for'],
    registers,
    collect() {
      this.set({ for: 'reads' }, heartbeat.isDatabaseAnswering() ? 1 : 0);
      this.set({ for: 'writes' }, heartbeat.canCommit() ? 1 : 0);
    },
  });
  new Gauge({
    name: 'kopeck_archive_unreachable',
    help: 'Processes that cannot reach the worker, which has a part of the archive',
    labelNames: ['node'],
    registers,
    collect() {
      this.reset();
      const out = parts.archive.unreachable();
      for (const node of parts.archive.nodes()) this.set({ node }, out.includes(node) ? 1 : 0);
    },
  });
  new Gauge({
    name: 'kopeck_clock_offset_seconds',
    help: "Clock of the machine less the database's",
    // Values of several processes would be added up otherwise.
    labelNames: ['process'],
    registers,
    collect() {
      this.set({ process: heartbeat.instance }, clockOffset().ms / 1_000);
    },
  });
  const { console, conversations } = outside;
  measurePools(process, clock, {
    payments: pool,
    partner_reads: readPool,
    console,
    conversations,
    request_log: outside.requestLog,
  });
  if (requestLog)
    countLost(
      process,
      {
        name: 'kopeck_request_log_missing_total',
        help: 'Requests that are not in the request log',
        labelNames: ['reason'],
      },
      () => Object.entries(requestLog.lost()).map(([reason, count]) => [{ reason }, count]),
    );
  if (tracer)
    countLost(
      process,
      { name: 'kopeck_spans_lost_total', help: 'Spans that the collector did not take' },
      () => [[{}, tracer.lost()]],
    );

  const database = new Registry();
  new Gauge({
    name: 'kopeck_rate_max_age_seconds',
    help: 'The age from which a rate is not used: RATE_MAX_AGE_SEC',
    registers: [database],
  }).set(rateMaxAgeSec);
  registerDatabaseGauges(
    database,
    [...paymentGauges, ...ledgerGauges, ...rateGauges, ...depositGauges, ...webhookGauges, ...alarmGauges],
    { db: withCircuitBreaker(pool, heartbeat.isDatabaseAnswering), clock },
  );
  return { process, database };
}

function countLost(
  registry: Registry,
  counter: { name: string; help: string; labelNames?: string[] },
  read: () => [labels: Record<string, string>, count: number][],
): void {
  new Counter({
    ...counter,
    registers: [registry],
    collect() {
      this.reset();
      for (const [labels, count] of read()) this.inc(labels, count);
    },
  });
}
