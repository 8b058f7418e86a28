import { listLiveProcesses } from '../db/live-processes.ts';
import type { Pool } from '../db/pool.ts';

/** Not those that beat some seconds ago: they may have ended, and would be waited for. */
export const listConnected = async (pool: Pool) =>
  (await listLiveProcesses(pool)).filter(({ isConnected }) => isConnected).map(({ instance }) => instance);
