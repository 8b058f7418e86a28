export { createAgent } from './agent.ts';
export { callHttp, createFetch, type HttpCall } from './call-http.ts';
export {
  AnswerTooLongError,
  CallTimeoutError,
  type HttpAnswer,
  headerOf,
  readAnswer,
} from './read-answer.ts';
export { undici } from './undici.ts';
