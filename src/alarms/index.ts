export { type Alarms, clearedByService, createAlarms } from './alarms.ts';
export {
  type AlarmObject,
  alarmGauges,
  alarmObject,
  clearAlarm,
  clearAlarmsOf,
  listAlarms,
  listOpenSubjects,
  parseAlarmId,
  pruneAlarms,
  takeNewAlarms,
} from './stored-alarms.ts';
