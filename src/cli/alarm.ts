import { Command } from 'commander';
import { alarmObject, clearAlarm, listAlarms } from '../alarms/index.ts';
import { programName } from '../base/program-name.ts';
import { positiveCount } from './arguments.ts';
import { command, type WithDatabase } from './command.ts';
import { formatInstant, table } from './output.ts';
import { RefusedError } from './refused.ts';

export function alarmCommands(withDatabase: WithDatabase): Command {
  return new Command('alarm')
    .description('list and clear alarms')
    .addCommand(
      command('list', 'list open alarms, newest first')
        .option('--all', 'include cleared alarms')
        .action(({ json, all = false }) =>
          withDatabase(json, async ({ audit }) => {
            const alarms = await listAlarms(audit.pool, { cleared: all });
            return {
              json: {
                alarms: alarms.map(alarmObject),
              },
              text: table(
                ['alarm', 'kind', 'subject', 'last (UTC)', 'count', 'cleared (UTC)', 'detail'],
                alarms.map(alarm => [
                  `${alarm.alarmId}`,
                  alarm.kind,
                  alarm.subject,
                  formatInstant(alarm.lastAt),
                  `${alarm.times}`,
                  alarm.clearedAt ? formatInstant(alarm.clearedAt) : 'no',
                  alarm.detail,
                ]),
              ),
            };
          }),
        ),
    )
    .addCommand(
      command('clear', 'clear an alarm')
        .argument('<alarm>', 'alarm number from the list', positiveCount)
        .action((alarm, { json }) =>
          withDatabase(json, async ({ audit }) => {
            if ((await clearAlarm(audit, alarm)) === 'no_alarm') {
              throw new RefusedError(
                'no_alarm',
                `There is no open alarm ${alarm}: see ${programName} alarm list.`,
              );
            }
            return { json: { alarm_id: alarm, cleared: true }, text: `Alarm ${alarm} is cleared.` };
          }),
        ),
    );
}
