import { randomUUID } from 'node:crypto';
import pg from 'pg';
import { expect, inject } from 'vitest';
import { xpub } from '../deposits/world.ts';
import { afterFile } from '../helpers/after-file.ts';
import { createPartnerWithKeys, secretKey } from '../helpers/api.ts';
import { createChain, startNode } from '../helpers/chain.ts';
import { kopeck, type Service, startService } from '../helpers/cli.ts';
import { createDatabase } from '../helpers/database.ts';
import { newFolder } from '../helpers/folders.ts';
import { freePort } from '../helpers/free-port.ts';
import { startPrometheus } from '../helpers/prometheus.ts';
import { blocksOf, statementsOf } from '../helpers/runbooks.ts';
import { makeQr, startSimulator } from '../helpers/simulator.ts';

/** An address where nobody listens. */
export const nowhere = 'http://127.0.0.1:1';

/** A running service, its bank, and a Prometheus that watches it with the rules of the repository. */
export async function startAlertWorld() {
  const { pool, url } = await createDatabase();
  const [bankFolder, bankPort] = [newFolder(), await freePort()];
  const startBank = () => startSimulator({ SIMULATOR_PORT: `${bankPort}` }, bankFolder);
  let bank = await startBank();
  const metricsPort = await freePort();
  // Its last block is a year old.
  const chain = createChain();
  chain.mineMany(5);
  const env = {
    DATABASE_URL: url,
    GATEWAY_URL: bank.address,
    SECRET_KEY: secretKey,
    METRICS_PORT: `${metricsPort}`,
    RATE_SOURCES: `fixed:92.50,${nowhere}/rate`,
    RATE_REFRESH_SEC: '1',
    RATE_MAX_AGE_SEC: '3',
    WEBHOOK_ALLOW_PRIVATE: 'true',
    WEBHOOK_RETRY_SCHEDULE_SEC: '0,1',
    TELEGRAM_BOT_TOKEN: `1:${'a'.repeat(30)}`,
    TELEGRAM_API_ROOT: nowhere,
    DEPOSIT_CHAINS: 'ethereum',
    DEPOSIT_ETHEREUM_RPC: (await startNode(chain)).url,
    DEPOSIT_ETHEREUM_XPUB: xpub,
  };
  let service: Service | undefined;
  afterFile(async () => void (await service?.stop('SIGKILL')));
  const start = async (changes: Record<string, string> = {}) => {
    await service?.stop();
    service = await startService({ ...env, ...changes });
  };
  const { firing } = await startPrometheus(metricsPort, {
    'oldest_unfinished_seconds{mode="live"} > 1800': 'oldest_unfinished_seconds{mode="live"} > 5',
    'kopeck_delivery_overdue_seconds > 120': 'kopeck_delivery_overdue_seconds > 3',
  });

  /** Without waiting for the answer of a payment that may never end. */
  const pay = (key: string, link: string, waitMs = 20_000) =>
    fetch(`${service!.address}/v1/payments`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${key}`,
        'content-type': 'application/json',
        'idempotency-key': randomUUID(),
      },
      body: JSON.stringify({ qr_url: link }),
      signal: AbortSignal.timeout(waitMs),
    }).then(
      response => response.status,
      () => undefined,
    );
  const waiting = { interval: 500 };
  return {
    ...{ pool, url, start, pay, chain },
    killBank: () => bank.stop('SIGKILL'),
    restartBank: async () => {
      bank = await startBank();
    },
    /** A command of a runbook, as the operator runs it. */
    run: (...args: string[]) => kopeck(env, ...args),
    /** Executes a block of SQL of a runbook, one statement after the other in one session; returns the last rows. */
    followSql: async (page: string, nth: number, pid?: number) => {
      const session = await pool.connect();
      try {
        let rows: unknown[] = [];
        for (const statement of statementsOf(blocksOf(page, 'sql')[nth]!))
          ({ rows } = await session.query(
            statement
              .replaceAll('PID', `${pid}`)
              .replace('DATABASE kopeck', `DATABASE ${pool.options.database}`),
          ));
        // biome-ignore lint/suspicious/noExplicitAny: a test reads any column, and fails if it is missing.
        return rows as any[];
      } finally {
        // Its settings may have been changed.
        session.release(true);
      }
    },
    readiness: async () => (await fetch(`${service!.address}/readyz`)).json(),
    stop: async () => void (await service!.stop()),
    newPartner: () => createPartnerWithKeys(pool, 10_000_000_000n),
    newLink: async () => (await makeQr(bank)).link as string,
    fault: (fields: object) => bank.call('PUT', '/sim/faults', fields),
    clearFaults: () => bank.call('DELETE', '/sim/faults'),
    untilFiring: (name: string) => expect.poll(firing, waiting).toContain(name),
    untilOver: (name: string) => expect.poll(firing, waiting).not.toContain(name),
    isFiring: async (name: string) => (await firing()).includes(name),
  };
}

/** Statements in another database of the server, which is not affected when this one refuses connections. */
export async function administer(...statements: string[]): Promise<void> {
  const client = new pg.Client({ ...inject('connection'), database: 'postgres' });
  await client.connect();
  for (const statement of statements) await client.query(statement);
  await client.end();
}
