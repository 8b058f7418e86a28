import { type Command, InvalidArgumentError, Option } from 'commander';
import { Kopeck, KopeckError, type KopeckOptions } from '../../sdk/src/index.ts';
import { command } from './command.ts';
import { RefusedError } from './refused.ts';

/** Which service is asked, and as whom. */
export interface Remote {
  key: string;
  url: string;
}

/** A command that asks a service over HTTP with a partner's key, as the partner's own program does: no database. */
export const remoteCommand = (usage: string, description: string): Command =>
  command(usage, description)
    .addOption(
      new Option('--key <key>', "the partner's API key")
        .env('KOPECK_KEY')
        .makeOptionMandatory()
        .argParser(apiKey),
    )
    .addOption(
      new Option('--url <url>', 'where the service is')
        .env('KOPECK_URL')
        .default('http://127.0.0.1:8080')
        .argParser(httpUrl),
    );

/** Never repeats what was typed: it is a secret, even with a mistake in it. */
function apiKey(text: string): string {
  if (/^svc_(test|live)_[\x21-\x7e]+$/.test(text)) return text;
  throw new RefusedError('bad_key', 'That is no API key: keys look like svc_test_…');
}

export function httpUrl(text: string): string {
  if (URL.canParse(text) && /^https?:$/.test(new URL(text).protocol)) return text;
  throw new InvalidArgumentError('It must be an address such as http://127.0.0.1:8080.');
}

export const connect = ({ key, url }: Remote, options: Partial<KopeckOptions> = {}) =>
  new Kopeck({ apiKey: key, baseUrl: url, ...options });

/** What the service refuses, or that it is not there, in one line. */
export async function asked<Result>({ url }: Remote, work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof KopeckError)) throw error;
    const isAway = error.code === 'connection_failed' || error.code === 'timeout';
    const requestId = error.requestId ? ` (${error.requestId})` : '';
    throw new RefusedError(
      error.code,
      isAway
        ? `There is no answer from ${url}: does the service run there? If not, kopeck start; if elsewhere, say --url.`
        : `${error.message}${requestId}`,
    );
  }
}
