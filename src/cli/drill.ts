import type { Command } from 'commander';
import { loadSettings } from '../db/secrets/index.ts';
import { backupStore } from './backup-store.ts';
import { openStep } from './drill-open.ts';
import { backupStep, rehearse, restoreSteps } from './rehearsal.ts';
import { command, printOutput, type Terminal } from './terminal.ts';

export function drillCommand(terminal: Terminal): Command {
  return command('drill', 'back up, restore, verify and open in a temporary folder, and time each step')
    .option('--from <dir>', 'use the newest backup in this folder or bucket instead of creating one')
    .action(async ({ json, from }) => {
      const settings = loadSettings(terminal.env);
      printOutput(
        terminal,
        json,
        await rehearse([...(from === undefined ? [backupStep] : []), ...restoreSteps, openStep], {
          settings,
          from: from && backupStore(from, settings, '--from'),
          backupId: undefined,
          progress: line => void terminal.stderr.write(`${line}\n`),
        }),
      );
    });
}
