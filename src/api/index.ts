export type { ApiDeps } from './deps.ts';
export { createAdmission } from './http/admission-control.ts';
export { smallBody } from './http/body.ts';
export { listen } from './http/listen.ts';
export { type Encoding, type StaticFile, sendStaticFile, staticMethods } from './http/static-file.ts';
export { createAnswersUnderWay } from './http/under-way.ts';
export { createServer } from './server.ts';
