import { listAlarms } from '../../alarms/index.ts';
import { programName } from '../../base/program-name.ts';
import { compareHeads, openAuditHeads } from '../../db/audit/index.ts';
import { describeNotArchived, readWalArchiving } from '../../db/backup/index.ts';
import * as postgres from '../../db/postgres/index.ts';
import { describeDifferingRights, readOwnRights } from '../../db/roles/index.ts';
import { findChangedSchema } from '../../db/schema/index.ts';
import { openKeyring } from '../../db/secrets/index.ts';
import { askArchiveWorkers, findRecovering, listStray } from '../../payments/index.ts';
import { bad, type Check, ok, warn } from './finding.ts';

/** A line has room for a few. */
const firstOf = (all: string[]) => `${all.slice(0, 3).join(', ')}${all.length > 3 ? ' and more' : ''}`;

/** What needs the open database. That it can be opened means: it is the primary, recent enough, durable and migrated. */
export const databaseChecks: Record<string, Check> = {
  version: async (_settings, { pool }) => {
    const { rows } = await pool.query<{ version: string; isolation: string; checksums: string }>(
      `SELECT current_setting('server_version') AS version, current_setting('transaction_isolation') AS isolation,
              current_setting('data_checksums') AS checksums`,
    );
    const { version, isolation, checksums } = rows[0]!;
    const found = `PostgreSQL ${version}, commits are written to disk, ${isolation}`;
    return checksums === 'on'
      ? ok(`${found}, with checksums`)
      : warn(`${found}, without checksums: stop the server and run pg_checksums --enable`);
  },
  privileges: async ({ databaseUrl }, { pool }) => {
    if (!databaseUrl) return ok('the embedded database has one role');
    const { user, isSuper, isOwner, missing } = await readOwnRights(pool);
    if (missing.length > 0)
      return bad(
        `${user} lacks ${firstOf(missing)}: run ${programName} migrate --run-role ${user} as the owner of the schema`,
      );
    const differing = await describeDifferingRights(pool);
    if (differing.length > 0)
      return bad(
        `${firstOf(differing)}: run ${programName} migrate as the owner of the schema, take back what is still there then, and find out who did that`,
      );
    return isSuper || isOwner
      ? warn(
          `${user} ${isSuper ? 'is a superuser' : 'owns the schema'} and could change what is append-only: create a role for the service, and run ${programName} migrate --run-role ROLE`,
        )
      : ok(`${user} has what the service needs, and cannot change the schema`);
  },
  schema: async (_settings, { pool }) => {
    const { isNewer, faults } = await findChangedSchema(pool);
    if (isNewer)
      return warn(
        `of a newer release, so run the doctor of that one. From this version differs: ${faults.length === 0 ? 'nothing' : firstOf(faults)}`,
      );
    return faults.length === 0
      ? ok('its triggers, constraints and functions are those of this version')
      : bad(`${firstOf(faults)}: see docs/operations/audit.md, "A changed schema"`);
  },
  'audit log': async (settings, { pool, clock }) => {
    const heads = openAuditHeads(settings);
    if (!heads) return ok('its heads leave the database only in the log of the service: see AUDIT_HEADS');
    const kept = await heads.list();
    const { missing, newest, uncoveredSince } = await compareHeads(pool, kept);
    if (missing.length > 0)
      return bad(
        `it does not contain ${firstOf(missing.map(({ place }) => `place ${place}`))} of heads in ${heads.address}: records were changed, removed or lost, see docs/operations/audit.md`,
      );
    const sinceMs = uncoveredSince?.getTime() ?? Number.POSITIVE_INFINITY;
    return sinceMs < clock.nowMs() - 2 * 3_600_000
      ? warn(
          `no head was kept in ${heads.address} since place ${newest?.place ?? 0}: see the log of a process with the role worker`,
        )
      : ok(`contains all ${kept.length} heads in ${heads.address}`);
  },
  'secret key': async (settings, { pool }) => {
    await openKeyring(settings, pool, 'refuse');
    return ok('matches this database');
  },
  commits: async (_settings, { pool, clock }) => {
    const startedMs = clock.monotonicMs();
    await postgres.transaction(
      pool,
      async tx => void (await tx.query({ text: 'UPDATE service SET reconciled_at = reconciled_at' })),
    );
    const ms = Math.round(clock.monotonicMs() - startedMs);
    return ms < 1_000
      ? ok(`a commit takes ${ms} ms`)
      : warn(`a commit takes ${ms} ms: check the disk of the server and its synchronous standby`);
  },
  standbys: async (_settings, { pool }) => {
    const standbys = await postgres.readStandbys(pool);
    const problem = postgres.describeAsynchronous(standbys);
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
          `payments are paused since ${recovering.beganAt.toISOString()} until lost payments are recovered from the payment gateway: see ${programName} recovery show`,
        )
      : ok('complete: no payments to recover');
  },
  'unmatched orders': async (_settings, { pool }) => {
    const orders = await listStray(pool);
    return orders.length === 0 ? ok('none') : warn(`${orders.length}: see ${programName} recovery show`);
  },
  connections: async (_settings, { pool }) => {
    const { allowed, used } = await postgres.readConnectionLimits(pool);
    const found = `${used} of ${allowed} are in use`;
    return used < allowed * 0.9 ? ok(found) : warn(`${found}: raise max_connections, or lower PROCESSES`);
  },
  clock: async (_settings, { clock }) => {
    const offset = clock.offset();
    const found = postgres.describeOffset(offset);
    if (postgres.exceeds(offset, 30_000)) return bad(`${found}: synchronize it with NTP`);
    return postgres.exceeds(offset, 2_000) ? warn(`${found}: synchronize it with NTP`) : ok(found);
  },
  alarms: async (_settings, { pool }) => {
    const open = await listAlarms(pool, { cleared: false });
    return open.length === 0 ? ok('none open') : warn(`${open.length} open: see ${programName} alarm list`);
  },
  archive: async (_settings, { pool }) => {
    const workers = await askArchiveWorkers(pool);
    if (workers.length === 0) return ok('on this server');
    const silent = workers.filter(({ isReachable }) => !isReachable).map(({ node }) => node);
    return silent.length === 0
      ? ok(`on ${workers.length} workers: ${workers.map(({ node }) => node).join(', ')}`)
      : bad(
          `the worker ${silent.join(', ')} does not answer, so reads of old payments get 503: start it (docs/operations/history-on-citus.md)`,
        );
  },
};
