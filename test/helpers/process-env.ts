import { join } from 'node:path';

/** The environment of every process that a test starts. The compile cache saves most of the start-up time. */
export const processEnv = {
  PATH: process.env.PATH!,
  NODE_COMPILE_CACHE: join(import.meta.dirname, '..', '..', 'node_modules', '.cache', 'compiled'),
};
