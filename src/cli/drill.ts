import { resolve } from 'node:path';
import type { Command } from 'commander';
import { readSettings } from '../base/settings.ts';
import { backupStep, rehearse, restoreSteps } from './rehearsal.ts';
import { command, printOutput, type Terminal } from './terminal.ts';

export function drillCommand(terminal: Terminal): Command {
  return command('drill', 'back up, restore and verify in a scratch folder, and measure each step')
    .option('--from <dir>', 'restore the newest backup of this folder instead of making one')
    .action(async ({ json, from }) =>
      printOutput(
        terminal,
        json,
        await rehearse(from === undefined ? [backupStep, ...restoreSteps] : restoreSteps, {
          settings: readSettings(terminal.env),
          from: from && resolve(from),
          backupId: undefined,
          progress: line => void terminal.stderr.write(`${line}\n`),
        }),
      ),
    );
}
