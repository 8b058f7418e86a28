import type { Settings } from '../../base/settings.ts';
import type { Database } from '../../db/index.ts';

/** `warn`: it works, and somebody should look at it. `bad`: payments are refused or in danger. */
type State = 'ok' | 'warn' | 'bad';

/** One line of what was found and, if it is not ok, what to do. */
export interface Finding {
  state: State;
  detail: string;
}

export type Check = (settings: Settings, database: Database) => Promise<Finding>;

export const ok = (detail: string): Finding => ({ state: 'ok', detail });
export const warn = (detail: string): Finding => ({ state: 'warn', detail });
export const bad = (detail: string): Finding => ({ state: 'bad', detail });
