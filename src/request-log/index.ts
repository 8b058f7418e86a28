export { findBodies } from './bodies.ts';
export { createRequestLog, pruneRequestLog, type RequestLog } from './log.ts';
export {
  findCreatingRequest,
  findRequest,
  type LoggedRequest,
  parseStatus,
  type RequestFilter,
  searchRequests,
} from './search.ts';
