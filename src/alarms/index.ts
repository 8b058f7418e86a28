export { type Alarms, createAlarms } from './alarms.ts';
export {
  type AlarmObject,
  alarmObject,
  clearAlarm,
  countOpenAlarms,
  endAlarms,
  listAlarms,
  parseAlarmId,
  takeNewAlarms,
} from './stored-alarms.ts';
