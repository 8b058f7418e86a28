import { createServer, listen } from './api/index.ts';
import { readSettings } from './base/settings.ts';
import { openDatabase } from './db/database.ts';
import { openSecretKey } from './db/secret-key.ts';

/** Wires the service together, runs it until it is told to stop, and takes it down in the opposite order. */
export async function runService(say: (line: string) => void): Promise<void> {
  const stopped = firstSignal();
  const settings = readSettings(process.env);
  const database = await openDatabase(settings, say);
  try {
    await openSecretKey(settings, database.pool);
    const server = createServer(settings, database.pool);
    try {
      const address = await listen(server, settings);
      say(`Kopeck is ready at ${address} (health page: ${address}/healthz).`);
      say(`Its database is ${database.description}.`);
      say('Next: npx kopeck partner create --name "My shop"');
      say(`Stopping on ${await stopped} …`);
    } finally {
      await server.close();
    }
  } finally {
    await database.close();
  }
}

function firstSignal(): Promise<NodeJS.Signals> {
  return new Promise(resolve => {
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, resolve);
  });
}
