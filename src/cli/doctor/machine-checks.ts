import * as fs from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { describeProxyProblem } from '../../base/proxy-trust.ts';
import type { Settings } from '../../base/settings.ts';
import { examineCertificate } from './certificate.ts';
import { bad, type Finding, ok, warn } from './finding.ts';

type MachineCheck = (settings: Settings) => Promise<Finding>;

const gib = 1_073_741_824;

/** What can be seen without the database. */
export const machineChecks: Record<string, MachineCheck> = {
  'data folder': async ({ dataDir }) => {
    const folder = existing(resolve(dataDir));
    try {
      // Also root may not write on a read-only disk, though its permissions would allow it.
      fs.rmdirSync(fs.mkdtempSync(join(folder, '.doctor-')));
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      if (code === 'ENOSPC') return bad(`the disk of ${folder} is full: free some space`);
      const fix = code === 'EROFS' ? 'mount its disk for writing' : 'make the user of the service its owner';
      return bad(`${folder} cannot be written to (${code}): ${fix}, or set DATA_DIR to another folder`);
    }
    const key = join(folder, 'secret.key');
    if (fs.existsSync(key) && (fs.statSync(key).mode & 0o077) !== 0)
      return warn(`${key} can be read by other users: run chmod 600 ${key}`);
    const { bavail, bsize } = fs.statfsSync(folder);
    const free = `${((bavail * bsize) / gib).toFixed(1)} GiB are free in ${folder}`;
    if (bavail * bsize < gib / 10) return bad(`${free}: free some space`);
    return bavail * bsize < gib ? warn(`${free}: free some space`) : ok(free);
  },
  proxy: async settings => {
    const problem = describeProxyProblem(settings);
    if (problem) return warn(problem);
    return ok(settings.trustProxy.length > 0 ? `${settings.trustProxy.join(', ')} trusted` : 'none');
  },
  certificate: async ({ publicUrl }) =>
    publicUrl?.startsWith('https:') ? examineCertificate(publicUrl) : ok('PUBLIC_URL has none'),
};

/** The folder, or the nearest one above it that exists: the first start creates the rest. */
const existing = (folder: string): string => (fs.existsSync(folder) ? folder : existing(dirname(folder)));
