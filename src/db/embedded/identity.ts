import { spawnSync } from 'node:child_process';
import * as fs from 'node:fs';
import { OperatorError } from '../../base/operator-error.ts';

/** The user that the embedded server runs as, if it is not the current one. */
export interface Identity {
  uid: number;
  gid: number;
}

/**
 * PostgreSQL refuses to run as root. Root runs it as the owner of the existing files, or as `nobody`; any other user as
 * itself.
 */
export function identityFor(dir: string, existing: fs.Stats | undefined): Identity | undefined {
  const self = process.getuid!();
  if (self === 0) return existing?.uid ? existing : nobody();
  if (existing && existing.uid !== self) {
    throw new OperatorError(
      `${dir} belongs to another user (id ${existing.uid}): start as that user or as root, or set DATA_DIR to a folder of your own.`,
    );
  }
  return undefined;
}

function nobody(): Identity {
  const fields = /^nobody:[^:]*:(\d+):(\d+):/m.exec(fs.readFileSync('/etc/passwd', 'utf8'));
  if (!fields)
    throw new OperatorError(
      'PostgreSQL does not run as root and there is no user "nobody": set DATABASE_URL.',
    );
  return { uid: Number(fields[1]), gid: Number(fields[2]) };
}

export interface Command {
  command: string;
  args: string[];
  /** The identity, where no other program gives it up. */
  owner: Partial<Identity>;
}

/**
 * A program of PostgreSQL that writes to these folders, with nothing of root's: no capabilities, not even to regain one, and no
 * groups. Where that identity cannot reach the program or a folder, it keeps one capability: see `commandAs`.
 */
export function serverCommand(
  runAs: Identity | undefined,
  command: string,
  args: string[],
  folders: string[] | 'any',
): Command {
  if (!runAs) return { command, args, owner: {} };
  const [setpriv, alone] = withCapabilities(runAs, undefined, command, args);
  const [kept, withOne] = commandAs(runAs, command, args);
  if (folders === 'any') return { command: kept, args: withOne, owner: {} };
  const tried = spawnSync(
    ...withCapabilities(runAs, undefined, 'sh', ['-c', reach, 'sh', command, ...ownFiles, ...folders]),
  );
  // Node gives up user and groups itself, and the kernel takes the capabilities away; only the bounding set stays.
  if ((tried.error as NodeJS.ErrnoException | undefined)?.code === 'ENOENT')
    return { command, args, owner: { uid: runAs.uid, gid: runAs.gid } };
  if (tried.status === 0) return { command: setpriv, args: alone, owner: {} };
  return { command: kept, args: withOne, owner: {} };
}

/** The program, what `archive_command` runs, and the folders. */
const reach =
  '"$1" --version && test -x "$2" && test -r "$3" && shift 3 && for at; do cd "$at" && test -w . || exit 1; done';
const ownFiles = [process.execPath, import.meta.filename];

/**
 * The checkout or the data may be below a folder that only root may enter. Then the server keeps one of root's capabilities:
 * to pass folders and read files whatever their modes are (containers without it have a wider one). The secure bit makes
 * access(2) respect it too, with which initdb looks for its programs.
 */
export const commandAs = (
  runAs: Identity | undefined,
  command: string,
  args: string[],
): [string, string[]] =>
  runAs
    ? withCapabilities(runAs, rootMay(dacReadSearch) ? 'dac_read_search' : 'dac_override', command, args)
    : [command, args];

function withCapabilities(
  { uid, gid }: Identity,
  kept: string | undefined,
  command: string,
  args: string[],
): [string, string[]] {
  const set = kept === undefined ? '-all' : `-all,+${kept}`;
  return [
    'setpriv',
    [
      ...[`--reuid=${uid}`, `--regid=${gid}`, '--clear-groups', '--no-new-privs'],
      ...[`--inh-caps=${set}`, `--ambient-caps=${set}`],
      ...(rootMay(setPcap) ? [`--bounding-set=${set}`] : []),
      ...(kept === undefined ? [] : ['--securebits=+no_setuid_fixup']),
      ...['--', command, ...args],
    ],
  ];
}

const dacReadSearch = 2n;
/** Without it the bounding set cannot be changed. */
const setPcap = 8n;

function rootMay(capability: bigint): boolean {
  if (process.platform !== 'linux') return false;
  const held = /^CapEff:\s*([0-9a-f]+)$/m.exec(fs.readFileSync('/proc/self/status', 'utf8'))?.[1] ?? '0';
  return ((BigInt(`0x${held}`) >> capability) & 1n) === 1n;
}

/** Root's own DATA_DIR: the server may pass it, and nobody but root may list it. All files in it are private. */
export function letPass(dataDir: string, runAs: Identity | undefined): void {
  if (!runAs) return;
  const { uid, mode } = fs.statSync(dataDir);
  if (uid !== 0 || (mode & 0o011) !== 0) return;
  fs.chownSync(dataDir, uid, runAs.gid);
  fs.chmodSync(dataDir, (mode & 0o700) | 0o010);
}
