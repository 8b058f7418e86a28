import { join } from 'node:path';

/** What every process that a test starts has around it. Of a short one, most of its time would go into reading code. */
export const ofProcesses = {
  PATH: process.env.PATH!,
  NODE_COMPILE_CACHE: join(import.meta.dirname, '..', '..', 'node_modules', '.cache', 'compiled'),
};
