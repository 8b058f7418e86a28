export { createAdmission } from './admission.ts';
export type { ApiDeps } from './deps.ts';
export { createServer, listen } from './server.ts';
