import type { Permission } from '../operators/index.ts';
import { routesOf } from '../web/index.ts';
import type { ConsoleDeps } from './deps.ts';

/** A route of the console, with the permission that it needs; `nothing` for those that work before signing in. */
export const { get, post } = routesOf<ConsoleDeps, Permission | 'nothing'>((url, needs) => ({
  url,
  config: { needs },
}));
