/**
 * `npm run bench [-- NAME …]`: measurements, each compared with a figure of the same run. Without a name it measures the whole
 * service; names choose sections of that, or a bench of one module.
 */
import { readOptions } from '../test/helpers/program-options.ts';
import { benchApi } from './api.ts';
import { benchDeposits } from './deposits.ts';
import { benchHistory } from './history.ts';
import { benchLedger } from './ledger.ts';
import { benchService, onRequest, report, sections } from './service/bench.ts';
import { benchWebhooks } from './webhooks.ts';

type Part = (
  progress: (line: string) => void,
  options: { big: boolean },
) => Promise<{ json: unknown; text: string }>;

const parts: Record<string, Part> = {
  ledger: benchLedger,
  api: benchApi,
  webhooks: benchWebhooks,
  deposits: benchDeposits,
  history: benchHistory,
};

const { positionals: names, values } = readOptions('npm run bench [-- NAME …] [--json]', {
  allowPositionals: true,
  options: {
    json: { type: 'boolean', default: false },
    write: { type: 'boolean', default: false },
    big: { type: 'boolean', default: false },
    soak: { type: 'boolean', default: false },
    runs: { type: 'string', default: '1' },
    seconds: { type: 'string', default: '6' },
    minutes: { type: 'string', default: '10' },
  },
});

function stopWith(message: string): never {
  console.error(message);
  process.exit(2);
}

function positive(name: 'runs' | 'seconds' | 'minutes'): number {
  const value = Number(values[name]);
  return Number.isInteger(value) && value > 0 ? value : stopWith(`--${name} must be a whole number above 0.`);
}

const progress = (line: string) => void process.stderr.write(`${line}\n`);
const print = ({ json, text }: { json: unknown; text: string }) =>
  console.log(values.json ? JSON.stringify(json, null, 2) : text);

const known = [...Object.keys(sections), ...Object.keys(parts)];
const unknown = names.find(name => !known.includes(name));
if (unknown) stopWith(`There is no bench "${unknown}": choose from ${known.join(', ')}.`);
const isWhole = names.length === 0;
if (values.write && !isWhole) stopWith('--write is for the whole bench: leave out the names.');

for (const name of names) if (parts[name]) print(await parts[name](progress, values));

const byDefault = Object.keys(sections).filter(
  name => !onRequest.includes(name) || (name === 'soak' && values.soak),
);
const chosen = isWhole ? byDefault : names.filter(name => name in sections);
if (chosen.length > 0) {
  const [runs, seconds, minutes] = [positive('runs'), positive('seconds'), positive('minutes')];
  const options = { runs, seconds, minutes, big: values.big };
  print(report(await benchService(chosen, options, progress), { isWhole, write: values.write }));
}
