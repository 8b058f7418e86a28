export { createCallLog, listCalls, type PastCall, pruneCalls } from './call-log.ts';
export type { Gateway, ListedOrder, Order, OrderPage, Requester, Unknown } from './gateway.ts';
export { createHttpGateway } from './http-gateway.ts';
