export { type Alarms, createAlarms } from './alarms.ts';
export {
  type AlarmObject,
  alarmObject,
  clearAlarm,
  clearAlarmsOf,
  countOpenAlarms,
  listAlarms,
  parseAlarmId,
  takeNewAlarms,
} from './stored-alarms.ts';
