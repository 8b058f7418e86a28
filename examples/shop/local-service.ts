import { execFile } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { AuthenticationError, Kopeck } from '../../sdk/src/index.ts';

/** What you would get from the bot: made here with the command line of the service, in its own folder. */
const program = join(import.meta.dirname, '..', '..', 'src', 'cli', 'main.ts');

async function kopeckCli<Answer>(...args: string[]): Promise<Answer> {
  const { stdout } = await promisify(execFile)(process.execPath, [program, ...args, '--json']);
  return JSON.parse(stdout) as Answer;
}

export interface Access {
  partnerId: string;
  key: string;
}

const partnerName = 'Example shop';

/** The key that was made the last time, if it is still good; otherwise a new one. */
export async function findTestKey(path: string, baseUrl: string): Promise<Access> {
  const kept: Access = await readFile(path, 'utf8').then(JSON.parse, () => ({ partnerId: '', key: 'none' }));
  // Asked even without one: if the service is away, that is to be said before anything is made.
  if (await isGood(kept.key, baseUrl)) return kept;
  type Partner = { partner_id: string; name: string };
  const { partners } = await kopeckCli<{ partners: Partner[] }>('partner', 'list');
  const partner =
    partners.find(({ name }) => name === partnerName) ??
    (await kopeckCli<Partner>('partner', 'create', '--name', partnerName));
  const partnerId = partner.partner_id;
  const { key } = await kopeckCli<{ key: string }>('key', 'create', partnerId, '--mode', 'test');
  await writeFile(path, JSON.stringify({ partnerId, key }), { mode: 0o600 });
  return { partnerId, key };
}

async function isGood(key: string, baseUrl: string): Promise<boolean> {
  try {
    await new Kopeck({ apiKey: key, baseUrl, maxRetries: 0 }).ping();
    return true;
  } catch (error) {
    if (error instanceof AuthenticationError) return false;
    throw error;
  }
}

/** Tells the service where the shop listens; the answer is the secret that signs. */
export async function setWebhook(partnerId: string, url: string): Promise<string> {
  const { secret } = await kopeckCli<{ secret: string }>('webhook', 'set', partnerId, '--url', url);
  return secret;
}

/** Asks the receiver as the service would. Sending goes on after it, if it had been suspended while the shop was closed. */
export async function checkWebhook(partnerId: string): Promise<void> {
  await kopeckCli('webhook', 'check', partnerId);
}
