export { createServer, listen } from './server.ts';
