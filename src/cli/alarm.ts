import { alarmObject, clearAlarm, listAlarms } from '../alarms/index.ts';
import { programName } from '../base/program-name.ts';
import { positiveCount } from './arguments.ts';
import { type Context, type DatabaseCommand, group } from './command.ts';
import { listing, refuse } from './output.ts';

export const alarmCommands = (command: DatabaseCommand) =>
  group('alarm', 'list and clear alarms', [
    command('list', 'list open alarms, newest first', list).option('--all', 'include cleared alarms'),
    command('clear', 'clear an alarm', clear).argument(
      '<alarm>',
      'alarm number from the list',
      positiveCount,
    ),
  ]);

async function list({ audit }: Context, { all = false }: { all?: boolean }) {
  const alarms = (await listAlarms(audit.pool, { cleared: all })).map(alarmObject);
  return listing({ alarms }, 'alarms', {
    alarm: 'alarm_id',
    kind: 'kind',
    subject: 'subject',
    'last (UTC)': 'last_at',
    count: 'times',
    'cleared (UTC)': ({ cleared_at }) => (cleared_at ? new Date(cleared_at) : 'no'),
    detail: 'detail',
  });
}

async function clear({ audit }: Context, alarm: number) {
  if ((await clearAlarm(audit, alarm)) === 'no_alarm')
    refuse('no_alarm', `There is no open alarm ${alarm}: see ${programName} alarm list.`);
  return { json: { alarm_id: alarm, cleared: true }, text: `Alarm ${alarm} is cleared.` };
}
