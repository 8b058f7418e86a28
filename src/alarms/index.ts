export { type Alarms, createAlarms } from './alarms.ts';
export {
  type AlarmObject,
  alarmObject,
  clearAlarm,
  clearAlarmsOf,
  countOpenAlarms,
  listAlarms,
  parseAlarmId,
  pruneAlarms,
  takeNewAlarms,
} from './stored-alarms.ts';
