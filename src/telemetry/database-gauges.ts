import type { Registry } from 'prom-client';
import type { Clock } from '../base/clock.ts';
import type { Queryable } from '../db/postgres/index.ts';
import { prometheus } from './prometheus.ts';

/** A gauge that is read from the database. Each module exports those of its own tables. */
export interface DatabaseGauge {
  name: string;
  help: string;
  labels: string[];
  /** Gives rows of label values (`text[]`) and a value; `$1` is the current time. Its cost must not grow with history. */
  sql: string;
}

interface Row {
  name: string;
  labels: string[];
  value: number;
}

/** Scrapes within this time share one reading. */
const maxAgeMs = 5_000;
/** Shorter than the time within which a process has to give its other metrics. */
const maxWaitMs = 700;

/**
 * Registers the gauges. One statement reads them all. Without an answer of the database they have no value rather than an
 * old one, and a reading that hangs is the only one under way.
 */
export function registerDatabaseGauges(
  registry: Registry,
  gauges: DatabaseGauge[],
  { db, clock }: { db: Queryable; clock: Clock },
): void {
  const selects = gauges.map(
    ({ name, sql }) =>
      `SELECT '${name}' AS name, g.labels::text[], g.value::float8 FROM (${sql}) AS g (labels, value)`,
  );
  // The parameter has a type also if no gauge uses it.
  const text = `WITH typed AS (SELECT $1::timestamptz) ${selects.join(' UNION ALL ')}`;
  let reading: Promise<Row[]> | undefined;
  let readAtMs = Number.NEGATIVE_INFINITY;

  function readAll(): Promise<Row[]> {
    if (reading && clock.monotonicMs() - readAtMs < maxAgeMs) return reading;
    readAtMs = Number.POSITIVE_INFINITY;
    reading = db
      .query<Row>({ text, values: [new Date(clock.nowMs())] })
      .then(
        ({ rows }) => rows,
        () => [],
      )
      .finally(() => {
        readAtMs = clock.monotonicMs();
      });
    return reading;
  }

  for (const { name, help, labels } of gauges)
    new (prometheus().Gauge)({
      name,
      help,
      labelNames: labels,
      registers: [registry],
      async collect() {
        const answered = new AbortController();
        const late = clock.sleep(maxWaitMs, answered.signal).then(() => []);
        const rows = await Promise.race([readAll(), late]);
        answered.abort();
        this.reset();
        for (const row of rows) if (row.name === name) this.labels(...row.labels).set(row.value);
        if (labels.length > 0 || rows.some(row => row.name === name)) return;
        // A gauge without labels would be 0.
        this.remove();
      },
    });
}
