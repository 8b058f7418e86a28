/**
 * A simulator of the payment gateway and of a rate feed: a separate program that shares only the wire contract with
 * Kopeck. Its state survives kill -9, and it simulates failures on request. Its page is at /.
 */
import { resolve } from 'node:path';
import { ratePattern } from './control.ts';
import { startSimulator } from './start.ts';

function exitWith(why: string): never {
  console.error(why);
  process.exit(1);
}

function readSettings(environment: NodeJS.ProcessEnv) {
  const read = (name: string) => environment[name]?.trim() || undefined;
  const port = read('SIMULATOR_PORT') ?? '0';
  if (!/^\d{1,5}$/.test(port) || Number(port) > 65535)
    exitWith(`SIMULATOR_PORT must be a port, not "${port}".`);
  const rate = read('SIMULATOR_RATE') ?? '92.50';
  if (!ratePattern.test(rate)) exitWith(`SIMULATOR_RATE must be a decimal like 92.50, not "${rate}".`);
  return {
    port: Number(port),
    host: read('SIMULATOR_HOST') ?? '127.0.0.1',
    dir: resolve(read('SIMULATOR_DIR') ?? './data/simulator'),
    token: read('GATEWAY_TOKEN'),
    rate,
    followStdin: read('SIMULATOR_FOLLOW_STDIN') === '1',
  };
}

// Nothing to clean up: everything that was answered is on disk.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => process.exit(0));
const settings = readSettings(process.env);
if (settings.followStdin) {
  // The parent process has ended, perhaps by kill -9.
  for (const event of ['close', 'end', 'error']) process.stdin.on(event, () => process.exit(0));
  process.stdin.resume();
}
const { address } = await startSimulator(settings, exitWith);
process.stdout.write(`simulator ready at ${address}\n`);
