import type { Registry } from 'prom-client';
import { type DatabaseGauge, prometheus } from '../telemetry/index.ts';
import type { Answer } from './combine.ts';

const newest = '(SELECT * FROM rates ORDER BY id DESC LIMIT 1) AS r';

/** All of the newest rate. The names of sources come from `RATE_SOURCES`. */
export const rateGauges: DatabaseGauge[] = [
  {
    name: 'kopeck_rate_age_seconds',
    help: 'Age of the oldest quote in the current rate',
    labels: [],
    sql: `SELECT ARRAY[]::text[], extract(epoch FROM $1::timestamptz - r.as_of) FROM ${newest}`,
  },
  {
    name: 'kopeck_rate_rub_per_usdt',
    help: 'The current rate of partners',
    labels: [],
    sql: `SELECT ARRAY[]::text[], r.rate_e4 / 1e4 FROM ${newest}`,
  },
  {
    name: 'kopeck_rate_source',
    help: 'How each source took part in the current rate: used, stale, outlier or failed',
    labels: ['source', 'outcome'],
    sql: `SELECT ARRAY[p ->> 'source', p ->> 'outcome'], 1 FROM ${newest}, jsonb_array_elements(r.parts) AS p`,
  },
];

/** Counts what the sources answer to this process. */
export function createRateMetrics(registry: Registry): (answers: Answer[]) => void {
  const { Counter } = prometheus();
  const asked = new Counter({
    name: 'kopeck_rate_source_answers_total',
    help: 'Requests to the sources of the rate',
    labelNames: ['source', 'outcome'],
    registers: [registry],
  });
  return answers => {
    for (const answer of answers) asked.inc({ source: answer.source, outcome: outcomeOf(answer) });
  };
}

const outcomeOf = (answer: Answer) => ('quote' in answer ? 'answered' : 'failed');
