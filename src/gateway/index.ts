export type { Gateway, Order } from './gateway.ts';
export { createHttpGateway } from './http-gateway.ts';
