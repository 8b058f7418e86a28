import type { DatabaseGauge } from '../telemetry/index.ts';

/** Reads one row per partner and mode, whatever they have paid. */
export const ledgerGauges: DatabaseGauge[] = [
  {
    name: 'kopeck_balance_usdt',
    help: 'USDT of all partners: available, and held for unfinished payments',
    labels: ['mode', 'account'],
    sql: `SELECT ARRAY[s.mode::text, a.account], a.micro_usdt / 1e6
            FROM (SELECT mode, sum(available) AS available, sum(held) AS held FROM accounts GROUP BY mode) AS s
           CROSS JOIN LATERAL (VALUES ('available', s.available), ('held', s.held)) AS a (account, micro_usdt)`,
  },
];
