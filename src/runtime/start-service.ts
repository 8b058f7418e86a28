import type { startService as Start } from './service.ts';

/** Loads the web server and its packages only in a process that runs the service. */
export const startService: typeof Start = async (...args) =>
  (await import('./service.ts')).startService(...args);
