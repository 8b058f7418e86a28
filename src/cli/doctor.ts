import type { Command } from 'commander';
import { listAlarms } from '../alarms/index.ts';
import { instantOf } from '../base/clock.ts';
import { OperatorError } from '../base/operator-error.ts';
import { readSettings, type Settings } from '../base/settings.ts';
import { readConnectionLimits } from '../db/connection-limits.ts';
import { type Database, explainDatabaseError, openDatabase } from '../db/database.ts';
import { describeOffset, exceeds } from '../db/database-clock.ts';
import { transaction } from '../db/pool.ts';
import { openSecretKey } from '../db/secret-key.ts';
import { describeAsynchronous, readStandbys } from '../db/standbys.ts';
import { describeNotArchived, readWalArchiving } from '../db/wal-archiving.ts';
import { createHttpGateway } from '../gateway/index.ts';
import { findRecovering, listStray } from '../payments/index.ts';
import { isStale, readCurrentRate } from '../rates/index.ts';
import { closeOnSignals } from './command.ts';
import { table } from './output.ts';
import { command, printOutput, type Terminal } from './terminal.ts';

/** `warn`: it works, and somebody should look at it. `bad`: payments are refused or in danger. */
type State = 'ok' | 'warn' | 'bad';

/** One line of what was found and, if it is not ok, what to do. */
interface Finding {
  state: State;
  detail: string;
}

type Check = (settings: Settings, database: Database) => Promise<Finding>;

const ok = (detail: string): Finding => ({ state: 'ok', detail });
const warn = (detail: string): Finding => ({ state: 'warn', detail });
const bad = (detail: string): Finding => ({ state: 'bad', detail });

/** What needs the open database. That it can be opened means: it is the primary, recent enough, durable and migrated. */
const checks: Record<string, Check> = {
  version: async (_settings, { pool }) => {
    const { rows } = await pool.query<{ server_version: string }>('SHOW server_version');
    return ok(`PostgreSQL ${rows[0]!.server_version}, commits are written to disk`);
  },
  'secret key': async (settings, { pool }) => {
    await openSecretKey(settings, pool, 'refuse');
    return ok('matches this database');
  },
  commits: async (_settings, { pool, clock }) => {
    const startedMs = clock.monotonicMs();
    await transaction(
      pool,
      async tx => void (await tx.query({ text: 'UPDATE service SET reconciled_at = reconciled_at' })),
    );
    const ms = Math.round(clock.monotonicMs() - startedMs);
    return ms < 1_000
      ? ok(`a commit takes ${ms} ms`)
      : warn(`a commit takes ${ms} ms: check the disk of the server and its synchronous standby`);
  },
  standbys: async (_settings, { pool }) => {
    const standbys = await readStandbys(pool);
    const problem = describeAsynchronous(standbys);
    const wait = standbys.isSynchronous ? ', commits wait for one of them' : '';
    return problem ? warn(problem) : ok(`${standbys.connected} connected${wait}`);
  },
  'WAL archive': async (_settings, { pool }) => {
    const found = await readWalArchiving(pool);
    const problem = describeNotArchived(found);
    if (problem) return warn(problem);
    if (!found.isOn) return ok('off: a backup covers only what was committed before it');
    return ok(
      found.archivedAt ? `last archived at ${found.archivedAt.toISOString()}` : 'on, nothing archived yet',
    );
  },
  history: async (_settings, { pool }) => {
    const recovering = await findRecovering(pool);
    return recovering
      ? bad(
          `payments are paused since ${recovering.beganAt.toISOString()} until lost payments are recovered from the payment gateway: see kopeck recovery show`,
        )
      : ok('complete: no payments to recover');
  },
  'unmatched orders': async (_settings, { pool }) => {
    const orders = await listStray(pool);
    return orders.length === 0 ? ok('none') : warn(`${orders.length}: see kopeck recovery show`);
  },
  connections: async (_settings, { pool }) => {
    const { allowed, used } = await readConnectionLimits(pool);
    const found = `${used} of ${allowed} are in use`;
    return used < allowed * 0.9 ? ok(found) : warn(`${found}: raise max_connections, or lower PROCESSES`);
  },
  clock: async (_settings, { clock }) => {
    const offset = clock.offset();
    const found = describeOffset(offset);
    if (exceeds(offset, 30_000)) return bad(`${found}: synchronize it with NTP`);
    return exceeds(offset, 2_000) ? warn(`${found}: synchronize it with NTP`) : ok(found);
  },
  gateway: async ({ gatewayUrl, gatewayToken, production }, { clock }) => {
    if (gatewayUrl === undefined)
      return production
        ? bad('GATEWAY_URL is not set: the simulator never starts in production')
        : ok('the bundled simulator');
    const gateway = createHttpGateway({ url: gatewayUrl, token: gatewayToken, clock });
    try {
      await gateway.listOrders(instantOf(clock));
      return ok('responds');
    } catch (error) {
      return bad(`cannot list orders (${(error as Error).message}): check GATEWAY_URL and GATEWAY_TOKEN`);
    } finally {
      await gateway.close();
    }
  },
  rate: async ({ rateMaxAgeSec }, { pool, clock }) => {
    const rate = await readCurrentRate(pool);
    if (!rate) return bad('no rate yet: kopeck start fetches one from RATE_SOURCES');
    const ageSec = Math.max(0, Math.round((clock.nowMs() - rate.asOf.getTime()) / 1_000));
    return isStale(rate, clock, rateMaxAgeSec)
      ? bad(`${ageSec} s old, the limit is ${rateMaxAgeSec} s: see kopeck rate show`)
      : ok(`${ageSec} s old`);
  },
  alarms: async (_settings, { pool }) => {
    const open = await listAlarms(pool, { cleared: false });
    return open.length === 0 ? ok('none open') : warn(`${open.length} open: see kopeck alarm list`);
  },
};

export function doctorCommand(terminal: Terminal): Command {
  return command('doctor', 'check settings, database, gateway and rate, and suggest fixes').action(
    async ({ json }: { json: boolean }) => {
      const found = await examine(terminal);
      const rows = Object.entries(found).map(([check, finding]) => ({ check, ...finding }));
      const isBad = rows.some(({ state }) => state === 'bad');
      const text = table(
        ['check', 'state', 'result'],
        rows.map(({ check, state, detail }) => [check, state, detail]),
      );
      printOutput(terminal, json, { json: { ok: !isBad, checks: rows }, text, isBad });
    },
  );
}

/** What cannot be looked at, because an earlier check failed, is left out. */
async function examine({ env, stderr }: Terminal): Promise<Record<string, Finding>> {
  const found: Record<string, Finding> = {};
  let settings: Settings;
  try {
    settings = readSettings(env);
    found.settings = ok('valid');
  } catch (error) {
    return { settings: problemIn(error) };
  }
  let database: Database;
  try {
    database = await openDatabase(settings, line => stderr.write(`${line}\n`), 'refuse');
  } catch (error) {
    return { ...found, database: problemIn(error) };
  }
  const stopListening = closeOnSignals(database);
  try {
    found.database = ok(database.description);
    for (const [name, check] of Object.entries(checks))
      found[name] = await check(settings, database).catch(error =>
        problemIn(explainDatabaseError(error, settings)),
      );
    return found;
  } finally {
    await database.close();
    stopListening();
  }
}

/** Any other error is a fault of the program, and is shown with its stack. */
function problemIn(error: unknown): Finding {
  if (error instanceof OperatorError) return bad(error.message);
  throw error;
}
