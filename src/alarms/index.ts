export { type Alarms, clearAlarm, countOpenAlarms, createAlarms, listAlarms } from './alarms.ts';
