import * as fs from 'node:fs/promises';
import { join } from 'node:path';
import { systemClock } from '../../base/clock.ts';
import { OperatorError } from '../../base/operator-error.ts';
import * as stores from '../backup-store/index.ts';
import { type Cluster, connect, explain, findServer, startServer, stopServer } from '../embedded/index.ts';
import { parseHistory, type WalChain } from './wal-chain.ts';

export interface RestoreOptions {
  from: stores.BackupStore;
  /** Must be missing or empty. */
  dataDir: string;
  backup: stores.Manifest;
  chain: WalChain;
  at?: Date | undefined;
  /** Written to `secret.key`. */
  secretKey?: string | undefined;
  onProgress?(doneBytes: number, ofBytes: number): void;
  signal?: AbortSignal | undefined;
  /** It is removed again soon, so nothing has to be on disk. */
  isScratch?: boolean;
}

const pollMs = 50;

/** Runs the server of restored files until it has replayed the WAL up to the end or to `at`, and stops it again. */
export async function recover(cluster: Cluster, options: RestoreOptions) {
  const { from, chain, at } = options;
  await fs.writeFile(join(cluster.dir, 'recovery.signal'), '', { mode: 0o600 });
  const settings = {
    restore_command: stores.restoreCommandFor(from.address),
    recovery_target_timeline: `${chain.timeline}`,
    recovery_target_action: 'promote',
    ...(at ? { recovery_target_time: at.toISOString().replace('T', ' ').replace('Z', '+00') } : {}),
    // Nothing of this server may reach the archive.
    archive_mode: 'off',
    ...(options.isScratch ? { fsync: 'off' } : {}),
  };
  const { child, readOutput } = startServer(cluster, settings, { isRestore: true });
  let cannotStart: Error | undefined;
  child.once('error', error => {
    cannotStart = error;
  });
  try {
    for (;;) {
      options.signal?.throwIfAborted();
      if (cannotStart) throw cannotStart;
      if (child.exitCode !== null || child.signalCode !== null)
        throw explainEnd(readOutput(), cluster, options);
      const recovered = await readRecovered(cluster);
      if (recovered) {
        if (!at) await assertWholeChain(cluster, readOutput(), options);
        return recovered;
      }
      await systemClock.sleep(pollMs);
    }
  } finally {
    const server = findServer(cluster);
    if (server) await stopServer(server, cluster);
  }
}

/** Undefined while the server starts or recovers. */
async function readRecovered(cluster: Cluster) {
  const client = await connect(cluster);
  if (!client) return undefined;
  try {
    const { rows } = await client.query<{ until: Date | null; now: Date }>(
      `SELECT pg_last_xact_replay_timestamp() AS until, clock_timestamp() AS now`,
    );
    // The last commit that was replayed; undefined if there was none.
    return { until: rows[0]!.until ?? undefined, now: rows[0]!.now };
  } catch {
    return undefined;
  } finally {
    await client.end().catch(() => {});
  }
}

/** As the server logs a record, or a page, that it cannot read. */
const invalidRecord =
  /LOG: {2}(invalid|incorrect|unexpected pageaddr|record |there is no contrecord|contrecord is requested)/;

/** The server takes a damaged record for the end of the WAL, so its end is compared with the end of the archive. */
async function assertWholeChain(
  cluster: Cluster,
  output: string,
  { chain, backup: { wal_segment_bytes: segmentBytes } }: RestoreOptions,
): Promise<void> {
  const histories = (await fs.readdir(join(cluster.dir, 'pg_wal'))).filter(name => name.endsWith('.history'));
  const newest = await fs.readFile(join(cluster.dir, 'pg_wal', histories.sort().at(-1)!), 'utf8');
  const { endLsn, timeline } = parseHistory(newest).at(-1)!;
  const number = stores.segmentAt(endLsn, segmentBytes);
  const last = stores.parseSegment(chain.last, segmentBytes).number;
  // The last record may go on in a segment that is not archived yet. The server complains only about a damaged one.
  if (number > last || (number === last && !invalidRecord.test(output))) return;
  throw new OperatorError(
    `The WAL cannot be read beyond segment ${stores.segmentName({ timeline, number }, segmentBytes)}, which is damaged: restore to a time before it with --at.`,
  );
}

function explainEnd(output: string, cluster: Cluster, { at, chain }: RestoreOptions): OperatorError {
  // As `restore-wal` prints it.
  const damaged = output.split('\n').find(line => line.endsWith('.gz is damaged.'));
  if (damaged) return new OperatorError(`${damaged.slice(0, -1)}: restore to a time before it with --at.`);
  if (at && /recovery ended before configured recovery target was reached/.test(output)) {
    const [, last] = /last completed transaction was at log time ([^\n]+)/.exec(output) ?? [];
    const gap = chain.missing ? ` WAL segment ${chain.missing} is missing.` : '';
    return new OperatorError(
      `The backup and its WAL do not reach ${at.toISOString()}: the last commit is of ${last ?? 'an earlier time'}.${gap}`,
    );
  }
  return explain('The restored server did not start', output, cluster);
}
