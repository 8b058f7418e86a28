import { loadSettings } from '../db/secrets/index.ts';
import { backupStore } from './backup-store.ts';
import { openStep } from './drill-open.ts';
import type { Output } from './output.ts';
import { backupStep, rehearse, restoreSteps } from './rehearsal.ts';
import { command, progressOn, type Terminal, withTerminal } from './terminal.ts';

export const drillCommand = (terminal: Terminal) =>
  command('drill', 'back up, restore, verify and open in a temporary folder, and time each step')
    .option('--from <dir>', 'use the newest backup in this folder or bucket instead of creating one')
    .action(withTerminal(terminal)(drill));

async function drill(terminal: Terminal, { from }: { from?: string }): Promise<Output> {
  const settings = loadSettings(terminal.env);
  return rehearse([...(from === undefined ? [backupStep] : []), ...restoreSteps, openStep], {
    settings,
    from: from === undefined ? undefined : backupStore(from, settings, '--from'),
    backupId: undefined,
    progress: progressOn(terminal),
  });
}
