import { spawn, spawnSync } from 'node:child_process';
import { createHash, randomBytes, randomInt } from 'node:crypto';
import * as fs from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemClock } from '../../base/clock.ts';
import { type IfMissing, missingDatabase } from '../../base/missing-database.ts';
import { OperatorError } from '../../base/operator-error.ts';
import type { Binaries } from './binaries.ts';
import { cannotRun, explain } from './explain.ts';
import { type Identity, identityFor, letPass, serverCommand } from './identity.ts';
import { refuseUnfinishedRestore } from './restore-marks.ts';

/** A PostgreSQL data directory below DATA_DIR, and the identity under which its server runs. */
export interface Cluster {
  dir: string;
  logFile: string;
  binaries: Binaries;
  runAs: Identity | undefined;
  /** Variables for the commands that the server runs, such as `archive_command`. */
  commandEnvironment: Record<string, string>;
}

export const superuser = 'kopeck';

/** Opens the cluster below `dataDir`. If there is none, creates it or fails before anything is written. */
export function openCluster(
  dataDir: string,
  binaries: Binaries,
  print: (line: string) => void,
  ifMissing: IfMissing,
  commandEnvironment: Record<string, string> = {},
): Cluster {
  const dir = join(dataDir, 'postgres');
  refuseUnfinishedRestore(dataDir);
  try {
    const existing = fs.statSync(dir, { throwIfNoEntry: false });
    const runAs = identityFor(dir, existing);
    const cluster = { dir, logFile: `${dir}.log`, binaries, runAs, commandEnvironment };
    // Also in a folder of that name which is no cluster: the start of a server would write its settings there.
    const isCluster = fs.existsSync(join(dir, 'PG_VERSION'));
    if (!isCluster && ifMissing === 'refuse') throw missingDatabase({ dataDir });
    fs.mkdirSync(dataDir, { recursive: true, mode: 0o700 });
    letPass(dataDir, runAs);
    if (!existing) {
      print(`Creating a PostgreSQL database in ${dir} …`);
      initialise(cluster, dataDir);
    }
    return cluster;
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (error instanceof OperatorError || code === undefined) throw error;
    throw new OperatorError(
      `DATA_DIR cannot be used (${message}): set it to a folder that this user may write to.`,
    );
  }
}

/** Settings of the surrounding shell (PGDATA, PGPORT, a locale) must not leak into the server. */
const serverEnvironment = { PATH: process.env.PATH, LC_ALL: 'C', TZ: 'UTC' };

/** Created in a temporary folder and renamed into place: neither a crash nor a second process leaves half a cluster. */
function initialise(cluster: Cluster, dataDir: string): void {
  const { dir, binaries, runAs } = cluster;
  removeAbandonedDrafts(dataDir);
  const draft = `${dir}.new-${process.pid}-${randomBytes(4).toString('hex')}`;
  try {
    fs.mkdirSync(draft, { mode: 0o700 });
    if (runAs) fs.chownSync(draft, runAs.uid, runAs.gid);
    const { command, args, owner } = serverCommand(
      runAs,
      binaries.initdb,
      [
        `--pgdata=${draft}`,
        `--username=${superuser}`,
        '--encoding=UTF8',
        '--locale-provider=builtin',
        '--builtin-locale=C.UTF-8',
        '--locale=C',
        '--auth-local=peer',
        '--auth-host=reject',
        '--no-instructions',
        // A random port: a server whose folder was deleted removes its socket by name when it ends, even if a new server
        // has created one there since.
        `--set=port=${randomInt(10_000, 60_000)}`,
      ],
      [draft],
    );
    const { status, stderr, error } = spawnSync(command, args, {
      env: serverEnvironment,
      encoding: 'utf8',
      ...owner,
    });
    if (error) throw cannotRun(command, error);
    if (status !== 0) throw explain('PostgreSQL could not make its files', stderr, cluster);
    moveIntoPlace(draft, dir, dataDir);
  } finally {
    fs.rmSync(draft, { recursive: true, force: true });
  }
}

function moveIntoPlace(draft: string, dir: string, parent: string): void {
  try {
    fs.renameSync(draft, dir);
  } catch (error) {
    // Another process was faster; its cluster is as good as ours.
    if (!['ENOTEMPTY', 'EEXIST'].includes((error as NodeJS.ErrnoException).code ?? '')) throw error;
  }
  const handle = fs.openSync(parent, 'r');
  fs.fsyncSync(handle);
  fs.closeSync(handle);
}

function removeAbandonedDrafts(dataDir: string): void {
  for (const name of fs.readdirSync(dataDir)) {
    const pid = /^postgres\.new-(\d+)-/.exec(name)?.[1];
    if (!pid || processExists(Number(pid))) continue;
    try {
      fs.rmSync(join(dataDir, name), { recursive: true, force: true });
    } catch {
      // Its initdb may still be writing; the next creation finds it again.
    }
  }
}

/** The kernel's limit for the path of a Unix socket, less the final zero. */
const maxSocketPathBytes = 107;

/** Starts a server that is independent of this process: it goes on if others still use it. */
export function startServer(
  { dir, logFile, binaries, runAs, commandEnvironment }: Cluster,
  settings: Record<string, string> = {},
  /** Where its commands write. A restore reads what root alone may read. */
  commands: { writeTo?: string[]; isRestore?: true } = {},
) {
  const socketDir = socketDirFor(dir, runAs);
  disarmStalePidFiles(dir, socketDir);
  allowOnlyTheOwner(dir, runAs);
  const { command, args, owner } = serverCommand(
    runAs,
    binaries.postgres,
    [
      '-D',
      dir,
      ...Object.entries({
        // A list: a comma or a quote in the name of the folder must be escaped.
        unix_socket_directories: `"${socketDir.replaceAll('"', '""')}"`,
        listen_addresses: '',
        timezone: 'UTC',
        log_timezone: 'UTC',
        shared_buffers: '256MB',
        max_wal_size: '2GB',
        // Our statements are short; compiling one costs more than running it.
        jit: 'off',
        // Enough for the maximum number of processes, each with its pool and its dedicated connections.
        max_connections: '400',
        ...settings,
      }).flatMap(([name, value]) => ['-c', `${name}=${value}`]),
    ],
    commands.isRestore ? 'any' : [dir, ...(commands.writeTo ?? [])],
  );
  const log = fs.openSync(logFile, 'a', 0o600);
  const before = fs.fstatSync(log).size;
  const env = { ...serverEnvironment, ...commandEnvironment };
  const child = spawn(command, args, { detached: true, env, stdio: ['ignore', log, log], ...owner });
  fs.closeSync(log);
  child.unref();
  /** What the server has written to its log since this start. */
  const readOutput = () => fs.readFileSync(logFile).subarray(before).toString();
  return { child, readOutput };
}

/**
 * Only the owner of the files and root may connect (peer authentication by the kernel): other programs that run as
 * `nobody` may not.
 */
function allowOnlyTheOwner(dir: string, runAs: Identity | undefined): void {
  const uid = runAs?.uid ?? process.getuid!();
  const users = fs.readFileSync('/etc/passwd', 'utf8').split('\n');
  const [owner] = users.map(line => line.split(':')).find(fields => fields[2] === `${uid}`) ?? [];
  const allowed = new Set(['root', ...(owner && owner !== 'nobody' ? [owner] : [])]);
  const files = {
    'pg_hba.conf': 'local all all peer map=owner\n',
    'pg_ident.conf': Array.from(allowed, name => `owner "${name}" ${superuser}\n`).join(''),
  };
  for (const [name, text] of Object.entries(files)) {
    const file = join(dir, name);
    fs.writeFileSync(file, text, { mode: 0o600 });
    if (runAs) fs.chownSync(file, runAs.uid, runAs.gid);
  }
}

/** The data directory itself, unless its path is too long for a socket; then a short one that only this user may enter. */
function socketDirFor(dir: string, runAs: Identity | undefined): string {
  if (Buffer.byteLength(join(dir, '.s.PGSQL.00000')) <= maxSocketPathBytes) return dir;
  const short = join(tmpdir(), `kopeck-${createHash('sha256').update(dir).digest('hex').slice(0, 16)}`);
  fs.mkdirSync(short, { recursive: true, mode: 0o700 });
  if (runAs) fs.chownSync(short, runAs.uid, runAs.gid);
  const { uid, mode } = fs.lstatSync(short);
  const ours = uid === (runAs?.uid ?? process.getuid!()) && (mode & 0o7777) === 0o700;
  if (!ours)
    throw new OperatorError(`${short} is open to others: remove it, or set DATA_DIR to a shorter path.`);
  return short;
}

export interface RunningServer {
  pid: number;
  port: number;
  socketDir: string;
}

/** Reads the server's lock file; undefined if there is none or the server has ended. */
export function findServer({ dir }: Pick<Cluster, 'dir'>): RunningServer | undefined {
  const [pid, , , serverPort, socketDir] = readLines(join(dir, 'postmaster.pid'));
  if (!pid || !serverPort || !socketDir || !isServerOf(Number(pid), dir)) return undefined;
  return { pid: Number(pid), port: Number(serverPort), socketDir };
}

function readLines(file: string): string[] {
  try {
    return fs.readFileSync(file, 'utf8').split('\n');
  } catch (error) {
    // The file, or the process that it belongs to, is gone.
    if (!['ENOENT', 'ESRCH'].includes((error as NodeJS.ErrnoException).code ?? '')) throw error;
    return [];
  }
}

function processExists(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

/** A zombie still has its process number, but it has ended. */
function hasEnded(pid: number): boolean {
  if (process.platform !== 'linux') return !processExists(pid);
  const [stat = ''] = readLines(`/proc/${pid}/stat`);
  return stat === '' || /\) [ZX] /.test(stat);
}

/** The process number may belong to another program by now; our server has its folder among its arguments. */
function isServerOf(pid: number, dir: string): boolean {
  if (!processExists(pid)) return false;
  if (process.platform !== 'linux') {
    return spawnSync('ps', ['-p', `${pid}`, '-o', 'comm='], { encoding: 'utf8' }).stdout.includes('postgres');
  }
  const [program = '', ...args] = readLines(`/proc/${pid}/cmdline`).join('\n').split('\0');
  const folder = args[args.indexOf('-D') + 1];
  return program.endsWith('postgres') && folder !== undefined && isSameFolder(folder, dir);
}

function isSameFolder(left: string, right: string): boolean {
  const real = (folder: string) => (fs.existsSync(folder) ? fs.realpathSync(folder) : folder);
  return real(left) === real(right);
}

/**
 * After kill -9 the lock files remain. PostgreSQL takes them over, unless their process number belongs to another program
 * by now. It also takes them over when the number is that of its parent, so we write our own number there: that keeps the
 * line about shared memory, by which PostgreSQL finds children of the dead server that still run.
 */
function disarmStalePidFiles(...folders: string[]): void {
  const [dir] = folders as [string, ...string[]];
  for (const folder of new Set(folders)) {
    for (const name of fs.readdirSync(folder)) {
      if (!/^postmaster\.pid$|^\.s\.PGSQL\.\d+\.lock$/.test(name)) continue;
      const [pid, ...rest] = readLines(join(folder, name));
      if (!pid || !processExists(Number(pid)) || isServerOf(Number(pid), dir)) continue;
      fs.writeFileSync(join(folder, name), [process.pid, ...rest].join('\n'));
    }
  }
}

const stopTimeoutMs = 60_000;

/** Ends all sessions, writes everything to disk and returns when the server has ended. */
export async function stopServer(
  { pid, socketDir }: RunningServer,
  { dir }: Pick<Cluster, 'dir'>,
): Promise<void> {
  process.kill(pid, 'SIGINT');
  for (
    const untilMs = systemClock.monotonicMs() + stopTimeoutMs;
    !hasEnded(pid) && systemClock.monotonicMs() < untilMs;
  )
    await systemClock.sleep(10);
  if (socketDir !== dir) fs.rmSync(socketDir, { recursive: true, force: true });
}
