import { loadOnUse } from '../base/load-on-use.ts';

export const prometheus = loadOnUse<typeof import('prom-client')>('prom-client');
