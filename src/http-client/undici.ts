import { loadOnUse } from '../base/load-on-use.ts';

export const undici = loadOnUse<typeof import('undici')>('undici');
