export { createSingleProcess } from './cluster-channel.ts';
export { hasForeignOrders } from './gateway-mismatch.ts';
export { type Cleanup, shutDown } from './graceful-shutdown.ts';
export { runService } from './main.ts';
export { type BankSide, startSimulator, withBank } from './simulator.ts';
export { startService } from './start-service.ts';
