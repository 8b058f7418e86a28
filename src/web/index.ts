export { createApp } from './app.ts';
export { readCookie, setCookie } from './cookies.ts';
export { isCsrfToken, isFromOurPage } from './csrf.ts';
export {
  deliveryFields,
  deliveryState,
  eventCursor,
  failedCount,
  readDeliveryFilter,
  readEventCursor,
  resendBatch,
  resentBatch,
} from './delivery-filter.ts';
export {
  Day,
  Instant,
  idOr,
  Mode,
  oneOf,
  pageOf,
  paymentFilters,
  Rubles,
  readAddresses,
  readEndpoint,
  readFields,
  readNumber,
  readPaymentFilters,
  SearchText,
  StatementFormat,
  Text,
  Usdt,
} from './fields.ts';
export {
  badAddress,
  Download,
  done,
  paging,
  Refused,
  refuse,
  sendRefusal,
  throttled,
  unsearchable,
} from './replies.ts';
export { readRequestFilter, requestLogQuery } from './request-log.ts';
export { type Answer, type AnswerOf, type Route, routesOf } from './routes.ts';
export {
  checkResult,
  deliveryDetail,
  deliveryRow,
  endpointRow,
  loggedRequestRow,
  paymentFacts,
  paymentRow,
  sessionRow,
  sessionTimes,
  statementOf,
  writePayments,
} from './rows.ts';
export { deliveryItems, inOrderOfTime, type TimelineItem, timelineItem } from './timeline.ts';
