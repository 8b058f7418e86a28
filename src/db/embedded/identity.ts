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

/**
 * The identity alone is not enough: the checkout or the data may be below a folder that only root may enter. So the
 * server keeps one of root's capabilities: to pass folders and read files whatever their modes are (containers without
 * it have a wider one). The secure bit makes access(2) respect it too, with which initdb looks for its programs.
 */
export function commandAs(runAs: Identity | undefined, command: string, args: string[]): [string, string[]] {
  if (!runAs) return [command, args];
  const capability = rootMay(dacReadSearch) ? '+dac_read_search' : '+dac_override';
  const drop = [`--reuid=${runAs.uid}`, `--regid=${runAs.gid}`, '--clear-groups'];
  const keep = [`--inh-caps=${capability}`, `--ambient-caps=${capability}`, '--securebits=+no_setuid_fixup'];
  return ['setpriv', [...drop, ...keep, '--', command, ...args]];
}

const dacReadSearch = 2n;

function rootMay(capability: bigint): boolean {
  const held = /^CapEff:\s*([0-9a-f]+)$/m.exec(fs.readFileSync('/proc/self/status', 'utf8'))?.[1] ?? '0';
  return ((BigInt(`0x${held}`) >> capability) & 1n) === 1n;
}
