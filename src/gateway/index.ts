export type { GatewayCall } from './call.ts';
export { createCallLog, listCalls, type PastCall, pruneCalls } from './call-log.ts';
export { checkGateway, type GatewayCheck } from './check/check.ts';
export type {
  Gateway,
  ListedOrder,
  ListedRefund,
  OperationNumber,
  Order,
  OrderAnswer,
  OrderPage,
  Requester,
  Resolution,
  Unknown,
} from './gateway.ts';
export { createHttpGateway } from './http-gateway.ts';
export { createGatewayMetrics } from './metrics.ts';
