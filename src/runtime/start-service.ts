import type { startService as Start } from './service.ts';

/** Loads the web server and everything behind it only in a process that serves. */
export const startService: typeof Start = async (...args) =>
  (await import('./service.ts')).startService(...args);
