export type { Gateway, Order, OrderAnswer, PayRefusal, Resolution, ResolvedQr, Unknown } from './gateway.ts';
export { createHttpGateway } from './http-gateway.ts';
