export type { Gateway } from './gateway.ts';
export { createHttpGateway } from './http-gateway.ts';
