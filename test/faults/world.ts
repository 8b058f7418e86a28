import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Agent } from 'undici';
import { systemClock as clock } from '../../src/base/clock.ts';
import type { Id } from '../../src/base/ids.ts';
import { openPool } from '../../src/db/postgres/pool.ts';
import { migrate } from '../../src/db/schema/migrate.ts';
import { createKeyring } from '../../src/db/secrets/keyring.ts';
import { type Mode, topUp } from '../../src/ledger/index.ts';
import { createKey, createPartner, setLimits } from '../../src/partners/index.ts';
import { createVault, setWebhook } from '../../src/webhooks/index.ts';
import { freePort } from '../helpers/free-port.ts';
import { createRandom } from '../helpers/random.ts';
import { createDatabaseServer, type DatabaseServer } from './database-server.ts';
import { createGatewayProxy } from './gateway-proxy.ts';
import { type Program, startProgram, until } from './programs.ts';

export interface ServiceOptions {
  gatewayUrl?: string;
  databasePort?: number;
  roles?: string;
  /** One that stays the same when the service leaves its database and joins another; by default any. */
  port?: number;
  processes?: number;
  logLevel?: string;
  /** The operator says that the database is a copy or was restored. */
  isRestored?: boolean;
}

export interface Partner {
  partnerId: Id<'prt'>;
  key: string;
}

export const startMicroUsdt = 1_000_000_000_000n;
const secretKey = 'a secret key for the faults, long enough';
const keyring = createKeyring([secretKey]);

/** A real database, a simulated bank and any number of services, used by this run only. */
export async function createWorld(
  createServer: (folder: string) => Promise<DatabaseServer> = createDatabaseServer,
) {
  const folder = mkdtempSync(join(tmpdir(), 'kopeck-faults-'));
  const database = await createServer(folder);
  const [simulator] = await Promise.all([
    startProgram('simulator/main.ts', [], { SIMULATOR_DIR: join(folder, 'simulator') }),
    database.start(),
  ]);
  /** For checks, past the services. They may take long on a busy machine. */
  const connectionString = database.urlAt(database.port);
  const pool = openPool({ connectionString, statement_timeout: 0, query_timeout: 0 });
  await migrate(pool);
  /** For calls as a partner, each on its own connection: a broken one affects no other. */
  const agent = new Agent({ pipelining: 0, connect: { timeout: 5_000 } });
  const audit = { pool, clock, actor: 'faults' };
  /** Between the shared service and the bank side. */
  const gateway = await createGatewayProxy(simulator.address, createRandom(1));
  const services = new Set<Program>();
  let shared: Promise<Program> | undefined;

  /** Starts a service for one round. */
  async function startService(options: ServiceOptions = {}): Promise<Program> {
    const { gatewayUrl = simulator.address, databasePort = database.port, roles } = options;
    const { processes = 1, port = processes > 1 ? await freePort() : 0, logLevel = 'silent' } = options;
    const { isRestored = false } = options;
    const service = await startProgram('src/cli/main.js', ['start', ...(isRestored ? ['--restored'] : [])], {
      PORT: `${port}`,
      PROCESSES: `${processes}`,
      LOG_LEVEL: logLevel,
      DATA_DIR: join(folder, 'data'),
      DATABASE_URL: database.urlAt(databasePort),
      GATEWAY_URL: gatewayUrl,
      RATE_SOURCES: 'fixed:92.50',
      SECRET_KEY: secretKey,
      ...(roles ? { ROLES: roles } : {}),
    });
    services.add(service);
    await until('there is a rate', async () => (await pool.query('SELECT FROM rates')).rowCount! > 0);
    return service;
  }

  async function newKey(partnerId: Id<'prt'>, mode: Mode): Promise<string> {
    const creation = await createKey(audit, keyring, { partnerId, mode, allowedAddresses: [] });
    if (creation.outcome !== 'created') throw new Error(creation.outcome);
    return creation.key;
  }

  /** Kills the services of the round, or all; returns the output of those that had ended unexpectedly. */
  async function endServices(which: 'own' | 'all'): Promise<string[]> {
    const exits = [...services]
      .map(({ unexpectedExit }) => unexpectedExit())
      .filter(text => text !== undefined);
    const kept = which === 'own' && exits.length === 0 ? await shared : undefined;
    if (!kept) shared = undefined;
    const ended = [...services].filter(service => service !== kept);
    await Promise.all(ended.map(({ stop }) => stop('SIGKILL')));
    for (const service of ended) services.delete(service);
    return exits.map(text => `a service ended unexpectedly: ${text}`);
  }

  return {
    ...{ database, pool, simulator, agent, gateway },
    /** The service that all rounds share: starting one takes longer than most faults. */
    sharedService: () => {
      shared ??= startService({ gatewayUrl: gateway.url });
      return shared;
    },
    startService,
    endServices,
    /** Of the services that run, for a report. */
    lastLines: () => [...services].flatMap(({ output }) => output().trimEnd().split('\n').slice(-10)),
    createKey: newKey,
    /** Without limits on how often it calls, unless it has the usual ones. */
    createPartner: async ({ isLimited = false } = {}): Promise<Partner> => {
      const { partnerId } = await createPartner(audit, 'Faults');
      const unlimited = 100_000;
      const limits = { createRps: unlimited, createBurst: unlimited, otherRps: unlimited, concurrent: 1_000 };
      if (!isLimited) await setLimits(audit, partnerId, limits);
      await topUp(audit, { partnerId, mode: 'live', reference: 'faults', microUsdt: startMicroUsdt });
      return { partnerId, key: await newKey(partnerId, 'live') };
    },
    setWebhook: async ({ partnerId }: Partner, url: string) => {
      await setWebhook(audit, createVault(keyring), partnerId, url);
    },
    close: async () => {
      await endServices('all');
      await gateway.close();
      await agent.destroy();
      await pool.end();
      await simulator.stop('SIGKILL');
      await database.kill();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

export type World = Awaited<ReturnType<typeof createWorld>>;
