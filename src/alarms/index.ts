export {
  type Alarms,
  clearAlarm,
  countOpenAlarms,
  createAlarms,
  endAlarms,
  type KnownAlarm,
  listAlarms,
} from './alarms.ts';
