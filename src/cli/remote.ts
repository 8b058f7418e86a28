import { type Command, InvalidArgumentError, Option } from 'commander';
import { Kopeck, KopeckError, type KopeckOptions } from '../../sdk/src/index.ts';
import { systemClock } from '../base/clock.ts';
import { createFetch } from '../http-client/index.ts';
import { refuse } from './output.ts';

/** The service to call, and the API key to use. */
export interface Remote {
  key: string;
  url: string;
}

/** The command calls a service over HTTP with a partner's key, like the partner's own program; without a database. */
export const callsService = (command: Command): Command =>
  command
    .addOption(
      // Other users of the machine see the arguments of a process, but not its environment.
      new Option('--key <key>', "the partner's API key; prefer the environment variable")
        .env('KOPECK_KEY')
        .makeOptionMandatory()
        .argParser(apiKey),
    )
    .addOption(
      new Option('--url <url>', 'URL of the service')
        .env('KOPECK_URL')
        .default('http://127.0.0.1:8080')
        .argParser(httpUrl),
    );

/** The secret of a webhook; other users must not see it either. */
export const webhookSecret = (description: string) =>
  new Option('--secret <secret>', description).env('KOPECK_WEBHOOK_SECRET').argParser((text: string) => {
    if (/^[\x21-\x7e]{8,}$/.test(text)) return text;
    return refuse('bad_secret', 'This is not a webhook secret: secrets look like whsec_…');
  });

/** Never repeats the argument: it is a secret, even when mistyped. */
function apiKey(text: string): string {
  if (/^svc_(test|live)_[\x21-\x7e]+$/.test(text)) return text;
  refuse('bad_key', 'This is not an API key: keys look like svc_test_…');
}

export function httpUrl(text: string): string {
  if (URL.canParse(text) && /^https?:$/.test(new URL(text).protocol)) return text;
  throw new InvalidArgumentError('It must be a URL such as http://127.0.0.1:8080.');
}

/** For the client library, which has a shorter time limit of its own. A page of events has up to 2 MB. */
export const callService = createFetch({
  clock: systemClock,
  timeoutMs: 100_000,
  maxBytes: 16 * 1024 * 1024,
});

export const connect = ({ key, url }: Remote, options: Partial<KopeckOptions> = {}) =>
  new Kopeck({ apiKey: key, baseUrl: url, fetch: callService, ...options });

/** Turns errors of the SDK into one line. */
export async function explainErrors<Result>({ url }: Remote, work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof KopeckError)) throw error;
    const isUnreachable = error.code === 'connection_failed' || error.code === 'timeout';
    const requestId = error.requestId ? ` (${error.requestId})` : '';
    refuse(
      error.code,
      isUnreachable
        ? `No response from ${url}: check that the service runs there, or set its URL with --url.`
        : `${error.message}${requestId}`,
    );
  }
}
