/** `npm run bench -- NAME [--json]`: measurements, each against a baseline of the same run. */
import { parseArgs } from 'node:util';
import { benchApi } from './api.ts';
import { benchLedger } from './ledger.ts';
import { benchWebhooks } from './webhooks.ts';

const benches: Record<
  string,
  (progress: (line: string) => void) => Promise<{ json: unknown; text: string }>
> = {
  ledger: benchLedger,
  api: benchApi,
  webhooks: benchWebhooks,
};

const { positionals, values } = parseArgs({ allowPositionals: true, options: { json: { type: 'boolean' } } });
const names = positionals.length > 0 ? positionals : Object.keys(benches);
for (const name of names) {
  const bench = benches[name];
  if (!bench) {
    console.error(`There is no bench "${name}": choose from ${Object.keys(benches).join(', ')}.`);
    process.exit(2);
  }
  const { json, text } = await bench(line => process.stderr.write(`${line}\n`));
  console.log(values.json ? JSON.stringify(json, null, 2) : text);
}
