export { type Alarms, clearAlarm, countOpenAlarms, createAlarms, endAlarms, listAlarms } from './alarms.ts';
