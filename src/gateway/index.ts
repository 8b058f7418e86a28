export type { Gateway, ListedOrder, Order } from './gateway.ts';
export { createHttpGateway } from './http-gateway.ts';
