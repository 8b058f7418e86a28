export { type Alarm, type Alarms, clearAlarm, countOpenAlarms, createAlarms, listAlarms } from './alarms.ts';
